// SPDX-License-Identifier: Apache-2.0
//
// Operations that have no pipeline of their own, as sequences of operations that have one. Results are the same bits.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>

namespace regatta::passes {

/// Whether the operation becomes a sequence that branches: it cannot stand under a guard.
bool branches(const ir::Instruction& i);

/// Replaces, on virtual registers:
/// - f32 division, reciprocals and square roots rounded to nearest: an approximation by the special function unit that
///   is refined by multiplications and additions (Markstein, 1990). Where a number is too large or too small for that,
///   a branch leads to the operation itself, which stands for the subroutine that hardware calls;
/// - 32-bit integer division and remainder: the quotient by the reciprocal of the divisor, corrected;
/// - leading zeros: by the place of the highest bit.
/// Returns the number of operations replaced. Edges are built before and after.
std::uint32_t expand_operations(ir::Function& f);

/// The same for approximate functions without `.ftz`, whose unit flushes subnormal numbers: scaled before and after;
/// and for sines and cosines, whose unit takes turns. Before branches are converted, as what stands under a guard is
/// not replaced.
std::uint32_t scale_approximations(ir::Function& f);

}  // namespace regatta::passes
