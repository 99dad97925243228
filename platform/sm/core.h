// SPDX-License-Identifier: Apache-2.0
//
// The state that the stages of one SM share: time, warps, the instruction pool, timed work, observers.
#pragma once

#include <regatta/sm/sm_config.h>

#include <regatta/protocol/observer.h>
#include <regatta/support/calendar.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/stats.h>

#include "warp.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::sm {

/// Timed work: what to do with which entry when its cycle comes. A word, since there are several per instruction.
struct Work {
  enum class Kind : std::uint32_t {
    fetched,          ///< a warp's fetch arrives; value: warp slot
    fetch_unblocked,  ///< a branch is resolved; value: warp slot
    operands_ready,   ///< all operands of a collector unit are there; value: unit
    executed,         ///< an instruction's result is ready for write-back; value: pool index
    staged,           ///< it is to be offered to the write-back point again; value: pool index
    dependence,       ///< something that warps wait for; value: that of Dependences
    released,         ///< an instruction's writes are done; value: pool index
    barrier_open,     ///< a barrier releases a warp; value: warp slot
    fence_reached,    ///< a fence of a warp may be ready: accesses were made or confirmed; value: warp slot
    line_arrived,     ///< a line of the instruction or constant cache; value: its tag
    gate_opened,      ///< the gates that kept a warp closed have let go; value: warp slot
    gate_resumed,     ///< a gate that refused a warp for a time may agree now; value: warp slot
    context_moved,    ///< a CTA's context is in shared memory, or back from it; value: CTA slot
    warp_launched,    ///< the launcher is through with a warp; value: warp slot
    tick,             ///< nothing but a reason to be awake
  };
  Work() : kind(Kind::tick), value(0) {}
  Work(Kind k, std::uint32_t v) : kind(k), value(v & 0x0fffffffu) {}
  Kind kind : 4;
  std::uint32_t value : 28;
};
static_assert(sizeof(Work) == 4, "a word");

/// DynamicInstructions by pool index; the last one freed is the next one used, so that it is still cached.
class InstructionPool {
 public:
  DynamicInstruction& take() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<DynamicInstruction>());
      all_.back()->pool_index = static_cast<std::uint32_t>(all_.size() - 1);
      free_.push_back(all_.back()->pool_index);
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return *all_[index];
  }
  void give_back(DynamicInstruction& d) { free_.push_back(d.pool_index); }
  DynamicInstruction& operator[](std::uint32_t index) { return *all_[index]; }
  const DynamicInstruction& at(std::uint32_t index) const { return *all_[index]; }
  std::size_t outstanding() const { return all_.size() - free_.size(); }
  /// Calls f(instruction) for each, taken or free.
  template <class F>
  void for_each(F&& f) const {
    for (const auto& d : all_) f(*d);
  }
  /// Calls f(instruction) for each that is taken.
  template <class F>
  void for_each_taken(F&& f) const {
    for (const auto& d : all_) {
      if (std::find(free_.begin(), free_.end(), d->pool_index) == free_.end()) f(*d);
    }
  }

 private:
  std::vector<std::unique_ptr<DynamicInstruction>> all_;
  std::vector<std::uint32_t> free_;
};

/// The run-wide counters of an SM; kept per launch by difference.
struct SmCounters {
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  std::uint64_t ctas_finished = 0;
  std::uint64_t bypassed_registers = 0;
  std::array<std::uint64_t, protocol::stall_count> stalls{};  ///< scheduler-cycles; [none] = issued
};

class Core {
 public:
  Core(const SmConfig& c, support::ClockDomain& clock, unsigned sm_index)
      : config(c),
        sm(sm_index),
        clock_(clock),
        period_(clock.period().value()),
        per_unit_(1.0 / static_cast<double>(period_)) {}
  /// What runs in the cycles that wake() asks for.
  void attach(void (*tick)(void*), void* sm_module) { client_.emplace(clock_, tick, sm_module); }

