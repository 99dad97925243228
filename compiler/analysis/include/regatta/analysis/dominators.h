// SPDX-License-Identifier: Apache-2.0
//
// Dominance and post-dominance (Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm, 2001).
#pragma once

#include <regatta/analysis/cfg.h>

namespace regatta::analysis {

/// The dominator tree of any graph from `root`. Nodes that root does not reach dominate nothing and are
/// dominated by nothing, themselves included.
class Dominators {
 public:
  Dominators(const Graph& g, std::uint32_t root);

  /// Immediate dominator; -1 for the root and for unreachable nodes.
  std::int32_t immediate(std::uint32_t node) const { return immediate_[node]; }
  bool reachable(std::uint32_t node) const { return leave_[node] != 0; }
  /// Whether every path from the root to b passes a; true for a == b. Constant time.
  bool dominates(std::uint32_t a, std::uint32_t b) const {
    return enter_[a] <= enter_[b] && leave_[b] <= leave_[a] && reachable(a) && reachable(b);
  }
  bool strictly_dominates(std::uint32_t a, std::uint32_t b) const { return a != b && dominates(a, b); }
  const std::vector<std::uint32_t>& children(std::uint32_t node) const { return children_[node]; }
  std::uint32_t root() const { return root_; }

 private:
  std::uint32_t root_;
  std::vector<std::int32_t> immediate_;
  std::vector<std::vector<std::uint32_t>> children_;
  std::vector<std::uint32_t> enter_, leave_;  // tree interval numbering; leave 0 is unreachable
};

/// Post-dominators of a control-flow graph, with a virtual exit after every block that has no successor. A
/// region that cannot leave (an endless loop) gets one extra edge to the virtual exit, from its block that
/// comes last in reverse post-order, so that every reachable block has an answer.
/// Lanes that a branch has split meet at its immediate post-dominator in the graph without early exits
/// (FunctionAnalyses::reconvergence()).
class PostDominators {
 public:
  explicit PostDominators(const Cfg& cfg);

  /// Immediate post-dominator, -1: the exit.
  std::int32_t immediate(std::uint32_t block) const { return immediate_[block]; }
  const std::vector<std::int32_t>& immediate() const { return immediate_; }
  /// Whether every path from b to the exit passes a; true for a == b.
  bool post_dominates(std::uint32_t a, std::uint32_t b) const { return tree_.dominates(a, b); }
  bool strictly_post_dominates(std::uint32_t a, std::uint32_t b) const { return tree_.strictly_dominates(a, b); }

 private:
  Dominators tree_;
  std::vector<std::int32_t> immediate_;
};

}  // namespace regatta::analysis
