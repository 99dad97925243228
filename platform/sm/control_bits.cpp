// SPDX-License-Identifier: Apache-2.0
#include "control_bits.h"

#include <regatta/support/config.h>

#include "contract.h"
#include "result_queue.h"

#include <algorithm>

namespace regatta::sm {

using protocol::Stall;

namespace {

constexpr const char* option = "--control";

std::string name_of(const trace::Kernel& kernel, std::size_t index) {
  return "kernel " + kernel.name + ": PC " + hex(index * trace::bytes_per_instruction) + " " +
         kernel.instructions[index].opcode;
}

}  // namespace

void ControlBitsUnit::kernel_started(const protocol::KernelContext& context) {
  const trace::Kernel& kernel = *context.kernel;
  const std::optional<trace::ControlSection> control = trace::find_control(kernel);
  if (!control) {
    throw support::UnfitTrace("kernel " + kernel.name +
                                  " has no control bits, by which this machine knows dependences " +
                                  "(sm.dependences = control_bits): annotate it with " + option,
                              option);
  }
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const InstructionTraits& t = core_.traits[i];
    const unsigned assumed = control->latency[i];
    if (assumed == 0 || !trace::has_result(*t.info)) continue;
    const unsigned takes = t.latency + window_cycles(core_.config, t) - core_.config.sub_core.window;
    if (takes <= assumed) continue;
    throw support::UnfitTrace(name_of(kernel, i) + ": its control bits count on a latency of " +
                                  std::to_string(assumed) + " cycles, this machine takes " + std::to_string(takes) +
                                  " (latency.*, unit.*_lanes): expected at most " + std::to_string(assumed),
                              "");
  }
  bits_ = control->bits;
  flows_.clear();
}

void ControlBitsUnit::warp_started(const protocol::WarpInfo& warp) {
  if (flows_.size() <= warp.warp.value()) flows_.resize(warp.warp.value() + std::size_t{1});
  flows_[warp.warp.value()] = Flow{};
}

WarpState ControlBitsUnit::state(const Warp& w, const InstructionTraits& t) const {
  const Flow& f = flow(w);
  if (time(w.scheduler) < f.next) return WarpState::scoreboard;
  WarpState state = WarpState::ready;
  for (unsigned c = 0; c < trace::control_counters; ++c) {
    if (f.counters[c] == 0 || !bits_[t.index].waits_for(c)) continue;
    if (f.of_memory[c] != 0) return WarpState::memory;
    state = WarpState::scoreboard;
  }
  return state;
}

Stall ControlBitsUnit::reason(const Warp& w) const {
  const Flow& f = flow(w);
  if (time(w.scheduler) >= f.next) return Stall::counter;
  return f.yields ? Stall::yield : Stall::stall_count;
}

std::string ControlBitsUnit::describe_wait(const Warp& w, const InstructionTraits& t) const {
  const Flow& f = flow(w);
  std::string text;
  for (unsigned c = 0; c < trace::control_counters; ++c) {
    if (f.counters[c] == 0 || !bits_[t.index].waits_for(c)) continue;
    text += (text.empty() ? "counter " : ", ") + std::to_string(c) + " = " + std::to_string(f.counters[c]);
  }
  if (!text.empty()) return text;
  return time(w.scheduler) < f.next ? "the stall count of the instruction before" : "";
}

void ControlBitsUnit::issued(Warp& w, DynamicInstruction& d) {
  const InstructionTraits& t = *d.traits;
  const trace::ControlBits& bits = bits_[t.index];
  Flow& f = flow(w);
  d.sources_read = false;
  const unsigned distance = bits.issue_distance();
  f.yields = bits.yield && bits.stall < 2;
  if (distance > 1) {
    f.next = time(w.scheduler) + distance;
    schedule(Step::eligible, distance, w.info.warp.value());
  } else {
    // A warp issues one instruction per cycle in any case, unless time stands still: stalled().
    f.next = 0;
    latest_[w.scheduler] = Latest{core_.now, &w};
  }
  if (bits.write_counter != trace::no_counter || bits.read_counter != trace::no_counter) {
    schedule(Step::raise, trace::counter_raise_delay, d.pool_index);
  }
  for (unsigned i = 0; i < t.write_count; ++i) {
    ++f.writes[t.writes[i].value()];
    w.pending.add(t.writes[i]);
    if (!t.is_long_latency) continue;
    ++f.long_writes[t.writes[i].value()];
    w.pending_long.add(t.writes[i]);
  }
}

