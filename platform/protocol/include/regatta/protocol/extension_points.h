// SPDX-License-Identifier: Apache-2.0
//
// The control-side extension points of an SM. Data moves over TLM sockets (payload.h); these small interfaces
// decide. docs of each contract: who calls it, when in the cycle, what it may change, what it must not.
// The order of one cycle is fixed in platform/sm/README.md: write-back, execution, operand collection,
// load-store unit, issue, decode, fetch, CTA status.
#pragma once

#include <regatta/protocol/dynamic_instruction.h>
#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/payload.h>
#include <regatta/protocol/residency.h>
#include <regatta/protocol/time_keeper.h>
#include <regatta/protocol/warp_scheduler.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <systemc>

namespace regatta::protocol {

/// Storage of warp registers: the register file or whatever replaces it.
///
/// Data: two TLM target sockets. The operand collectors drive read_socket(), write-back drives
/// write_socket(). nb_transport_fw(BEGIN_REQ) is answered by
///   TLM_COMPLETED with an annotated delay, when the finishing time is known (register banks), or
///   TLM_ACCEPTED / TLM_UPDATED(END_REQ), followed by BEGIN_RESP on the backward path when it is done; the
///   initiator sends no further request on that socket before END_REQ (base protocol), which is back-pressure.
/// Reads fill all lanes of the payload's data and set WarpAccess::origin; writes change the enabled lanes only.
/// A read returns what the last write accepted before it wrote. Delays are whole cycles.
///
/// Control: LifecycleListener, called outside the issue and operand stages. kernel_started() lays the storage out for
/// `context.registers_per_warp`; warp_started() allocates a warp's registers, contents undefined; after warp_finished()
/// their contents may be dropped.
class OperandStorage : public virtual TimeKeeper, public virtual LifecycleListener {
 public:
  virtual OperandTargetSocket& read_socket() = 0;
  virtual OperandTargetSocket& write_socket() = 0;
  /// Warp registers (32-bit x lanes) the storage can hold for resident warps; bounds occupancy.
  virtual std::uint64_t capacity_registers() const = 0;
};

/// Told by a gate which warps it keeps closed: those need not be asked about one by one.
class GateListener {
 public:
  virtual ~GateListener() = default;
  /// From now on may_issue() would refuse (or no longer refuses) every instruction of the warp. Warps start open.
  virtual void closed(WarpSlot warp, bool is_closed) = 0;
  /// In may_issue(), which refuses: it would refuse this warp's instruction until cycle `until`, later than the present
  /// one. The warp is not offered before that cycle, and is then if it can be; no changed() is needed. For short waits:
  /// to a scheduling policy the warp goes on being one of those that could issue, unlike one that is closed.
  virtual void pause(WarpSlot warp, Cycle until) = 0;
  /// In cycle `at`, later than the present one, may_issue() may turn to yes for a warp that it was no for. Takes the
  /// place of notifying changed(), for a gate that turns warps away often or knows beforehand when to ask again.
  virtual void reconsider(Cycle at) = 0;
};

/// Puts register moves of a gate's own into the pipeline.
class Injector {
 public:
  virtual ~Injector() = default;
  /// To be called in may_issue() by a gate that refuses the instruction: in its place, and in the same cycle, a move of
  /// the register onto itself, in all lanes of the warp, is issued to the SP pipelines, if a collector unit for it is
  /// free and the gates agree to the move too. The warp goes on behind it by way of the scoreboard: the gate is asked
  /// about the instruction again when the move is written back if the instruction accesses the register, or in the next
  /// cycle if nothing was free, and may ask again. No result for the register may be on its way.
  virtual void move(WarpSlot warp, RegisterId reg) = 0;
};

/// May this warp issue this instruction now? Gates form a list; all must agree.
///
/// Called by: issue, for the instruction at the head of a warp that a scheduler picked, scoreboard clear, unit
/// free; at most once per scheduler, warp and cycle. May change: its own state only; may_issue() must be
/// idempotent within a cycle until issued() is called. Must not: keep the reference past written_back().
/// A gate that said no must notify changed() at the latest when its answer may have turned to yes; the SM sleeps
/// meanwhile.
class IssueGate : public virtual TimeKeeper, public virtual LifecycleListener {
 public:
  virtual bool may_issue(const DynamicInstruction& instruction) = 0;
  /// The instruction was issued (all gates agreed). In program order per warp.
  virtual void issued(const DynamicInstruction&) {}
  /// All its results are written.
  virtual void written_back(const DynamicInstruction&) {}
  /// The barrier that the warp waited at has opened; after issued() of it, in the cycle in which the warp may go on.
  virtual void barrier_opened(const WarpInfo&) {}
  /// Once, before the first launch: a gate that closes whole warps keeps the listener and tells it. A closed warp's
  /// instructions are not offered to may_issue(); that the scheduler finds nothing else counts as a refusal.
  virtual void connect(GateListener&) {}
  /// Once, before the first launch. True: the gate keeps the injector, and may use it.
  virtual bool inject_through(Injector&) { return false; }
  virtual const sc_core::sc_event& changed() const = 0;
};

/// Takes the instructions of its scheme out of the stream at decode: they occupy code, fetch slots and cache lines, and
/// no issue slot.
///
/// Called by: the front end, when a fetch arrives, for each inserted instruction of the scheme in it, in program order
/// per warp and before the instruction that stands behind it can be tried. Bounded: the front end fetches no further
/// than room() allows; changed() is notified when there is more. May change: its own state.
class DecodePoint : public virtual TimeKeeper, public virtual LifecycleListener {
 public:
  /// Which inserted instructions of a kernel are in the stream: those with this scheme's name.
  virtual std::string scheme() const = 0;
  /// Inserted instructions of the warp that can still be taken, those under way not counted.
  virtual unsigned room(WarpSlot warp) const = 0;
  /// `inserted` is an index into Kernel::inserted; `sequence` is the place in the warp's program order (as
  /// DynamicInstruction::sequence) of the instruction behind it.
  virtual void decoded(const WarpInfo& warp, std::uint32_t inserted, std::uint64_t sequence) = 0;
  /// More room.
  virtual const sc_core::sc_event& changed() const = 0;
};

/// Sees the instructions of the program on their way from the instruction cache into the instruction buffers, for a
/// block that acts on them before they issue. A block that only counts is an Observer.
///
/// Called by: the front end. May change: its own state.
class FetchListener : public virtual TimeKeeper, public virtual LifecycleListener {
 public:
  /// The instruction is fetched, its lines having been found; in program order per warp.
  virtual void fetched(const WarpInfo& warp, const InstructionTraits& traits) = 0;
  /// All that was fetched for the warp is in its instruction buffer: decoded, and to be tried from now on.
  virtual void arrived(const WarpInfo& warp) = 0;
};

/// After issue, before operand read: execute, wait, or bypass with a result.
///
/// Called by: the SM latency() cycles after issue, in the order of issue; then again, while the answer was wait, every
/// cycle in which changed() was notified. One that the point keeps comes back by again(). May change: on bypass it
/// writes instruction.results (and nothing else); the instruction then skips operand read and execution and goes to
/// write-back after bypass_latency() cycles. Must not bypass an instruction with memory side effects or a predicate
/// destination.
class ReusePoint : public virtual TimeKeeper, public virtual LifecycleListener {
 public:
  enum class Decision : std::uint8_t {
    execute,
    wait,
    bypass,
    keep  ///< it waits in a queue of the point's own
  };
  virtual Decision decide(DynamicInstruction& instruction) = 0;
  /// Cycles from issue until decide() is asked first: pipeline stages of the point's own. Asked once, before the first
  /// launch.
  virtual unsigned latency() const { return 0; }
  /// One of those that the point kept, and what it has decided: execute or bypass.
  struct Decided {
    DynamicInstruction* instruction = nullptr;
    Decision decision = Decision::execute;
  };
  static constexpr std::size_t decided_at_once = 8;
  using DecidedList = std::array<Decided, decided_at_once>;
  /// While the point keeps instructions, in every cycle in which the SM runs, after `asked` were asked about in it (new
  /// ones come first): those that wait no more. How many there are; when the list is full, it is asked again. The SM
  /// may sleep meanwhile.
  virtual std::size_t again(unsigned /*asked*/, DecidedList&) { return 0; }
  /// The SM must not sleep: again() has something to do in the next cycle.
  virtual bool restless() const { return false; }
  virtual unsigned bypass_latency() const { return 1; }
  /// The instruction's results are written and it retires; told of every instruction, bypassed ones included.
  virtual void written_back(const DynamicInstruction&) {}
  virtual const sc_core::sc_event& changed() const = 0;
};

/// Before a result goes to the storage: where it goes, and whether it is written at all.
///
/// Called by: write-back, once per destination register and attempt, in the first stage of the cycle. `wait`
/// holds the instruction in its write-back slot until changed() is notified. May change: its own state.
/// Must not: alter instruction.results. `drop` means the value is already where a read will find it.
class WritebackPoint : public virtual TimeKeeper, public virtual LifecycleListener {
 public:
  enum class Decision : std::uint8_t { write, wait, drop };
  virtual Decision decide(DynamicInstruction& instruction, unsigned destination) = 0;
  /// The instruction, which has destination registers, has its results (bypassed ones too). 0: it joins the write-back
  /// queue now; n: it is asked about again n cycles later, and others pass it meanwhile. The result stage that this
  /// makes takes places of the write-back queue, so that a full one holds the units.
  virtual unsigned arrive(DynamicInstruction&) { return 0; }
  /// arrive()'s answer for what waits in a queue of the point's own: again() brings it back.
  static constexpr unsigned keep = ~0u;
  /// One of these, and the cycles after which it is asked about again; 0: at once.
  struct Recalled {
    DynamicInstruction* instruction = nullptr;
    unsigned cycles = 0;
  };
  static constexpr std::size_t recalled_at_once = 8;
  using RecalledList = std::array<Recalled, recalled_at_once>;
  /// While the point keeps instructions, in every cycle, behind the results of that cycle: those that wait there no
  /// more. How many there are; when the list is full, it is asked again.
  virtual std::size_t again(RecalledList&) { return 0; }
  virtual const sc_core::sc_event& changed() const = 0;
};

}  // namespace regatta::protocol
