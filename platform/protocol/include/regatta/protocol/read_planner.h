// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/ids.h>

#include <cstdint>

namespace regatta::protocol {

/// A role of an OperandStorage (OperandStorage::plan_reads()): read ports that can be reserved ahead, so that an
/// instruction's operands are all there after a number of cycles that is known.
///
/// Called by: an operand path that reads in a window of cycles (sm.operand_path = sub_core), when an instruction is
/// allocated. A read that was planned is sent in its cycle, with WarpAccess::planned set, and completes at once
/// (TLM_COMPLETED with the latency of a bank); reads without a plan are served as ever.
class ReadPlanner {
 public:
  virtual ~ReadPlanner() = default;
  /// Reserves a read port for each of `count` registers of a warp (at most trace::max_source_registers) in the cycles
  /// `first` to `first + cycles - 1`: all, or none. `first`: the current cycle or a later one; `cycles`: 1 to 8.
  /// `slots[i]`: the cycle of register i, from `first`. Returns whether all fit.
  virtual bool plan(WarpSlot warp, const RegisterId* registers, unsigned count, Cycle first, unsigned cycles,
                    std::uint8_t* slots) = 0;
};

}  // namespace regatta::protocol