  const SmConfig& config;
  const unsigned sm;      ///< which SM of the GPU
  std::string path;       ///< of the pipeline in the module hierarchy, for messages: "sm0.pipeline"
  Cycle now;              ///< the cycle being executed, or the last one while the SM sleeps
  bool progress = false;  ///< some stage changed something this cycle: the next cycle has to be looked at
  /// Cycles of the longest wait that a block has asked for in this launch: a pause, a switch. For the watchdog.
  std::uint64_t longest_wait = 0;
  protocol::KernelContext kernel;
  LaneMask all_lanes = 0;  ///< of the running kernel's warps
  /// Decode fills in DynamicInstruction::stored. Set before the first CTA by a model that stores shared memory's
  /// values.
  bool stored_values = false;
  std::vector<InstructionTraits> traits;
  /// Per static instruction, whether its latency is fixed (trace::has_fixed_latency()); empty in an SM that does not
  /// distinguish.
  std::vector<bool> fixed_latency;
  std::vector<Warp> warps;
  InstructionPool pool;
  support::Calendar<Work> calendar;
  /// Instructions whose last write is done in the cycle after this one, the usual case: they need no calendar. Whoever
  /// adds one sets `progress`.
  std::vector<std::uint32_t> released_next;
  protocol::LifecycleList listeners;
  protocol::ObserverList observers;
  SmCounters counters;

  /// A gate's move is of fixed latency; `index` of an inserted instruction is that of another.
  bool is_fixed(const DynamicInstruction& d) const { return d.injected || fixed_latency[d.traits->index]; }
  Warp& warp(WarpSlot w) { return warps[w.value()]; }
  [[gnu::always_inline]] void at(Cycle when, Work::Kind kind, std::uint32_t value) {
    calendar.schedule(when.value(), Work{kind, value});
  }

  /// Calls f(instruction) for each of the warp that has issued and not retired.
  template <class F>
  void for_each_in_flight(const Warp& w, F&& f) const {
    pool.for_each_taken([&](const DynamicInstruction& d) {
      if (d.warp == w.info.warp && &d != w.next) f(d);
    });
  }
  /// Does an instruction with these traits access a register with a result on its way?
  static bool depends(const Warp& w, const InstructionTraits& t) {
    return w.pending.intersects(t.accessed, t.accessed_predicates);
  }

  /// Whole cycles in a delay. A multiplication where a division would be the slowest thing in the pipeline; exact,
  /// because delays are whole cycles and far below 2^53 time units: a quarter of a cycle covers the rounding errors.
  std::uint64_t cycles(const sc_core::sc_time& delay) const {
    return static_cast<std::uint64_t>(static_cast<double>(delay.value()) * per_unit_ + 0.25);
  }
  /// Whether a delay, which cycles() takes for `cycles`, has no fraction of one.
  bool whole(std::uint64_t cycles, const sc_core::sc_time& delay) const { return cycles * period_ == delay.value(); }
  const sc_core::sc_time& origin() const { return clock_.origin(); }
  sc_core::sc_time period() const { return sc_core::sc_time::from_value(period_); }
  Cycle current() const { return Cycle(clock_.now()); }
  /// For calls from other modules' processes: the cycle in which the SM can act on something that is there
  /// `delay` from now, never the present one, so that process order inside a delta does not matter.
  Cycle arrival(const sc_core::sc_time& delay) const { return current() + std::max<std::uint64_t>(1, cycles(delay)); }
  /// Makes sure the SM runs in cycle `when` (later than the current one), unless it runs before and then sees to it
  /// itself from its calendar.
  void wake(Cycle when) { client_->request(when.value()); }
  /// A block asks for a wait until cycle `when`.
  void note_wait(Cycle when) {
    if (when != protocol::never) longest_wait = std::max(longest_wait, when - current());
  }
  /// Pauses the simulation after this cycle.
  void pause() { clock_.pause(); }
  /// See support::ClockDomain.
  void in_order(void (*work)(void*), void* object) { clock_.in_order(work, object); }
  /// For calls from other modules: something that a stage waits for is there in cycle `when`.
  void schedule_tick(Cycle when) {
    at(when, Work::Kind::tick, 0);
    wake(when);
  }

 private:
  support::ClockDomain& clock_;
  std::uint64_t period_;
  double per_unit_;  ///< cycles per SystemC time unit
  std::optional<support::CycleClient> client_;
};

}  // namespace regatta::sm
