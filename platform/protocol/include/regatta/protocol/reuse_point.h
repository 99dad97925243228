// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/time_keeper.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <systemc>

namespace regatta::protocol {

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

}  // namespace regatta::protocol
