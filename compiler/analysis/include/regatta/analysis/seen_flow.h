// SPDX-License-Identifier: Apache-2.0
//
// What the execution of a kernel shows of its control flow, where no compiler says how lanes meet again.
#pragma once

#include <cstdint>
#include <vector>

namespace regatta::analysis {

/// Of all warps of a trace. Blocks are those of the function that is analysed.
struct SeenFlow {
  /// Lanes stood in front of instruction `position` of block `place`, on the SIMT stack, while block `running` ran.
  struct Wait {
    std::uint32_t running = 0;
    std::uint32_t place = 0;
    std::uint32_t position = 0;
  };
  std::vector<Wait> waits;  ///< each once
  /// Per block, the blocks that a warp ran next, with whichever lanes. Ascending, each named once.
  std::vector<std::vector<std::uint32_t>> next;
};

}  // namespace regatta::analysis
