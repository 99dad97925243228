// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/dominators.h>

namespace regatta::analysis {

Dominators::Dominators(const Graph& g, std::uint32_t root)
    : root_(root), immediate_(g.size(), -1), children_(g.size()), enter_(g.size(), 0), leave_(g.size(), 0) {
  const std::vector<std::uint32_t> order = reverse_post_order(g, root);
  if (order.empty()) return;
  constexpr std::uint32_t unset = ~0u;
  std::vector<std::uint32_t> number(g.size(), unset);
  for (std::uint32_t i = 0; i < order.size(); ++i) number[order[i]] = i;

  // Works on order numbers, where an immediate dominator is always smaller than its node.
  std::vector<std::uint32_t> dom(order.size(), unset);
  dom[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t i = 1; i < order.size(); ++i) {
      std::uint32_t best = unset;
      for (std::uint32_t p : g.predecessors[order[i]]) {
        std::uint32_t a = number[p];
        if (a == unset || dom[a] == unset) continue;
        if (best == unset) {
          best = a;
          continue;
        }
        while (a != best) {
          while (a > best) a = dom[a];
          while (best > a) best = dom[best];
        }
      }
      if (dom[i] != best) {
        dom[i] = best;
        changed = true;
      }
    }
  }
  for (std::uint32_t i = 1; i < order.size(); ++i) {
    immediate_[order[i]] = static_cast<std::int32_t>(order[dom[i]]);
    children_[order[dom[i]]].push_back(order[i]);
  }

  std::uint32_t clock = 0;
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{root, 0}};
  enter_[root] = ++clock;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next < children_[node].size()) {
      const std::uint32_t child = children_[node][next++];
      enter_[child] = ++clock;
      stack.emplace_back(child, 0);
    } else {
      leave_[node] = ++clock;
      stack.pop_back();
    }
  }
}

namespace {

Graph reversed_with_exit(const Cfg& cfg) {
  const auto exit = static_cast<std::uint32_t>(cfg.size());
  Graph g(cfg.size() + 1);
  std::vector<bool> leaves(cfg.size(), false);  // reaches the virtual exit
  std::vector<std::uint32_t> work;
  const auto connect = [&](std::uint32_t b) {
    g.add_edge(exit, b);
    if (leaves[b]) return;
    leaves[b] = true;
    work.push_back(b);
    while (!work.empty()) {
      const std::uint32_t n = work.back();
      work.pop_back();
      for (std::uint32_t p : cfg.predecessors(n))
        if (!leaves[p]) {
          leaves[p] = true;
          work.push_back(p);
        }
    }
  };
  for (std::uint32_t b = 0; b < cfg.size(); ++b) {
    for (std::uint32_t s : cfg.successors(b)) g.add_edge(s, b);
    if (cfg.successors(b).empty()) connect(b);
  }
  const auto& order = cfg.reverse_post_order();
  for (auto b = order.rbegin(); b != order.rend(); ++b)
    if (!leaves[*b]) connect(*b);
  for (std::uint32_t b = 0; b < cfg.size(); ++b)  // unreachable endless code
    if (!leaves[b]) connect(b);
  return g;
}

}  // namespace

PostDominators::PostDominators(const Cfg& cfg)
    : tree_(reversed_with_exit(cfg), static_cast<std::uint32_t>(cfg.size())), immediate_(cfg.size(), -1) {
  const auto exit = static_cast<std::int32_t>(cfg.size());
  for (std::uint32_t b = 0; b < cfg.size(); ++b)
    if (tree_.immediate(b) != exit) immediate_[b] = tree_.immediate(b);
}

}  // namespace regatta::analysis
