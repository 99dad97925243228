// SPDX-License-Identifier: Apache-2.0
#include <regatta/aging/move_inserter.h>
#include <regatta/support/energy.h>

namespace regatta::models::aging {

using protocol::DynamicInstruction;

bool MoveInserter::in_place(const DynamicInstruction& d) {
  for (unsigned i = 0; i < d.traits->write_count; ++i) {
    if (!rows_.compressed(rows_.row(d.warp, d.traits->writes[i]))) continue;
    injector_->move(d.warp, d.traits->writes[i]);
    return false;
  }
  return true;
}

void MoveInserter::issued(const DynamicInstruction& d) {
  if (d.injected) {
    ++inserted_;
    return;
  }
  if (!rows_.wakes_at_issue() || d.active == 0) return;
  for (unsigned i = 0; i < d.traits->write_count; ++i) rows_.wake_at_issue(rows_.row(d.warp, d.traits->writes[i]));
}

void MoveInserter::register_energy(support::EnergyGroup& g) {
  g.costs_nothing("a move is charged as the instruction that it is");
}

void MoveInserter::register_stats(support::StatGroup& g) {
  g.counter("moves", inserted_, "warp instructions", "inserted before divergent writes of compressed registers");
}

}  // namespace regatta::models::aging
