// SPDX-License-Identifier: Apache-2.0
//
// The control-side extension points of an SM. Data moves over TLM sockets (payload.h); these small interfaces
// decide. platform/protocol/docs has a page per contract: callers, point in the cycle, what may and must not change.
// platform/protocol/README.md fixes the order of one cycle: write-back, execution, operand collection, load-store
// unit, reuse, issue, fetch, CTA status.
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

/// Storage of warp registers: the register file or its replacement.
///
/// Data: two TLM target sockets. The operand collectors drive read_socket(), write-back drives
/// write_socket(). nb_transport_fw(BEGIN_REQ) is answered by
///   TLM_COMPLETED with an annotated delay, if the finishing time is known (register banks), or
///   TLM_ACCEPTED / TLM_UPDATED(END_REQ), followed by BEGIN_RESP on the backward path when it is done; the
///   initiator sends no further request on that socket before END_REQ (base protocol): this is back-pressure.
/// Reads fill all lanes of the payload's data and set WarpAccess::origin; writes change only the enabled lanes.
/// A read returns the value of the last write accepted before it. Delays are whole cycles.
///
/// Control: LifecycleListener, called outside the issue and operand stages. kernel_started() prepares the storage for
/// `context.registers_per_warp`; warp_started() allocates a warp's registers with undefined contents; after
/// warp_finished() the contents may be dropped.
class OperandStorage : public virtual TimeKeeper, public virtual LifecycleListener {
 public:
  virtual OperandTargetSocket& read_socket() = 0;
  virtual OperandTargetSocket& write_socket() = 0;
  /// Warp registers (32-bit x lanes) the storage can hold for resident warps; bounds occupancy.
  virtual std::uint64_t capacity_registers() const = 0;
};

/// A gate reports here which warps it keeps closed, instead of refusing each of their instructions.
class GateListener {
 public:
  virtual ~GateListener() = default;
  /// From now on may_issue() would refuse (or no longer refuses) every instruction of the warp. Warps start open.
  virtual void closed(WarpSlot warp, bool is_closed) = 0;
  /// Call it in a may_issue() that refuses: the gate would refuse this warp's instruction until cycle `until`, later
  /// than the present one. The warp is not offered before that cycle; no changed() is needed. For short waits: unlike a
  /// closed warp, a paused warp can still issue as far as the scheduling policy knows.
  virtual void pause(WarpSlot warp, Cycle until) = 0;
  /// In cycle `at`, later than the present one, may_issue() may agree to a warp that it has refused. Replaces the
  /// notification of changed(), for a gate that refuses often or knows in advance when to ask again.
  virtual void reconsider(Cycle at) = 0;
};

/// Inserts register moves requested by a gate into the pipeline.
class Injector {
 public:
  virtual ~Injector() = default;
  /// Call it in a may_issue() that refuses the instruction. In its place and in the same cycle, a move of the register
  /// onto itself, in all lanes of the warp, issues to the SP pipelines, if a collector unit is free and the gates agree
  /// to the move. The scoreboard orders the instruction behind the move: the gate is asked about the instruction again
  /// when the move is written back if the instruction accesses the register, or in the next cycle if no unit was free,
  /// and may request the move again. No result for the register may be pending.
  virtual void move(WarpSlot warp, RegisterId reg) = 0;
};

