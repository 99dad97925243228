// SPDX-License-Identifier: Apache-2.0
//
// The barrier of a cluster of one CTA, and the registers that its warps give to each other (setmaxnreg).
#include "cta.h"

#include "diagnostics.h"
#include "race_detector.h"

#include <algorithm>

namespace regatta::emulator {

using trace::LaneMask;

namespace {

constexpr unsigned warp_group_threads = 128;  ///< PTX ISA, "Warpgroup"
constexpr std::uint32_t allocation_step = 8;  ///< registers of a thread

/// The barrier of RaceOrder for a phase. A warp may arrive in the next phase before others have left this one; nobody
/// is two phases behind.
unsigned race_barrier(std::uint64_t phase) { return first_cluster_barrier + static_cast<unsigned>(phase % 2); }

}  // namespace

void CtaRunner::cluster_barrier(Warp& w, const Op& op, LaneMask active) {
  const auto lane = static_cast<unsigned>(__builtin_ctzll(active));
  const bool arrived = w.cluster_phase != 0;
  if (spins_.watching()) spins_.reaches_barrier(w.number());
  w.barrier_op = position(op);
  w.barrier_lanes = active;
  if (op.barrier == ir::BarrierMode::cluster_arrive) {
    if (arrived) fail(w, op, lane, "barrier.cluster.arrive twice, expected a barrier.cluster.wait between the two");
    w.cluster_phase = cluster_phase_;
    ++cluster_arrivals_;
    const bool releases = op.instruction->mod.order != ir::MemoryOrder::relaxed;
    if (races_ != nullptr && releases) races_->order().arrive(w.number(), race_barrier(cluster_phase_));
    return;
  }
  if (!arrived) fail(w, op, lane, "barrier.cluster.wait without a barrier.cluster.arrive before it");
  w.state = WarpState::at_cluster_barrier;
  release_cluster_barrier();
}

/// Ends the phase when all warps that go on have arrived, and lets those go that wait for a phase that has ended.
bool CtaRunner::release_cluster_barrier() {
  if (cluster_arrivals_ == 0) return false;
  bool arrived = false, complete = true;
  for (const auto& w : warps_) {
    arrived = arrived || w->cluster_phase == cluster_phase_;
    complete = complete && (w->state == WarpState::done || w->cluster_phase == cluster_phase_);
  }
  if (arrived && complete) {
    if (races_ != nullptr) {
      RaceOrder& order = races_->order();
      for (const auto& w : warps_) {
        if (w->state == WarpState::done) order.arrive(w->number(), race_barrier(cluster_phase_));
      }
      order.open(race_barrier(cluster_phase_ + 1));
    }
    ++cluster_phase_;
  }
  bool released = false;
  for (auto& w : warps_) {
    if (w->state != WarpState::at_cluster_barrier || w->cluster_phase == cluster_phase_) continue;
    if (races_ != nullptr) {
      races_->order().leave(w->number(), race_barrier(w->cluster_phase), w->live() & ~w->barrier_lanes);
    }
    w->cluster_phase = 0;
    --cluster_arrivals_;
    w->state = WarpState::ready;
    released = true;
  }
  return released;
}

void CtaRunner::begin_budgets() {
  cluster_phase_ = 1;
  cluster_arrivals_ = waiting_for_registers_ = 0;
  free_registers_ = 0;
  if (f_.entry_registers == 0) return;
  const std::uint32_t warps_per_group = warp_group_threads / program_.lanes;
  group_budgets_.assign((warps_.size() + warps_per_group - 1) / warps_per_group, {});
  for (auto& w : warps_) {
    w->registers = (f_.entry_registers + allocation_step - 1) / allocation_step * allocation_step;
    w->budgets_set = 0;
  }
}

void CtaRunner::set_registers(Warp& w, const Op& op, LaneMask active) {
  const auto lane = static_cast<unsigned>(__builtin_ctzll(active));
  const std::string opcode = "'" + ir::opcode_text(*op.instruction) + "'";
  if (active != w.live()) {
    fail(w, op, static_cast<unsigned>(__builtin_ctzll(w.live() & ~active)),
         opcode + " under divergence: " + std::to_string(__builtin_popcountll(active)) + " of the warp's " +
             std::to_string(__builtin_popcountll(w.live())) + " threads execute it, this one does not");
  }
  // All warps of a warp group execute the same ones.
  const std::uint32_t warps_per_group = warp_group_threads / program_.lanes;
  std::vector<GroupBudget>& done = group_budgets_[w.number() / warps_per_group];
  if (w.budgets_set == done.size()) done.push_back({position(op), w.number()});
  const GroupBudget& first = done[w.budgets_set++];
  if (first.position != position(op)) {
    const ir::Instruction& other = *program_.ops[first.position].instruction;
    fail(w, op, lane,
         opcode + " in warp " + std::to_string(w.number()) + ", expected '" + ir::opcode_text(other) + "' on line " +
             std::to_string(other.where.line) + " as in warp " + std::to_string(first.warp) + " of its warp group");
  }
  const std::uint32_t wanted = op.register_budget;
  const bool raises = op.instruction->mod.raises;
  if (raises ? wanted < w.registers : wanted > w.registers) {
    fail(w, op, lane,
         opcode + " to " + std::to_string(wanted) + " registers: the warp has " + std::to_string(w.registers) +
             ", expected at " + (raises ? "least" : "most") + " that");
  }
  w.barrier_op = position(op);
  if (raises) {
    w.state = WarpState::waits_for_registers;
    ++waiting_for_registers_;
    grant_registers();
    return;
  }
  free_registers_ += w.registers - wanted;
  w.registers = wanted;
  if (spins_.watching()) spins_.changed();
  if (!tracks_) return;
  for (unsigned r = wanted; r < w.written.size(); ++r) w.set_written(r, ~LaneMask{0}, {});
}

bool CtaRunner::grant_registers() {
  if (waiting_for_registers_ == 0) return false;
  bool granted = false;
  for (auto& w : warps_) {
    if (w->state != WarpState::waits_for_registers) continue;
    const std::uint32_t more = program_.ops[w->barrier_op].register_budget - w->registers;
    if (more > free_registers_) continue;
    free_registers_ -= more;
    w->registers += more;
    w->state = WarpState::ready;
    --waiting_for_registers_;
    granted = true;
  }
  return granted;
}

void CtaRunner::check_warp_groups() const {
  if (f_.entry_registers == 0) return;
  const std::uint32_t warps_per_group = warp_group_threads / program_.lanes;
  for (const auto& w : warps_) {
    const std::vector<GroupBudget>& done = group_budgets_[w->number() / warps_per_group];
    if (w->budgets_set == done.size()) continue;
    const GroupBudget& missed = done[w->budgets_set];
    const Op& op = program_.ops[missed.position];
    fail(*w, op, 0,
         "'" + ir::opcode_text(*op.instruction) + "' in warp " + std::to_string(missed.warp) + ", but warp " +
             std::to_string(w->number()) + " of its warp group has exited without it");
  }
}

}  // namespace regatta::emulator
