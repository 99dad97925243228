// SPDX-License-Identifier: Apache-2.0
//
// Sets the exits of a kernel aside one after the other, by the order of reconvergence.h.
#pragma once

#include <regatta/analysis/loops.h>

#include <cstdint>
#include <vector>

namespace regatta::analysis {

struct Edge {
  std::uint32_t from = 0, to = 0;
  bool operator==(const Edge& o) const { return from == o.from && to == o.to; }
};

/// What the order of the exits depends on.
struct ExitFacts {
  std::vector<std::size_t> instructions;  ///< per node
  std::vector<bool> has_barrier;          ///< per node
  /// Per loop, the edges that leave it from a block that every turn passes.
  std::vector<std::vector<Edge>> regular_ways_out;
};

ExitFacts exit_facts(const ir::Function& f, const Cfg& cfg, const Dominators& dominators, const Loops& loops);

class ExitElimination {
 public:
  struct Removed {
    std::uint32_t exit = 0;
    std::vector<Edge> edges;  ///< that entered its tail
  };

  /// The entry of `graph` is node 0. Runs until one exit is left.
  ExitElimination(Graph graph, ExitFacts facts);

  /// Without the edges that no longer count.
  const Graph& graph() const { return graph_; }
  /// In the order in which they were set aside.
  const std::vector<Removed>& removed() const { return removed_; }
  /// The exit that is left, -1: the kernel has none.
  std::int32_t last() const { return exits_.empty() ? -1 : static_cast<std::int32_t>(exits_.front()); }

 private:
  struct Tail {
    std::size_t instructions = 0;
    bool has_barrier = false;
    unsigned ways_in = 0;  ///< an edge out of a loop counts twice: it may be taken in different turns
    std::vector<Edge> edges;
  };

  void find_tails();
  bool closes_a_loop(const Tail& tail) const;
  void set_one_aside();

  Graph graph_;
  ExitFacts facts_;
  std::vector<std::uint32_t> order_;  ///< of the nodes that the entry reaches
  std::vector<bool> reachable_, in_cycle_;
  std::vector<std::uint32_t> exits_;      ///< that count
  std::vector<std::uint32_t> only_exit_;  ///< per node, the only exit that it reaches
  std::vector<Removed> removed_;
};

}  // namespace regatta::analysis
