// SPDX-License-Identifier: Apache-2.0
//
// The order in which a warp comes to blocks, with the fall-through side of a divergent branch first.
#pragma once

#include <regatta/trace/kernel.h>

#include <cstdint>
#include <vector>

namespace regatta::passes {

/// Beyond the edges of the control flow, a warp goes from the end of the fall-through side, or from an exit in it, to
/// the taken side; and from an exit to the point where the sides meet. trace::warp_successors() leaves the order of the
/// sides open. Its graph therefore has cycles that no loop of the program causes, and a load in one side would have to
/// wait for itself.
struct WarpOrder {
  explicit WarpOrder(const trace::Kernel& kernel);

  /// Per block, ascending, each block named once.
  std::vector<std::vector<std::uint32_t>> next, previous;
};

}  // namespace regatta::passes
