// SPDX-License-Identifier: Apache-2.0
//
// Two operations as one instruction of three inputs.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>

namespace regatta::passes {

/// Joins, within blocks, an operation with the one that alone reads its result: sums of three, sums with a shifted
/// operand (lea), products and sums (mad), logic of three operands (lop3), comparisons and the logic of their
/// predicate. An instruction keeps one operand at most that is no register. Returns the number of instructions that are
/// no longer needed; cleanup() removes them. Edges are built.
std::uint32_t join_operations(ir::Function& f);

}  // namespace regatta::passes
