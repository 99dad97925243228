// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/ir/ir.h>

#include <vector>

namespace regatta::passes {

/// Per register of an allocated function: the size, 1, 2 or 4, of the aligned group of numbers that has to move as one,
/// because a 64-bit value or the elements of a vector access lie in it.
std::vector<unsigned> register_groups(const ir::Function& f);

/// Gives every register `r` of an allocated function the number `place[r]`, and counts the registers in use anew.
void rename_registers(ir::Function& f, const std::vector<unsigned>& place);

}  // namespace regatta::passes
