// SPDX-License-Identifier: Apache-2.0
//
// Barriers of a CTA: who arrives, who waits, what is refused.
#include "cta.h"

#include "diagnostics.h"
#include "race_detector.h"

#include <algorithm>
#include <map>

namespace regatta::emulator {

using trace::LaneMask;

namespace {

/// The threads of a program's warp, whatever the width of this machine's.
constexpr unsigned program_warp = 32;

/// Threads that arrive at a barrier with a count: a program warp counts in full, whichever of its lanes arrive (PTX
/// ISA, bar).
unsigned counted_threads(LaneMask lanes) {
  return program_warp * (((lanes & 0xffffffffu) != 0) + ((lanes >> program_warp) != 0));
}

}  // namespace

void CtaRunner::begin_barrier(Warp& w, const Op& op, LaneMask active) {
  check_reads(w, op, active);
  if (active != w.live()) {
    const LaneMask astray = w.can_reach_barrier(w.live() & ~active);
    if (astray != 0) barrier_under_divergence(w, op, active, static_cast<unsigned>(__builtin_ctzll(astray)));
  }
  if (ir::is_of_cluster(op.barrier)) return cluster_barrier(w, op, active);
  const auto lane = static_cast<unsigned>(__builtin_ctzll(active));
  const auto uniform = [&](const LaneSource& s, const char* what) {
    const std::uint32_t* v = w.regs.bank[static_cast<unsigned>(s.bank)] + s.offset;
    for (unsigned i = 0; i < program_.lanes; ++i) {
      if (((active >> i) & 1u) != 0 && v[i] != v[lane]) {
        fail(w, op, i,
             std::string("barrier ") + what + " differs within the warp: " + std::to_string(v[i]) + " here, " +
                 std::to_string(v[lane]) + " in lane " + std::to_string(lane));
      }
    }
    return v[lane];
  };
  w.barrier = uniform(op.values[0], "number");
  w.barrier_threads = op.value_count > 1 ? uniform(op.values[1], "thread count") : 0;
  if (w.barrier > 15) fail(w, op, lane, "barrier number " + std::to_string(w.barrier) + ", expected 0 to 15");
  if (op.value_count > 1 && (w.barrier_threads == 0 || w.barrier_threads % program_warp != 0)) {
    fail(w, op, lane,
         "barrier for " + std::to_string(w.barrier_threads) + " threads, expected a multiple of the warp size " +
             std::to_string(program_warp));
  }
  w.barrier_lanes = active;
  if (spins_.watching()) spins_.reaches_barrier(w.number());
  if (races_ != nullptr) races_->order().arrive(w.number(), w.barrier);
  w.barrier_op = position(op);
  if (op.predicate_count != 0) w.barrier_vote = read_predicate(w, op, op.predicates[0], active) & active;
  if (op.barrier == ir::BarrierMode::arrive) {
    ++arrivals_[w.barrier].warps;
    arrivals_[w.barrier].arrived_threads += counted_threads(active);
    arrivals_[w.barrier].threads = w.barrier_threads;
  } else {
    w.state = WarpState::at_barrier;
  }
  // With a count, the barrier opens at once, so that a warp that runs on and arrives again counts for the next use.
  if (w.barrier_threads != 0) release_barrier(w.barrier);
}

void CtaRunner::barrier_under_divergence(const Warp& w, const Op& op, LaneMask active, unsigned lane) const {
  // The first barrier that the lane can come to, nearest first.
  std::vector<std::uint32_t> open{w.resume_position(lane)};
  std::vector<bool> seen(program_.ops.size());
  const Op* other = &op;
  for (std::size_t n = 0; n < open.size(); ++n) {
    const std::uint32_t at = open[n];
    if (at >= program_.ops.size() || seen[at]) continue;
    seen[at] = true;
    const Op& next = program_.ops[at];
    if (next.kind == Kind::barrier) {
      other = &next;
      break;
    }
    if (next.kind == Kind::branch) open.push_back(next.target);
    if (next.goes_on()) open.push_back(at + 1);
  }
  fail(w, op, lane,
       "barrier under divergence: " + std::to_string(__builtin_popcountll(active)) + " of the warp's " +
           std::to_string(__builtin_popcountll(w.live())) +
           " threads are at it, this one is not and can still come to " +
           (other == &op ? "it" : "the barrier on line " + std::to_string(other->instruction->where.line)));
}

bool CtaRunner::release_barriers() {
  bool released = false;
  for (std::uint32_t b = 0; b < arrivals_.size(); ++b) released |= release_barrier(b);
  return released;
}

/// Opens a barrier if everyone is there.
bool CtaRunner::release_barrier(std::uint32_t number) {
  const auto waits = [&](const Warp& w) { return w.state == WarpState::at_barrier && w.barrier == number; };
  // Warps that have exited are not waited for, as the hardware does; a count given in the instruction stands.
  Arrivals& arrived = arrivals_[number];
  std::uint32_t here = arrived.warps, live = 0, voters = 0, yes = 0;
  std::uint32_t threads = arrived.arrived_threads, expected_threads = arrived.threads;
  for (const auto& w : warps_) {
    if (w->state != WarpState::done) ++live;
    if (!waits(*w)) continue;
    ++here;
    threads += counted_threads(w->barrier_lanes);
    if (w->barrier_threads != 0) expected_threads = w->barrier_threads;
    if (program_.ops[w->barrier_op].predicate_count == 0) continue;
    voters += static_cast<unsigned>(__builtin_popcountll(w->barrier_lanes));
    yes += static_cast<unsigned>(__builtin_popcountll(w->barrier_vote));
  }
  if (here == 0 || (expected_threads != 0 ? threads < expected_threads : here < live)) return false;
  arrived = {};
  if (races_ != nullptr) order_barrier(number, expected_threads != 0);
  for (auto& w : warps_) {
    if (waits(*w)) finish_barrier(*w, yes, voters);
  }
  return true;
}

/// Writes the result of a bar.red and lets the warp continue.
void CtaRunner::finish_barrier(Warp& w, std::uint32_t true_threads, std::uint32_t threads) {
  const Op& op = program_.ops[w.barrier_op];
  w.state = WarpState::ready;
  if (op.predicate_count == 0) return;
  // Other warps contribute to the result, so the warp has made progress.
  spins_.changed();
  const LaneMask active = w.barrier_lanes;
  w.regs.active = active;
  helpers_.expand(active, w.regs.mask);
  if (op.barrier == ir::BarrierMode::popc) {
    for (unsigned i = 0; i < program_.lanes; ++i) put(w, op.destinations[0], 1, i, true_threads);
  } else {
    const bool result = op.barrier == ir::BarrierMode::and_ ? true_threads == threads : true_threads != 0;
    write_predicate(w, op, op.predicate_writes[0], {result ? ~LaneMask{0} : 0, ~LaneMask{0}}, active);
  }
  mark_written(w, op, active);
  if (w.encoder) record(w, op, active);
}

void CtaRunner::order_barrier(unsigned barrier, bool counted) {
  RaceOrder& order = races_->order();
  for (const auto& w : warps_) {
    // The barrier opens after the others have exited.
    if (!counted && w->state == WarpState::done) order.arrive(w->number(), barrier);
  }
  for (const auto& w : warps_) {
    if (w->state != WarpState::at_barrier || w->barrier != barrier) continue;
    order.leave(w->number(), barrier, w->live() & ~w->barrier_lanes);
  }
  order.open(barrier);
}

}  // namespace regatta::emulator
