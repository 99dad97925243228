// SPDX-License-Identifier: Apache-2.0
#include "barrier_check.h"

#include <algorithm>

namespace regatta::trace {
namespace {

bool in_register(const StaticInstruction& i, unsigned operand) {
  const std::size_t at = std::size_t{i.operand_destinations} + operand;
  return at < i.operands.size() && i.operands[at].kind == Operand::Kind::reg;
}

}  // namespace

BarrierCheck::BarrierCheck(const Kernel& kernel) {
  for (const StaticInstruction& i : kernel.instructions) {
    if (i.op_class != OpClass::barrier) continue;
    if (i.barrier_half != BarrierHalf::none) {
      judged_ = true;
      continue;
    }
    judged_ = !in_register(i, 0) && !in_register(i, 1);
    if (!judged_) return;
  }
}

void BarrierCheck::note(const WarpCursor& cursor) {
  // A program's warp of 32 counts in full, whichever of its lanes arrive.
  constexpr unsigned program_warp = 32;
  const LaneMask active = cursor.active_mask();
  const unsigned threads = program_warp * (((active & 0xffffffffu) != 0) + ((active >> program_warp) != 0));
  warps_.back().all.push_back({&cursor.instruction(), cursor.index(), cursor.position(), threads});
}

bool BarrierCheck::complete(Barrier& barrier, std::size_t running) {
  if (barrier.warps == 0) return false;
  if (barrier.expected != 0 ? barrier.threads < barrier.expected : barrier.warps < running) return false;
  for (const std::size_t w : barrier.waiting) warps_[w].waits = false;
  barrier = Barrier{};
  return true;
}

void BarrierCheck::complete_cluster(const std::vector<bool>& over) {
  bool arrived = false;
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    if (over[w]) continue;
    if (warps_[w].phase != cluster_phase_) return;
    arrived = true;
  }
  if (!arrived) return;
  ++cluster_phase_;
  for (WarpArrivals& warp : warps_) {
    if (!warp.waits_for_cluster) continue;
    warp.waits = warp.waits_for_cluster = false;
    warp.phase = 0;
  }
}

void BarrierCheck::half(WarpArrivals& warp, const StaticInstruction& i, const std::vector<bool>& over) {
  if (i.barrier_half == BarrierHalf::arrive) {
    warp.phase = cluster_phase_;
    return complete_cluster(over);
  }
  warp.waits = warp.waits_for_cluster = warp.phase == 0 || warp.phase == cluster_phase_;
  if (!warp.waits) warp.phase = 0;
}

std::string BarrierCheck::never_complete() {
  std::size_t running = warps_.size();
  std::vector<bool> over(warps_.size());
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      WarpArrivals& warp = warps_[w];
      while (!warp.waits && warp.next != warp.all.size()) {
        const Arrival& a = warp.all[warp.next++];
        moved = true;
        if (a.instruction->barrier_half != BarrierHalf::none) {
          half(warp, *a.instruction, over);
          continue;
        }
        Barrier& barrier = barriers_[a.instruction->barrier_id];
        ++barrier.warps;
        barrier.threads += a.threads;
        barrier.expected = a.instruction->barrier_threads;
        if (!a.instruction->barrier_arrives) {
          barrier.waiting.push_back(w);
          warp.waits = true;
        }
        complete(barrier, running);
      }
      if (warp.waits || over[w]) continue;
      over[w] = true;
      --running;
      moved = true;
      for (Barrier& barrier : barriers_) complete(barrier, running);
      complete_cluster(over);
    }
  }
  for (const WarpArrivals& warp : warps_) {
    if (!warp.waits) continue;
    const Arrival& a = warp.all[warp.next - 1];
    const std::string where = "warp " + std::to_string(warp.columns->warp) + ", instruction " +
                              std::to_string(a.position) + " (static index " + std::to_string(a.index) + "): ";
    if (warp.waits_for_cluster) {
      return where + (warp.phase == 0 ? "waits at the barrier of its cluster, where it has not arrived"
                                      : "waits at the barrier of its cluster, where not all warps ever arrive");
    }
    const Barrier& barrier = barriers_[a.instruction->barrier_id];
    const bool counted = barrier.expected != 0;
    return where + "waits at barrier " + std::to_string(a.instruction->barrier_id) + " for " +
           std::to_string(counted ? barrier.expected : running) + (counted ? " threads" : " warps") + ", and only " +
           std::to_string(counted ? barrier.threads : barrier.warps) + " ever arrive";
  }
  return "";
}

}  // namespace regatta::trace
