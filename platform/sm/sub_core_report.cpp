// SPDX-License-Identifier: Apache-2.0
//
// What a sub-core's stages hold, and why, for the report of a deadlock and for causes of waits; what they count.
#include "sub_core_path.h"

#include <algorithm>

namespace regatta::sm {

using protocol::Unit;

std::optional<Hold> SubCorePath::holds(const DynamicInstruction& d) const {
  if (places_.size() <= d.pool_index) return {};
  const Place& p = places_[d.pool_index];
  const std::string storage = "operand storage " + reads_of_.target();
  if (p.stage == Stage::none || p.stage == Stage::execution) return {};
  if (const tlm::tlm_generic_payload* held = channel_.held()) {
    const auto* access = held->get_extension<protocol::WarpAccess>();
    return Hold{storage + " has not accepted a read (no END_REQ), which holds the others back",
                "R" + std::to_string(access->reg.value()) + " of " + describe(core_, access->warp), channel_.since()};
  }
  const SubCore& c = sub_cores_[d.scheduler];
  switch (p.stage) {
    case Stage::control: {
      if (c.allocate != nullptr) {
        return Hold{"the allocate stage is occupied", "by " + describe(core_, *c.allocate), p.entered};
      }
      return Hold{"the queue behind the control stage is full", "", p.entered};
    }
    case Stage::allocate:
      return Hold{"read ports for its operands, or its pipeline", "", p.entered};
    default:
      break;
  }
  if (d.operands_pending != 0) return Hold{storage + " has not answered reads", "", p.entered};
  return Hold{"the turns in which instructions leave the queues of the sub-cores", "", p.entered};
}

std::vector<const DynamicInstruction*> SubCorePath::holders(unsigned scheduler, Unit kind) const {
  std::vector<const DynamicInstruction*> all;
  core_.pool.for_each([&](const DynamicInstruction& d) {
    if (places_.size() <= d.pool_index || d.traits == nullptr) return;
    if (places_[d.pool_index].stage == Stage::none || d.scheduler != scheduler) return;
    const bool first = &d == sub_cores_[scheduler].control || &d == sub_cores_[scheduler].allocate;
    if (first || d.traits->unit == kind) all.push_back(&d);
  });
  std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return a->issued < b->issued; });
  return all;
}

bool SubCorePath::waits_for_operands(const DynamicInstruction& d, Cycle at) const {
  if (places_.size() <= d.pool_index) return false;
  const Place& p = places_[d.pool_index];
  switch (p.stage) {
    case Stage::control:
      return at > p.entered + 1;
    case Stage::allocate:
      return at > p.entered + 2;
    case Stage::window:
      return at > p.end;
    case Stage::queue:
      return at > p.from && d.operands_pending != 0;
    default:
      return false;
  }
}

void SubCorePath::register_stats(support::StatGroup& g) {
  g.counter("instructions", instructions_, "warp instructions", "instructions that passed the control stages");
  g.counter("reads", reads_, "warp registers", "distinct source registers requested from the operand storage");
  g.counter("cached_reads", cached_reads_, "warp registers",
            "distinct source registers found in the register file cache");
  g.counter("duplicate_operands", duplicates_, "warp registers", "source operands served by another operand's read");
  g.counter("held_reads", held_reads_, "attempts",
            "to send a read that the storage's back-pressure held; none if it plans reads");
  g.counter("bypassed_operands", bypassed_, "warp registers", "operands that a result replaced on its way");
  g.counter("allocate_waits", allocate_waits_, "cycles",
            "that instructions of fixed latency waited in the allocate stages for read ports or their pipeline");
  g.counter("control_waits", control_waits_, "cycles",
            "that instructions waited in the control stages for the stage or the queue that follows");
  g.counter("queue_waits", queue_waits_, "attempts",
            "of instructions of variable latency to read a register without a free port");
}

}  // namespace regatta::sm
