// SPDX-License-Identifier: Apache-2.0
//
// Where lanes of a warp wait while others run, whatever the shape of the control flow. After a branch one side runs up
// to the branch's immediate post-dominator; lanes wait at the other sides and at the post-dominator meanwhile.
#pragma once

#include <regatta/trace/kernel.h>

#include <cstdint>
#include <vector>

namespace regatta::trace {

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

/// The blocks before each block, ascending; a block that branches to one block twice is named once.
std::vector<std::vector<std::uint32_t>> predecessors_of(const Kernel& kernel);

}  // namespace regatta::trace
