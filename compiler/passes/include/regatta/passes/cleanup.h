// SPDX-License-Identifier: Apache-2.0
//
// Removes what nvcc and clang leave for ptxas to remove: copies within a block and instructions without effect.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>

namespace regatta::passes {

struct CleanupResult {
  std::uint32_t propagated_uses = 0;       ///< operands replaced by the source of the copy they read
  std::uint32_t removed_instructions = 0;  ///< without effect
};

/// Copy propagation within blocks and dead code elimination, on a function that is not yet allocated and whose
/// edges are built. Blocks stay, empty ones too. Loads that are not volatile count as free of effect.
CleanupResult cleanup(ir::Function& f);

/// Whether removing the instruction is invisible once nothing reads what it writes.
bool is_removable(const ir::Instruction& i);

}  // namespace regatta::passes