Warp& ControlBitsUnit::due(std::uint32_t value) {
  const std::uint32_t index = value & ((1u << step_shift) - 1);
  if (value >> step_shift == Step::raise) {
    DynamicInstruction& d = core_.pool[index];
    const trace::ControlBits& bits = bits_[d.traits->index];
    change(d, bits.write_counter, 1);
    change(d, bits.read_counter, 1);
    return core_.warp(d.warp);
  }
  Warp& w = core_.warps[index];
  const Flow& f = flow(w);
  if (!w.resident) return w;
  if (const std::uint64_t now = time(w.scheduler); now < f.next) {
    schedule(Step::eligible, f.next - now, index);
    return w;
  }
  Ripe& ripe = ripe_[w.scheduler];
  if (ripe.since != core_.now) ripe.warps.clear();
  ripe.since = core_.now;
  ripe.warps.push_back(&w);
  return w;
}

const std::vector<Warp*>& ControlBitsUnit::stalled(unsigned scheduler) {
  ++frozen_[scheduler];
  held_back_.clear();
  // The stage may wait while nothing is behind it: branches and marks of divergence do not pass it. An instruction that
  // issues now would then have no distance to the one that its warp issued in the cycle before.
  if (const Latest& latest = latest_[scheduler]; latest.warp != nullptr && latest.at + 1 == core_.now) {
    flow(*latest.warp).next = time(scheduler) + 1;
    schedule(Step::eligible, 1, latest.warp->info.warp.value());
    held_back_.push_back(latest.warp);
  }
  Ripe& ripe = ripe_[scheduler];
  if (ripe.since != core_.now) return held_back_;
  // This cycle does not count any more.
  for (Warp* w : ripe.warps) {
    if (time(scheduler) >= flow(*w).next) continue;
    schedule(Step::eligible, 1, w->info.warp.value());
    held_back_.push_back(w);
  }
  ripe.warps.clear();
  return held_back_;
}

void ControlBitsUnit::change(const DynamicInstruction& d, unsigned counter, int by) {
  if (counter == trace::no_counter) return;
  Flow& f = flows_[d.warp.value()];
  f.counters[counter] += by;
  if (d.traits->is_long_latency) f.of_memory[counter] += by;
  if (f.counters[counter] <= static_cast<int>(trace::max_counter_value)) return;
  SC_REPORT_ERROR("regatta/control_bits",
                  (core_.path + " in cycle " + std::to_string(core_.now.value()) + ": " + describe(core_, d) +
                   " raises counter " + std::to_string(counter) + " to " + std::to_string(f.counters[counter]) +
                   "; expected at most " + std::to_string(trace::max_counter_value))
                      .c_str());
}

void ControlBitsUnit::sources_read(Warp&, DynamicInstruction& d) {
  if (d.sources_read) return;
  d.sources_read = true;
  change(d, bits_[d.traits->index].read_counter, -1);
}

void ControlBitsUnit::retired(Warp& w, DynamicInstruction& d) {
  const InstructionTraits& t = *d.traits;
  Flow& f = flow(w);
  sources_read(w, d);  // of one that passes no stage that reads
  change(d, bits_[t.index].write_counter, -1);
  for (unsigned i = 0; i < t.write_count; ++i) {
    if (--f.writes[t.writes[i].value()] == 0) w.pending.remove(t.writes[i]);
    if (t.is_long_latency && --f.long_writes[t.writes[i].value()] == 0) w.pending_long.remove(t.writes[i]);
  }
}

}  // namespace regatta::sm
