// SPDX-License-Identifier: Apache-2.0
//
// Random functions over physical registers, with control flow of any shape and lanes that go their own ways.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>
#include <random>

namespace regatta::test {

struct KernelShape {
  unsigned nodes = 8;          ///< blocks with a body; each ends in a jump to any two others, or leaves
  unsigned instructions = 10;  ///< most in a body
  unsigned registers = 12;     ///< general registers that bodies write, at least 4
  bool structured = false;     ///< nested branches and loops instead of jumps to anywhere
  bool guards = true;
  bool wide = true;                ///< pairs, vectors
  bool barriers = false;           ///< anywhere: such a function is not to be run
  unsigned fuel = 12;              ///< nodes that a lane runs before it leaves, lanes a few more or less
  std::uint64_t buffer = 0x10000;  ///< address of 4 KiB of global memory
};

/// Allocated and with its edges built. Every register has a value in every lane before the first node; no lane runs
/// for ever.
ir::Function random_kernel(std::mt19937& random, const KernelShape& shape);

}  // namespace regatta::test