/// Decides whether a warp may issue its next instruction now. Gates form a list; all must agree.
///
/// Called by: issue, for the instruction at the head of a warp that a scheduler picked, with a clear scoreboard and a
/// free collector unit; at most once per scheduler, warp and cycle. May change: its own state only; may_issue() must be
/// idempotent within a cycle until issued() is called. Must not: keep the reference after written_back().
/// A gate that refused must notify changed() at the latest when it may agree; the SM may sleep until then.
class IssueGate : public virtual TimeKeeper, public virtual LifecycleListener {
 public:
  virtual bool may_issue(const DynamicInstruction& instruction) = 0;
  /// The instruction was issued (all gates agreed). In program order per warp.
  virtual void issued(const DynamicInstruction&) {}
  /// All its results are written.
  virtual void written_back(const DynamicInstruction&) {}
  /// The barrier at which the warp waits has opened; after its issued(), in the cycle in which the warp may continue.
  virtual void barrier_opened(const WarpInfo&) {}
  /// Asked when the warp begins to wait for memory at its next instruction, under a policy with an active set. True:
  /// for the policy this is a short wait, so that the warp stays in the active set. It takes a place meanwhile, so the
  /// wait must not depend on other warps.
  virtual bool keeps_active(const WarpInfo&, const InstructionTraits& /*next*/) const { return false; }
  /// Once, before the first launch: a gate that closes whole warps keeps the listener and calls it. The instructions of
  /// a closed warp are not offered to may_issue(); if the scheduler finds no other warp, this counts as a refusal.
  virtual void connect(GateListener&) {}
  /// The scheme whose inserted instructions with Disposition::issue are in the stream. They are offered to this gate
  /// and to no gate of another scheme, with DynamicInstruction::injected set. Empty: none. Asked before the first
  /// launch.
  virtual std::string inserted_scheme() const { return {}; }
  /// Whether the instructions of inserted_scheme() are in the stream of the launch that begins: a compiler that knows
  /// the machine inserts none where the launch has no use for them. Asked after Residency::plan() and before
  /// kernel_started().
  virtual bool takes_inserted() const { return true; }
  /// Once, before the first launch. True: the gate keeps the injector, and may use it.
  virtual bool inject_through(Injector&) { return false; }
  virtual const sc_core::sc_event& changed() const = 0;
};

/// Takes the instructions of its scheme with Disposition::decode out of the stream: they occupy code, fetch slots and
/// cache lines, but no issue slots. Inserted instructions that issue are an IssueGate's (inserted_scheme()). A point
/// that holds an instruction already, such as a cache of decoded ones, spares its fetch (held()).
///
/// Called by: the front end, when a fetch arrives, for each inserted instruction of the scheme in it, in program order
/// per warp and before the instruction behind it can issue. Bounded: the front end fetches no further than room()
/// allows; changed() is notified when there is more room. May change: its own state.
class DecodePoint : public virtual TimeKeeper, public virtual LifecycleListener {
 public:
  /// The inserted instructions with this scheme's name are in the stream; others are not.
  virtual std::string scheme() const = 0;
  /// Number of inserted instructions that the point can still accept from the warp, not counting those in flight.
  virtual unsigned room(WarpSlot warp) const = 0;
  /// `inserted` is an index into Kernel::inserted; `sequence` is the position in the warp's program order
  /// (DynamicInstruction::sequence) of the instruction behind it.
  virtual void decoded(const WarpInfo& warp, std::uint32_t inserted, std::uint64_t sequence) = 0;
  /// Asked about the warp's next inserted instruction when there is room for it. True: the point holds it already. The
  /// front end then takes it without a fetch slot or an access to its code line, and hands it over by decoded().
  virtual bool held(WarpSlot, std::uint32_t /*inserted*/) { return false; }
  /// Asked when a launch begins. False: the scheme's instructions occupy no code.
  virtual bool in_code() const { return true; }
  /// Notified when there is more room.
  virtual const sc_core::sc_event& changed() const = 0;
};

/// Sees the instructions of the program between the instruction cache and the instruction buffers, for a block that
/// acts on them before they issue. A block that only counts is an Observer.
///
/// Called by: the front end. May change: its own state.
class FetchListener : public virtual TimeKeeper, public virtual LifecycleListener {
 public:
  /// The instruction is fetched, after its lines were found; in program order per warp.
  virtual void fetched(const WarpInfo& warp, const InstructionTraits& traits) = 0;
  /// Everything fetched for the warp is decoded and in its instruction buffer; it can issue from now on.
  virtual void arrived(const WarpInfo& warp) = 0;
};

