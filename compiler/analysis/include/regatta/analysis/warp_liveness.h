// SPDX-License-Identifier: Apache-2.0
//
// Liveness of whole warp registers: a register is live where any lane of the warp, running or waiting on the SIMT
// stack, may still read the value it holds in that lane. RegLess (MICRO 2017), section 4.4, has soft definitions for
// this; see LaneRule for what they miss.
#pragma once

#include <regatta/analysis/dominators.h>
#include <regatta/analysis/liveness.h>
#include <regatta/analysis/seen_flow.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace regatta::analysis {

/// How the lanes are found that wait while a block runs.
enum class LaneRule : std::uint8_t {
  /// By the reconvergence discipline itself. After a branch that ends D splits a warp, one side runs until it comes to
  /// D's immediate post-dominator J; meanwhile lanes wait at the other successors of D and at J. So every block that a
  /// successor of D reaches without passing J has lanes waiting there. Each lane needs what liveness of a single thread
  /// says for the place where it is; nothing else can be read, and nothing that can be read is left out, whatever the
  /// shape of the control flow.
  every_path,
  /// Soft definitions (algorithm 2) as printed. Loses lanes in loops, on diamonds of which both sides define, and in
  /// unstructured control flow, where the branch does not dominate the definition.
  printed,
  /// Algorithm 2 with its test for reconvergence mended: right in loops, not in the other two cases.
  printed_mended,
};

class WarpLiveness {
 public:
  WarpLiveness(const ir::Function& f, const Cfg& cfg, const Dominators& dominators,
               const PostDominators& post_dominators, LaneRule rule = LaneRule::every_path);

  /// Adds what lanes need where they were seen to wait: they may have waited where the reconvergence discipline of
  /// LaneRule::every_path has no lane wait.
  void add_waits(const SeenFlow& seen);

  /// What the lanes on the path that runs need.
  const Liveness& running() const { return *running_; }
  /// What lanes that wait elsewhere need at any time while the block runs.
  const BitSet& waiting(std::uint32_t block) const { return waiting_[block]; }
  /// Both, at the block's borders.
  BitSet live_in(std::uint32_t block) const { return with_waiting(running_->live_in(block), block); }
  BitSet live_out(std::uint32_t block) const { return with_waiting(running_->live_out(block), block); }

 private:
  void follow_paths(const Cfg& cfg, const PostDominators& post_dominators);
  BitSet with_waiting(const BitSet& live, std::uint32_t block) const {
    BitSet all = live;
    all.merge(waiting_[block]);
    return all;
  }

  std::unique_ptr<Liveness> running_;
  std::vector<BitSet> waiting_;
};

}  // namespace regatta::analysis
