// SPDX-License-Identifier: Apache-2.0
//
// What the scheduler believes an instruction takes.
#pragma once

#include <regatta/ir/ir.h>

#include <array>

namespace regatta::passes {

/// Cycles from issue until a dependent instruction can issue, per opcode class, and per space for memory accesses.
struct LatencyTable {
  /// The defaults are those of a Maxwell SM (platform/machines/gtx980.toml, where each row names its source); loads
  /// from global memory count as an L2 hit.
  LatencyTable();

  std::array<unsigned, trace::op_class_count> op_class{};
  unsigned shared = 24;   ///< shared memory load
  unsigned global = 216;  ///< global, generic and local memory load

  unsigned of(const ir::Instruction& i) const;
};

}  // namespace regatta::passes
