// SPDX-License-Identifier: Apache-2.0
//
// Observer: sees events and decides nothing. Statistics, energy, duty-cycle accounting, recorders and the value
// checker are observers.
#pragma once

#include <regatta/protocol/dynamic_instruction.h>
#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/shared_contents.h>

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
  shared_accessed,
  retired,
  warp_state,
  gate_closed,
  cycles
};
inline constexpr unsigned event_count = 18;

/// What a scheduler did in a cycle; exactly one per scheduler and cycle. If warps wait for different things, the reason
/// nearest to an issue counts: structural, gate, scoreboard, instruction fetch, memory, barrier, idle.
enum class Stall : std::uint8_t {
  none,                  ///< it issued
  scoreboard,            ///< a result of short latency is awaited
  issue_gate,            ///< a gate refused
  structural_scheduler,  ///< a warp is ready, but it is not the scheduler's turn, or its policy holds the warp back
  structural_sp,         ///< no collector unit was free for an instruction of this unit
  structural_sfu,
  structural_dp,
  structural_tensor,
  structural_lsu,
  memory,             ///< a result from beyond the SM is awaited, or a fence waits for stores
  barrier,            ///< warps wait for their CTA
  instruction_fetch,  ///< a warp has work, but its next instruction has not arrived
  idle,               ///< no warp has an instruction left to issue
  // Of machines with sm.operand_path = sub_core.
  allocate,      ///< an instruction waits for read ports and stalls what is behind it
  result_queue,  ///< no entry is free for the result of an instruction of fixed latency
  // Of machines with sm.dependences = control_bits.
  stall_count,  ///< the stall count of the instruction before is not over
  yield,        ///< the instruction before yields
  counter       ///< a counter that the instruction waits for is not zero
};
inline constexpr unsigned stall_count = 18;
/// The reasons that any machine can have; the others are those of some.
inline constexpr unsigned common_stall_count = 13;
const char* to_string(Stall s);
/// The reason for an instruction of `unit` (not none) that found no room.
constexpr Stall structural_stall(Unit unit) {
  return static_cast<Stall>(static_cast<unsigned>(Stall::structural_sp) + static_cast<unsigned>(unit) -
                            static_cast<unsigned>(Unit::sp));
}
constexpr bool is_structural(Stall s) { return s >= Stall::structural_scheduler && s <= Stall::structural_lsu; }
static_assert(structural_stall(Unit::lsu) == Stall::structural_lsu);

/// What a resident warp waits for, regardless of schedulers and gates.
enum class WarpState : std::uint8_t {
  absent,             ///< not resident
  instruction_fetch,  ///< its next instruction has not arrived
  ready,              ///< its next instruction can issue
  scoreboard,         ///< a result of short latency is awaited
  memory,             ///< a result from beyond the SM is awaited, or a fence waits for stores
  barrier,            ///< it waits for its CTA
  drained             ///< its last instruction has issued, results are pending
};
inline constexpr unsigned warp_state_count = 7;
const char* to_string(WarpState s);

/// Contract. Called by: the SM, at the point of the cycle where the event happens, in the order of
/// registration. May change: nothing in the platform; an observer that finds an error reports it through
/// SC_REPORT_ERROR. Must not: call back into the SM, keep references to an instruction after retired().
/// Only events in interests() are delivered, so an observer costs nothing for the others.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual std::vector<Event> interests() const = 0;
  /// True for an observer that never reads SystemC time: it uses only the cycles it is handed (see TimeKeeper).
  virtual bool keeps_cycle_time() const { return false; }

  virtual void kernel_started(Cycle, const KernelContext&) {}
  virtual void kernel_finished(Cycle, const KernelContext&) {}
  /// Called instead of kernel_finished() if the run ends in the middle of the launch, for observers of that event.
  virtual void kernel_broken_off(Cycle, const KernelContext&) {}
  virtual void cta_launched(Cycle, const CtaInfo&) {}
  virtual void cta_finished(Cycle, const CtaInfo&) {}
  /// A resident CTA became active (scheduled) or inactive.
  virtual void cta_switched(Cycle, CtaSlot, bool /*active*/) {}
  virtual void warp_started(Cycle, const WarpInfo&) {}
  virtual void warp_finished(Cycle, const WarpInfo&) {}
  /// An instruction is fetched, after its lines were found, in program order per warp (the trace has no wrong-path
  /// instructions).
  virtual void fetched(Cycle, const WarpInfo&, const InstructionTraits&) {}
  /// Everything fetched for the warp is in its instruction buffer.
  virtual void arrived(Cycle, const WarpInfo&) {}
  /// In program order per warp. Results, predicates and addresses of the instruction are known.
  virtual void issued(Cycle, const DynamicInstruction&) {}
  /// Every source register has been delivered, before the execution unit takes it.
  virtual void operands_delivered(Cycle, const DynamicInstruction&) {}
  /// A reuse point supplied the results in place of execution.
  virtual void bypassed(Cycle, const DynamicInstruction&) {}
  /// Destination `d` was handed to the storage (or dropped by a write-back point: `written` false).
  virtual void register_written(Cycle, const DynamicInstruction&, unsigned /*d*/, bool /*written*/) {}
  /// Shared memory whose contents are modelled (shared_contents.h) was read, or written, by `access.lanes`: the words
  /// that it delivered, or received.
  virtual void shared_accessed(Cycle, const SharedAccess& /*access*/, bool /*write*/, const SharedWords&) {}
  /// All destinations are written and the scoreboard has released them; the last event of an instruction.
  virtual void retired(Cycle, const DynamicInstruction&) {}
  /// A warp's state changed. The state at the end of a cycle applies to that cycle, unless the warp issued. A new warp
  /// is absent until its first change; a finished warp becomes absent without a call.
  virtual void warp_state(Cycle, const WarpInfo&, WarpState) {}
  /// Issue gate `gate` (in the order of the SM's gates) closes the warp, or opens it, from cycle `from` on
  /// (GateListener::closed()). May come before the warp's start. A finished warp is open without a call.
  virtual void gate_closed(Cycle /*from*/, const WarpInfo&, unsigned /*gate*/, bool /*closed*/) {}
  /// `count` cycles starting at `from` passed in which scheduler `s` met stall[s] (none: issued). Every cycle from the
  /// start of a launch to the SM's last activity in it is reported exactly once.
  virtual void cycles(Cycle /*from*/, std::uint64_t /*count*/, const std::vector<Stall>& /*stall*/) {}
};

/// The observers of an SM, sorted by event. Dispatch loops only over the observers interested in the event.
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
  /// The same for rarely observed events: the pipeline tests one bit, the rest is out of line.
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
