// SPDX-License-Identifier: Apache-2.0
//
// Loads of neighbouring words as one instruction.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>

namespace regatta::passes {

/// Joins, within blocks, loads of 32-bit words that lie side by side: of constants two, of shared memory two or four,
/// where the first address is known to be a multiple of their size, and nothing in between may write there. Returns the
/// number of loads that are no longer needed. Edges are built.
std::uint32_t join_loads(ir::Function& f);

/// Loads of constants that are longer than the two words that one instruction of an NVIDIA GPU reads of a bank become
/// several. Returns how many were added.
std::uint32_t split_constant_loads(ir::Function& f);

}  // namespace regatta::passes
