// SPDX-License-Identifier: Apache-2.0
//
// Short sides of branches become guarded instructions (if-conversion: Allen, Kennedy, Porterfield and Warren, 1983).
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>

namespace regatta::passes {

/// Takes branches around at most `longest` instructions out, innermost first, and joins the blocks that remain of
/// them. A side stays a branch if it has barriers, instructions that lanes execute together, or writes the predicate of
/// its branch. Returns the number of branches taken out. Edges are built before and after.
std::uint32_t convert_branches(ir::Function& f, unsigned longest);

/// Appends each block that only one block leads to, the one before it, to that block. Edges are built before and after.
void join_blocks(ir::Function& f);

}  // namespace regatta::passes
