// SPDX-License-Identifier: Apache-2.0
//
// Counted loops of one block get several copies of their body, so that the loads of several iterations can be on their
// way at once.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>

namespace regatta::passes {

struct UnrollOptions {
  unsigned longest = 0;  ///< instructions of all copies together
  unsigned copies = 4;   ///< of a body whose trip count is not known when the code is compiled
};

/// Unrolls the loops of one block that count by a number to a bound that stays, and have no barrier. One whose trip
/// count is known and small loses its branch; of others, the copies run while enough iterations are left, and the loop
/// itself does the rest, unless lanes work together in it (shuffles, votes) and may not all run it equally often.
/// Returns the number of loops. Edges are built before and after.
std::uint32_t unroll_loops(ir::Function& f, const UnrollOptions& options);

}  // namespace regatta::passes
