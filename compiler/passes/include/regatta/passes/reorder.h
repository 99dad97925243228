// SPDX-License-Identifier: Apache-2.0
//
// Register numbers in the order of first use (thesis of V. Jatala, section 2.3.2): under register sharing the low
// numbers are private, so a warp without the lock gets further before it needs a shared register.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>
#include <vector>

namespace regatta::passes {

/// Registers of an allocated function by first use, each once: blocks in reverse post-order, instructions in order,
/// destinations before sources. Registers that no reachable instruction names come last, ascending.
std::vector<std::uint8_t> registers_by_first_use(const ir::Function& f);

/// Permutes the numbers of an allocated function's general registers: ascending by first use. A 64-bit value or vector
/// keeps its registers together and aligned, with the first use of its first-used register. Each of these groups, and
/// each other register, takes in turn the lowest free number that still leaves places for all groups behind it. The
/// highest number in use does not grow; predicates keep their numbers; the program stays the same.
/// Returns how many registers have another number. Analyses of the function are out of date afterwards.
/// Throws std::logic_error for a function that is not allocated.
unsigned reorder_registers(ir::Function& f);

}  // namespace regatta::passes
