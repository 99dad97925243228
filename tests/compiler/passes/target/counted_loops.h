// SPDX-License-Identifier: Apache-2.0
//
// Random loops that count, with bounds of any kind and counters near the ends of their type.
#pragma once

#include <regatta/ir/ir.h>

#include <random>

namespace regatta::test {

struct CountedShape {
  unsigned loops = 1;      ///< one behind another
  bool known = false;      ///< counters begin with a number, bounds are numbers
  bool kept = false;       ///< marked as not to be unrolled
  bool far_steps = false;  ///< steps of any size too
};

/// Each loop runs 1 to 60 iterations. Edges are built.
ir::Function counted_loops(std::mt19937& random, const CountedShape& shape);

}  // namespace regatta::test
