// SPDX-License-Identifier: Apache-2.0
//
// Of a CTA whose warps do different work: the two halves of its cluster's barrier, and its register budgets.
#include "cta_stage.h"
#include "issue.h"

#include <algorithm>

namespace regatta::sm {

/// A warp arrives in a phase of the barrier of its cluster, which is its CTA, and waits later until all warps that go
/// on have arrived in it.
void CtaStage::cluster_half(Warp& w, const trace::StaticInstruction& i) {
  ResidentCta& cta = ctas_[w.info.cta.value()];
  if (i.barrier_half == trace::BarrierHalf::arrive) {
    w.cluster_phase = cta.cluster_phase;
    return check_cluster_barrier(cta);
  }
  if (w.cluster_phase != 0 && w.cluster_phase != cta.cluster_phase) {
    core_.at(core_.now + core_.config.barrier_latency, Work::Kind::barrier_open, w.info.warp.value());
  } else {
    cta.at_cluster_barrier.push_back(w.info.warp);
  }
}

void CtaStage::check_cluster_barrier(ResidentCta& cta) {
  if (cta.waiting != 0) return;
  bool arrived = false;
  for (const WarpSlot slot : cta.warps) {
    const Warp& w = core_.warp(slot);
    if (!w.resident || w.exited) continue;
    if (w.cluster_phase != cta.cluster_phase) return;
    arrived = true;
  }
  if (!arrived) return;
  ++cta.cluster_phase;
  for (const WarpSlot slot : cta.at_cluster_barrier) {
    core_.at(core_.now + core_.config.barrier_latency, Work::Kind::barrier_open, slot.value());
  }
  cta.at_cluster_barrier.clear();
}

WarpState CtaStage::state_at_budget(const Warp& w, const trace::StaticInstruction& i) const {
  // What is in flight may still read and write registers that the warp gives away.
  if (w.memory_in_flight != 0) return WarpState::memory;
  if (w.in_flight != 0) return WarpState::scoreboard;
  return budgets_.available(w, i) ? WarpState::ready : WarpState::barrier;
}

void CtaStage::budget_issued(Warp& w, const DynamicInstruction& d) {
  if (d.active == 0 || !budgets_.issued(w, *d.info)) return;
  for (const WarpSlot slot : ctas_[w.info.cta.value()].warps) {
    Warp& other = core_.warp(slot);
    if (other.resident && other.state == WarpState::barrier && !other.at_barrier) issue_->update(other);
  }
}

Hold CtaStage::at_budget(const Warp& w, const trace::StaticInstruction& i) const {
  return Hold{"registers that other warps of their CTA have",
              "waits for " + std::to_string(budgets_.lacks(w, i)) + " registers more than its " +
                  std::to_string(budgets_.of(w)) + ", its CTA has " + std::to_string(budgets_.free(w)) + " free",
              w.last_issued};
}

}  // namespace regatta::sm
