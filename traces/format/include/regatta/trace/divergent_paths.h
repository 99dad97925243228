// SPDX-License-Identifier: Apache-2.0
//
// The paths of a warp through divergent control flow, whatever its shape. After a branch one side runs up to the
// branch's immediate post-dominator; lanes wait at the other sides and at the post-dominator meanwhile.
#pragma once

#include <regatta/trace/kernel.h>

#include <cstdint>
#include <vector>

namespace regatta::trace {

/// A branch at which the lanes of a warp may part ways.
struct DivergentBranch {
  std::uint32_t block = 0;  ///< which ends with the branch
  std::int32_t join = -1;   ///< where all sides meet: the immediate post-dominator; -1: they end the kernel
  /// The successors, ascending, each named once: at least two. One of them may be the join.
  std::vector<std::uint32_t> sides;
  /// Per side: the blocks that its lanes may run before they meet the others, ascending. Empty for the join.
  std::vector<std::vector<std::uint32_t>> run;
};

/// The branches of a kernel with more than one side, in the order of their blocks; all count as divergent.
std::vector<DivergentBranch> divergent_branches(const Kernel& kernel);

/// Where lanes wait while others run.
class DivergentPaths {
 public:
  /// Lanes of `to` may wait there while blocks `others` run, if they came from one of the blocks `from`.
  struct Wait {
    std::uint32_t to = 0;
    std::vector<std::uint32_t> from;
    std::vector<std::uint32_t> others;  ///< ascending
  };

  explicit DivergentPaths(const Kernel& kernel);

  const std::vector<Wait>& waits() const { return waits_; }
  /// Of the edge from a block to one of its successors: indices in waits().
  std::vector<std::uint32_t> of_edge(std::uint32_t from, std::uint32_t to) const;
  /// Of all edges to a block.
  const std::vector<std::uint32_t>& at_block(std::uint32_t to) const { return at_block_[to]; }

 private:
  std::vector<Wait> waits_;
  std::vector<std::vector<std::uint32_t>> at_block_;
};

/// Per block, the blocks that a warp may run next. Beyond the edges of the control flow, a warp goes from the end of
/// one side of a divergent branch, or from an exit in it, to the start of another side or to where the sides meet. The
/// sides run in any order. Ascending, each block named once. Branches that the kernel never comes to count too.
std::vector<std::vector<std::uint32_t>> warp_successors(const Kernel& kernel);

/// The blocks before each block, ascending; a block that branches to one block twice is named once.
std::vector<std::vector<std::uint32_t>> predecessors_of(const Kernel& kernel);

}  // namespace regatta::trace
