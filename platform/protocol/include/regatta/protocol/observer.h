// SPDX-License-Identifier: Apache-2.0
//
// Observer: sees events, answers nothing. Statistics, energy, duty-cycle accounting, recorders and the value
// checker are observers.
#pragma once

#include <regatta/protocol/dynamic_instruction.h>
#include <regatta/protocol/lifecycle.h>

#include <cstdint>
#include <vector>

namespace regatta::protocol {

enum class Event : std::uint8_t {
  kernel_started,
  kernel_finished,
  cta_launched,
  cta_finished,
  cta_switched,
  warp_started,
  warp_finished,
  fetched,
  arrived,
  issued,
  operands_delivered,
  bypassed,
  register_written,
  retired,
  warp_state,
  cycles
};
inline constexpr unsigned event_count = 16;

/// What a scheduler did in a cycle; exactly one per scheduler and cycle. Where warps wait for different things, the
/// reason nearest to an issue counts: structural, gate, scoreboard, instruction fetch, memory, barrier, idle.
enum class Stall : std::uint8_t {
  none,                  ///< it issued
  scoreboard,            ///< a result of short latency is awaited
  issue_gate,            ///< a gate said no
  structural_scheduler,  ///< a warp is ready, but it is not the scheduler's turn, or its policy keeps the warp back
  structural_sp,         ///< no collector unit was free for an instruction of this unit
  structural_sfu,
  structural_dp,
  structural_lsu,
  memory,             ///< a result from beyond the SM is awaited, or a fence waits for stores
  barrier,            ///< warps wait for their CTA
  instruction_fetch,  ///< a warp has work, and its next instruction has not arrived
  idle                ///< no warp with an instruction left to issue
};
inline constexpr unsigned stall_count = 12;
const char* to_string(Stall s);
/// The reason for an instruction of `unit` (not none) that found no room.
constexpr Stall structural_stall(Unit unit) {
  return static_cast<Stall>(static_cast<unsigned>(Stall::structural_sp) + static_cast<unsigned>(unit) -
                            static_cast<unsigned>(Unit::sp));
}
constexpr bool is_structural(Stall s) { return s >= Stall::structural_scheduler && s <= Stall::structural_lsu; }
static_assert(structural_stall(Unit::lsu) == Stall::structural_lsu);

/// What a resident warp is doing as far as the warp itself knows.
enum class WarpState : std::uint8_t {
  absent,             ///< not resident
  instruction_fetch,  ///< its next instruction has not arrived
  ready,              ///< its next instruction can be tried
  scoreboard,         ///< a result of short latency is awaited
  memory,             ///< a result from beyond the SM is awaited, or a fence waits for stores
  barrier,            ///< it waits for its CTA
  drained             ///< its last instruction has issued, results are on their way
};
inline constexpr unsigned warp_state_count = 7;
const char* to_string(WarpState s);

/// Contract. Called by: the SM, at the point of the cycle where the event happens, in the order of
/// registration. May change: nothing of the platform; an observer that finds a fault reports it through
/// SC_REPORT_ERROR. Must not: call back into the SM, keep references to an instruction after retired().
/// Only events in interests() are delivered, so an observer costs nothing for the others.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual std::vector<Event> interests() const = 0;
  /// True for an observer that never reads SystemC's own time: it goes by the cycles it is handed (see TimeKeeper).
  virtual bool keeps_cycle_time() const { return false; }

  virtual void kernel_started(Cycle, const KernelContext&) {}
  virtual void kernel_finished(Cycle, const KernelContext&) {}
  /// In place of kernel_finished(), and to whom that is of interest: the run ends in the middle of the launch.
  virtual void kernel_broken_off(Cycle, const KernelContext&) {}
  virtual void cta_launched(Cycle, const CtaInfo&) {}
  virtual void cta_finished(Cycle, const CtaInfo&) {}
  /// A resident CTA became active (scheduled) or inactive.
  virtual void cta_switched(Cycle, CtaSlot, bool /*active*/) {}
  virtual void warp_started(Cycle, const WarpInfo&) {}
  virtual void warp_finished(Cycle, const WarpInfo&) {}
  /// An instruction is fetched, its lines having been found, in program order per warp (the trace holds the right path
  /// only).
  virtual void fetched(Cycle, const WarpInfo&, const InstructionTraits&) {}
  /// All that was fetched for the warp is in its instruction buffer.
  virtual void arrived(Cycle, const WarpInfo&) {}
  /// In program order per warp. Results, predicates and addresses of the instruction are known.
  virtual void issued(Cycle, const DynamicInstruction&) {}
  /// Every source register has been delivered, before the execution unit takes it.
  virtual void operands_delivered(Cycle, const DynamicInstruction&) {}
  /// A reuse point supplied the results in place of execution.
  virtual void bypassed(Cycle, const DynamicInstruction&) {}
  /// Destination `d` was handed to the storage (or dropped by a write-back point: `written` false).
  virtual void register_written(Cycle, const DynamicInstruction&, unsigned /*d*/, bool /*written*/) {}
  /// All destinations are written and the scoreboard has let go; the last event of an instruction.
  virtual void retired(Cycle, const DynamicInstruction&) {}
  /// A warp's state changed. What holds at the end of a cycle is what the warp met in it, unless it issued. A warp that
  /// starts is absent until its first change, and one that finishes is absent without one.
  virtual void warp_state(Cycle, const WarpInfo&, WarpState) {}
  /// `count` cycles starting at `from` passed in which scheduler `s` met stall[s] (none: issued). From the start of a
  /// launch to the SM's last activity in it every cycle is told exactly once.
  virtual void cycles(Cycle /*from*/, std::uint64_t /*count*/, const std::vector<Stall>& /*stall*/) {}
};

/// The observers of an SM, sorted by event. Dispatch is a loop over the few that asked.
class ObserverList {
 public:
  void add(Observer& o) {
    for (Event e : o.interests()) {
      lists_[static_cast<unsigned>(e)].push_back(&o);
      wanted_ |= 1u << static_cast<unsigned>(e);
    }
  }
  bool wanted(Event e) const { return !lists_[static_cast<unsigned>(e)].empty(); }
  template <class F>
  void notify(Event e, F&& f) const {
    for (Observer* o : lists_[static_cast<unsigned>(e)]) f(*o);
  }
  /// The same for events that hardly anybody asks for: a test of a bit in the pipeline, all else out of its way.
  template <class F>
  void notify_few(Event e, F&& f) const {
    if (__builtin_expect((wanted_ >> static_cast<unsigned>(e) & 1) != 0, 0)) deliver(e, f);
  }

 private:
  template <class F>
  [[gnu::noinline, gnu::cold]] void deliver(Event e, F& f) const {
    notify(e, f);
  }
  std::vector<Observer*> lists_[event_count];
  std::uint32_t wanted_ = 0;  ///< a bit per event
};

}  // namespace regatta::protocol
