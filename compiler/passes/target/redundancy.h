// SPDX-License-Identifier: Apache-2.0
//
// What sequences compute more often than they need.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>

namespace regatta::passes {

/// Reads a value that was computed before instead of computing it again: operations without effects, whose operands
/// have one definition, and of which one is on every way to the other. Predicates, of which there are few, are left
/// alone. Returns the number of instructions that nobody reads any more; cleanup() removes them. Edges are built.
std::uint32_t share_values(ir::Function& f);

/// Moves such operations in front of the loops in which their operands do not change. Returns the number of
/// instructions moved. Edges are built before and after.
std::uint32_t hoist_invariants(ir::Function& f);

}  // namespace regatta::passes
