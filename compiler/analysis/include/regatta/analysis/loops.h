// SPDX-License-Identifier: Apache-2.0
//
// Natural loops: what a spill or a copy inside one costs more.
#pragma once

#include <regatta/analysis/bit_set.h>
#include <regatta/analysis/dominators.h>

namespace regatta::analysis {

/// A natural loop; back edges to one header make one loop.
struct Loop {
  std::uint32_t header = 0;
  std::int32_t parent = -1;  ///< index of the innermost enclosing loop, -1 none
  std::uint32_t depth = 1;   ///< 1: outermost
  BitSet blocks;             ///< header included
};

/// Cycles without a dominating header (irreducible control flow) are not loops here.
class Loops {
 public:
  Loops(const Cfg& cfg, const Dominators& dominators);

  /// Outer loops before the loops they hold.
  const std::vector<Loop>& loops() const { return loops_; }
  /// Number of loops around a block.
  std::uint32_t depth(std::uint32_t block) const { return depth_[block]; }
  /// Index of the innermost loop around a block, -1 none.
  std::int32_t innermost(std::uint32_t block) const { return innermost_[block]; }

 private:
  std::vector<Loop> loops_;
  std::vector<std::uint32_t> depth_;
  std::vector<std::int32_t> innermost_;
};

}  // namespace regatta::analysis
