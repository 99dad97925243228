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

unsigned SubCorePath::full(unsigned scheduler) const {
  const SubCore& c = sub_cores_[scheduler];
  unsigned kinds = 0;
  for (const Unit unit : {Unit::sfu, Unit::dp, Unit::tensor, Unit::lsu}) {
    if (c.held[index_of(unit)] >= places(static_cast<unsigned>(unit))) kinds |= 1u << index_of(unit);
  }
  if (results_[scheduler].full()) kinds |= 1u << index_of(Unit::sp);
  return kinds;
}

unsigned SubCorePath::closed(unsigned scheduler) const {
  const SubCore& c = sub_cores_[scheduler];
  constexpr unsigned all = (1u << protocol::unit_count) - 1;
  if (is_behind_reuse_) {
    // What issues now comes later than what has entered in this cycle: only what cannot enter holds it back.
    if (c.arrived != 0 || (c.control != nullptr && place(*c.control).entered < core_.now)) return all;
    return full(scheduler);
  }
  if (c.control != nullptr) return all;
  unsigned kinds = full(scheduler);
  const auto is_free = [this](Cycle free) { return free <= core_.now; };
  if (std::none_of(c.latches.begin(), c.latches.end(), is_free)) {
    kinds |= 1u << index_of(Unit::sp);
  } else if (execution_.has_kinds() && !std::all_of(c.latches.begin(), c.latches.end(), is_free)) {
    kinds |= some_pipelines;
  }
  return kinds;
}

bool SubCorePath::takes(unsigned scheduler, Unit kind) const {
  const SubCore& c = sub_cores_[scheduler];
  if (c.control != nullptr || ((full(scheduler) >> index_of(kind)) & 1) != 0) return false;
  return kind != Unit::sp ||
         std::any_of(c.latches.begin(), c.latches.end(), [this](Cycle free) { return free <= core_.now; });
}

bool SubCorePath::finds_pipeline(unsigned scheduler, const InstructionTraits& next) const {
  const std::vector<Cycle>& latches = sub_cores_[scheduler].latches;
  return latches[earliest(latches, execution_.pipelines_for(next))] <= core_.now;
}

std::uint64_t SubCorePath::pipelines_for(const DynamicInstruction& d) const {
  // A move that a gate injects has no static instruction of its own.
  return d.injected ? all_pipelines : execution_.pipelines_for(*d.traits);
}

unsigned SubCorePath::earliest(const std::vector<Cycle>& pipelines, std::uint64_t may) const {
  const auto count = static_cast<unsigned>(pipelines.size());
  unsigned best = count;
  for (unsigned n = 0; n < count; ++n) {
    // Of several that are free the last: logic has the first alone, and sums and moves leave it to that.
    const auto free = [&](unsigned p) { return std::max(pipelines[p], core_.now); };
    if (((may >> n) & 1) != 0 && (best == count || free(n) <= free(best))) best = n;
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
