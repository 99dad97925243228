// SPDX-License-Identifier: Apache-2.0
//
// Definitions that may run with only some of a warp's lanes while other lanes still need the old value
// (RegLess, MICRO 2017, algorithm 2, section 4.4), and the liveness of warp registers that follows.
#pragma once

#include <regatta/analysis/dominators.h>
#include <regatta/analysis/liveness.h>

#include <memory>

namespace regatta::analysis {

/// Lanes of which blocks count as still needing a register while a sibling block defines it.
enum class WaitingLanes : std::uint8_t {
  /// Those yet to enter a sibling block, by the algorithm as printed: a dominator that is followed by any
  /// post-dominator
  /// of its own which also dominates the definition is left out. Wrong in loops, whose header is such a one.
  printed,
  at_siblings,  ///< the same with the test for reconvergence mended
  /// and those that ran a sibling already and wait at the reconvergence point. The printed algorithm leaves them
  /// out, so when both sides of a branch define r, neither definition is soft, though the second one to run must
  /// not disturb the lanes of the first. A model whose storage merges partial writes does not need this.
  at_siblings_and_reconvergence,
};

/// A definition of r in block B is soft when some strict dominator D of B has a successor that does not
/// dominate B and into which r is live, and control has not reconverged in between. The printed test for the
/// latter (a post-dominator of D dominates B) also accepts a loop header that dominates D, which separates
/// nothing; here the reconvergence block must lie strictly below D: D sdom X, X pdom D, X dom B.
/// The test needs liveness and liveness needs the test: both are iterated to their common fixed point.
class SoftDefinitions {
 public:
  SoftDefinitions(const ir::Function& f, const Cfg& cfg, const Dominators& dominators,
                  const PostDominators& post_dominators, WaitingLanes rule = WaitingLanes::at_siblings);

  /// Whether an unguarded definition of the variable in the block is soft. Guarded ones always are.
  bool soft_in_block(std::uint32_t block, std::uint32_t variable) const { return soft_[block].test(variable); }
  /// Whether the definition of a variable by this instruction leaves the old value needed: a guarded
  /// definition, or one that is soft in its block.
  bool is_soft(std::uint32_t block, std::size_t index, std::uint32_t variable) const;
  const std::vector<BitSet>& soft() const { return soft_; }
  /// What lanes that wait elsewhere need while the block runs, as far as the rule sees them.
  const BitSet& needed_by_waiting(std::uint32_t block) const { return needed_[block]; }
  /// Liveness in which soft and guarded definitions do not kill.
  const Liveness& liveness() const { return *liveness_; }

 private:
  const ir::Function* function_;
  std::vector<BitSet> soft_, needed_;
  std::unique_ptr<Liveness> liveness_;
};

}  // namespace regatta::analysis
