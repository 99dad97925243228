// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/cfg.h>

#include <algorithm>

namespace regatta::analysis {

void Graph::add_edge(std::uint32_t from, std::uint32_t to) {
  auto& out = successors[from];
  if (std::find(out.begin(), out.end(), to) != out.end()) return;
  out.push_back(to);
  predecessors[to].push_back(from);
}

std::vector<std::uint32_t> reverse_post_order(const Graph& g, std::uint32_t root) {
  std::vector<std::uint32_t> order;
  if (root >= g.size()) return order;
  std::vector<bool> seen(g.size(), false);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{root, 0}};
  seen[root] = true;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next < g.successors[node].size()) {
      const std::uint32_t child = g.successors[node][next++];
      if (!seen[child]) {
        seen[child] = true;
        stack.emplace_back(child, 0);
      }
    } else {
      order.push_back(node);
      stack.pop_back();
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

void Graph::remove_edge(std::uint32_t from, std::uint32_t to) {
  const auto remove = [](std::vector<std::uint32_t>& list, std::uint32_t node) {
    list.erase(std::remove(list.begin(), list.end(), node), list.end());
  };
  remove(successors[from], to);
  remove(predecessors[to], from);
}

namespace {

Graph edges_of(const ir::Function& f) {
  Graph g(f.blocks.size());
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
    for (std::uint32_t s : f.blocks[b].successors) g.add_edge(b, s);
  return g;
}

}  // namespace

Cfg::Cfg(const ir::Function& f) : Cfg(edges_of(f)) {}

Cfg::Cfg(Graph graph) : graph_(std::move(graph)), reachable_(graph_.size(), false) {
  order_ = analysis::reverse_post_order(graph_, 0);
  for (std::uint32_t b : order_) reachable_[b] = true;
}

}  // namespace regatta::analysis
