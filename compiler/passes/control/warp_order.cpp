// SPDX-License-Identifier: Apache-2.0
#include "warp_order.h"

#include <regatta/trace/divergent_paths.h>

#include <algorithm>

namespace regatta::passes {

namespace {

using Blocks = std::vector<std::uint32_t>;

void name_once(Blocks& blocks) {
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
}

bool leaves(const trace::Kernel& kernel, std::uint32_t block) {
  const trace::BasicBlock& b = kernel.blocks[block];
  return b.count != 0 && kernel.instructions[b.first + b.count - 1].op_class == trace::OpClass::exit;
}

bool has_edge(const trace::Kernel& kernel, std::uint32_t block, std::int32_t to) {
  const Blocks& successors = kernel.blocks[block].successors;
  return std::any_of(successors.begin(), successors.end(),
                     [&](std::uint32_t s) { return to >= 0 && s == static_cast<std::uint32_t>(to); });
}

}  // namespace

WarpOrder::WarpOrder(const trace::Kernel& kernel) : previous(kernel.blocks.size()) {
  for (const trace::BasicBlock& b : kernel.blocks) next.push_back(b.successors);
  for (const trace::DivergentBranch& branch : trace::divergent_branches(kernel)) {
    const std::uint32_t fall_through = branch.block + 1;
    for (std::size_t s = 0; s < branch.sides.size(); ++s) {
      // Lanes wait at the taken side, unless this is it or the sides meet there; then at the join.
      std::int32_t waiting = branch.join;
      if (branch.sides[s] == fall_through)
        for (const std::uint32_t side : branch.sides)
          if (side != fall_through) waiting = static_cast<std::int32_t>(side);
      if (waiting < 0) continue;
      for (const std::uint32_t b : branch.run[s])
        if (leaves(kernel, b) || has_edge(kernel, b, branch.join))
          next[b].push_back(static_cast<std::uint32_t>(waiting));
    }
  }
  for (Blocks& n : next) name_once(n);
  for (std::uint32_t b = 0; b < next.size(); ++b)
    for (const std::uint32_t n : next[b]) previous[n].push_back(b);
}

}  // namespace regatta::passes
