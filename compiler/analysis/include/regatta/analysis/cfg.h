// SPDX-License-Identifier: Apache-2.0
//
// A function's blocks as a plain directed graph, with the visiting order that forward analyses want.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>
#include <vector>

namespace regatta::analysis {

/// A directed graph over nodes 0..size()-1; parallel edges are kept once.
struct Graph {
  std::vector<std::vector<std::uint32_t>> successors;
  std::vector<std::vector<std::uint32_t>> predecessors;

  explicit Graph(std::size_t nodes = 0) : successors(nodes), predecessors(nodes) {}
  std::size_t size() const { return successors.size(); }
  void add_edge(std::uint32_t from, std::uint32_t to);
  void remove_edge(std::uint32_t from, std::uint32_t to);
};

/// Reverse post-order of the nodes that `root` reaches, root first.
std::vector<std::uint32_t> reverse_post_order(const Graph& g, std::uint32_t root);

/// The control-flow graph of a function whose edges are built; the entry is block 0. A guarded exit is no edge:
/// lanes that leave never reconverge with the others, which go on to the next block.
class Cfg {
 public:
  explicit Cfg(const ir::Function& f);
  /// Any graph whose entry is node 0.
  explicit Cfg(Graph graph);

  std::size_t size() const { return graph_.size(); }
  const Graph& graph() const { return graph_; }
  const std::vector<std::uint32_t>& successors(std::uint32_t b) const { return graph_.successors[b]; }
  const std::vector<std::uint32_t>& predecessors(std::uint32_t b) const { return graph_.predecessors[b]; }
  /// Blocks reachable from the entry, entry first.
  const std::vector<std::uint32_t>& reverse_post_order() const { return order_; }
  bool reachable(std::uint32_t b) const { return reachable_[b]; }

 private:
  Graph graph_;
  std::vector<std::uint32_t> order_;
  std::vector<bool> reachable_;
};

}  // namespace regatta::analysis
