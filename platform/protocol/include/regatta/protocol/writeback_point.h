// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/time_keeper.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <systemc>

namespace regatta::protocol {

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
