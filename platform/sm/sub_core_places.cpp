// SPDX-License-Identifier: Apache-2.0
//
// Which instructions find a place in a sub-core: what issue asks in every cycle.
#include "execution_units.h"
#include "sub_core_path.h"

#include <algorithm>

namespace regatta::sm {

using protocol::Stall;
using protocol::Unit;

unsigned SubCorePath::queue_of(const DynamicInstruction& d) const {
  const bool constant = core_.config.constant_word != 0 && d.traits->info->op_class == trace::OpClass::constant_load &&
                        d.traits->read_count != 0;
  return constant ? constant_queue : static_cast<unsigned>(d.traits->unit);
}

unsigned SubCorePath::places(unsigned queue) const {
  return queue == index_of(Unit::lsu) ? core_.config.sub_core.memory_queue + 1 : core_.config.sub_core.unit_queue;
}

unsigned SubCorePath::closed(unsigned scheduler) const {
  const SubCore& c = sub_cores_[scheduler];
  constexpr unsigned all = (1u << protocol::unit_count) - 1;
  if (c.control != nullptr) return all;
  unsigned kinds = 0;
  for (const Unit unit : {Unit::sfu, Unit::dp, Unit::lsu}) {
    if (c.held[index_of(unit)] >= places(static_cast<unsigned>(unit))) kinds |= 1u << index_of(unit);
  }
  const auto is_free = [this](Cycle free) { return free <= core_.now; };
  if (results_[scheduler].full() || std::none_of(c.latches.begin(), c.latches.end(), is_free)) {
    kinds |= 1u << index_of(Unit::sp);
  } else if (execution_.has_kinds() && !std::all_of(c.latches.begin(), c.latches.end(), is_free)) {
    kinds |= some_pipelines;
  }
  return kinds;
}

bool SubCorePath::finds_pipeline(unsigned scheduler, const InstructionTraits& next) const {
  const std::vector<Cycle>& latches = sub_cores_[scheduler].latches;
  return latches[earliest(latches, execution_.pipelines_for(next))] <= core_.now;
}

std::uint64_t SubCorePath::pipelines_for(const DynamicInstruction& d) const {
  // A move that a gate injects has no static instruction of its own.
  return d.injected ? all_pipelines : execution_.pipelines_for(*d.traits);
}

unsigned SubCorePath::earliest(const std::vector<Cycle>& pipelines, std::uint64_t may) {
  const auto count = static_cast<unsigned>(pipelines.size());
  unsigned best = count;
  for (unsigned n = 0; n < count; ++n) {
    if (((may >> n) & 1) != 0 && (best == count || pipelines[n] < pipelines[best])) best = n;
  }
  return best;
}

Stall SubCorePath::reason(unsigned scheduler, Unit kind) const {
  const SubCore& c = sub_cores_[scheduler];
  if (c.control != nullptr) {
    if (core_.is_fixed(*c.control) || c.allocate != nullptr) return Stall::allocate;
    return protocol::structural_stall(c.control->traits->unit);
  }
  if (kind == Unit::sp && results_[scheduler].full()) return Stall::result_queue;
  return protocol::structural_stall(kind);
}

}  // namespace regatta::sm