/// After issue, before operand read: execute, wait, or bypass with a result.
///
/// Called by: the SM latency() cycles after issue, in issue order; while the answer is wait, again in every cycle after
/// a notification of changed(). Kept instructions return through resume_kept(). May change: on bypass it writes
/// instruction.results (and nothing else); the instruction then skips operand read and execution and goes to write-back
/// after bypass_latency() cycles. Must not: bypass an instruction with memory side effects or a predicate destination.
class ReusePoint : public virtual TimeKeeper, public virtual LifecycleListener {
 public:
  enum class Decision : std::uint8_t {
    execute,
    wait,
    bypass,
    keep  ///< the instruction waits in the point's internal queue
  };
  virtual Decision decide(DynamicInstruction& instruction) = 0;
  /// Cycles from issue to the first decide(), to model pipeline stages inside the point. Asked once, before the first
  /// launch.
  virtual unsigned latency() const { return 0; }
  /// A kept instruction, and the decision: execute or bypass.
  struct Decided {
    DynamicInstruction* instruction = nullptr;
    Decision decision = Decision::execute;
  };
  static constexpr std::size_t decided_at_once = 8;
  using DecidedList = std::array<Decided, decided_at_once>;
  /// Called while the point keeps instructions, in every cycle in which the SM runs, after `asked` other instructions
  /// were decided in it (new ones first). Fills the list with the kept instructions that are ready and returns their
  /// number; it is called again if the list is full. The SM may sleep in between.
  virtual std::size_t resume_kept(unsigned /*asked*/, DecidedList&) { return 0; }
  /// True keeps the SM awake: resume_kept() has work in the next cycle.
  virtual bool needs_cycle() const { return false; }
  virtual unsigned bypass_latency() const { return 1; }
  /// For the message of a wrong value, in the cycle of the bypass: where the result came from. Empty: the point's name
  /// is all that is known.
  virtual std::string result_origin(const DynamicInstruction&, unsigned /*destination*/) const { return ""; }
  /// The instruction's results are written and it retires; for every instruction, including bypassed ones.
  virtual void written_back(const DynamicInstruction&) {}
  virtual const sc_core::sc_event& changed() const = 0;
};

/// Decides before a result goes to the storage whether it is written.
///
/// Called by: write-back (step 2 of a cycle), once per destination register and attempt. `wait` holds the instruction
/// and the results behind it; the point is asked again, at the latest in the cycle after changed(). `drop`: no write,
/// because a later read finds the value without it. May change: its own state. Must not: alter instruction.results.
class WritebackPoint : public virtual TimeKeeper, public virtual LifecycleListener {
 public:
  enum class Decision : std::uint8_t { write, wait, drop };
  virtual Decision decide(DynamicInstruction& instruction, unsigned destination) = 0;
  /// The results of an instruction with destination registers are ready (also of a bypassed one). 0: it joins the
  /// write-back queue now. n: arrive() is called again n cycles later; others pass it meanwhile. Delayed results still
  /// occupy write-back queue entries; a full queue stalls the execution units.
  virtual unsigned arrive(DynamicInstruction&) { return 0; }
  /// arrive()'s answer for an instruction that waits in the point's internal queue; resume_kept() returns it.
  static constexpr unsigned keep = ~0u;
  /// A kept instruction, and the cycles until arrive() is called for it; 0: immediately.
  struct Recalled {
    DynamicInstruction* instruction = nullptr;
    unsigned cycles = 0;
  };
  static constexpr std::size_t recalled_at_once = 8;
  using RecalledList = std::array<Recalled, recalled_at_once>;
  /// Called while the point keeps instructions, in every cycle, after the results of that cycle. Fills the list with
  /// those that leave the queue and returns their number; it is called again if the list is full.
  virtual std::size_t resume_kept(RecalledList&) { return 0; }
  virtual const sc_core::sc_event& changed() const = 0;
};

}  // namespace regatta::protocol
