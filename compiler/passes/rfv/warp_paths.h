// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/analysis/function_analyses.h>

#include <cstdint>
#include <vector>

namespace regatta::passes {

/// Per block, the blocks that a warp may run next. Beyond the edges of the control flow, a warp goes from the end of
/// one side of a divergent branch, or from an exit in it, to the start of another side or to where the sides meet. All
/// branches count as divergent, and their sides run in any order.
std::vector<std::vector<std::uint32_t>> warp_successors(analysis::FunctionAnalyses& analyses);

}  // namespace regatta::passes
