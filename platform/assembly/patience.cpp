// SPDX-License-Identifier: Apache-2.0
#include "patience.h"

#include <algorithm>

namespace regatta::assembly {

namespace {

void collect(const std::vector<sc_core::sc_object*>& objects, std::vector<const support::HoldsWork*>& holders) {
  for (const sc_core::sc_object* object : objects) {
    if (const auto* holder = dynamic_cast<const support::HoldsWork*>(object)) holders.push_back(holder);
    collect(object->get_child_objects(), holders);
  }
}

}  // namespace

Patience::Patience(const std::vector<std::unique_ptr<SmNode>>& nodes, const std::vector<sc_core::sc_object*>& modules)
    : nodes_(nodes), quiet_(nodes.size()) {
  collect(modules, holders_);
}

bool Patience::memory_serves(std::size_t sm) {
  const SmNode& node = *nodes_[sm];
  // What passes the L1 by is the load-store unit's or that of another client.
  if (!node.sm->uses_memory() && node.l1->idle() && node.arbiter == nullptr) return false;
  Quiet& quiet = quiet_[sm];
  if (quiet.steps != node.sm->steps()) quiet = Quiet{node.sm->steps(), node.l1->requests()};
  if (node.l1->requests() - quiet.requests > most_requests_) return false;
  return std::any_of(holders_.begin(), holders_.end(), [](const auto* holder) { return holder->work_is_due(); });
}

bool Patience::step_is_due() {
  bool due = false;
  for (std::size_t i = 0; i < nodes_.size(); ++i) due = nodes_[i]->sm->waits() || memory_serves(i) || due;
  return due;
}

}  // namespace regatta::assembly
