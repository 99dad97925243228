// SPDX-License-Identifier: Apache-2.0
//
// Random programs of nested branches and loops whose values mostly have one definition each, as front ends write them.
#pragma once

#include <regatta/ir/ir.h>

#include <cstddef>
#include <random>

namespace regatta::test {

struct StructuredShape {
  unsigned length = 8;    ///< most instructions of straight-line code at a time
  unsigned parts = 4;     ///< straight-line code, branches and loops one behind another
  unsigned depth = 2;     ///< of branches and loops inside each other
  bool loops = true;      ///< of at most five iterations
  bool fences = false;    ///< barriers, which no pass may put under a guard
  bool guards = true;     ///< instructions with a guard of their own
  bool constants = true;  ///< parameters and launch dimensions as operands
};

/// Ends with stores of all variables. Edges are built.
ir::Function structured_program(std::mt19937& random, const StructuredShape& shape);

/// Instructions with an opcode.
std::size_t count_of(const ir::Function& f, ir::Opcode op);

}  // namespace regatta::test
