// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/dominators.h>
#include <regatta/passes/sharing.h>

#include <algorithm>

namespace regatta::passes {

namespace {

using trace::RelsspPoint;

/// The blocks as a thread passes them, with one exit node behind all exits.
class ReleaseGraph {
 public:
  ReleaseGraph(const trace::Kernel& kernel, const std::vector<bool>& common)
      : kernel_(kernel), graph_(kernel.blocks.size() + 1), last_access_(kernel.blocks.size(), -1) {
    for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b) {
      const trace::BasicBlock& block = kernel.blocks[b];
      for (std::uint32_t i = block.first; i < block.first + block.count; ++i)
        if (common[i]) last_access_[b] = static_cast<std::int32_t>(i);
      for (const std::uint32_t s : block.successors) graph_.add_edge(b, s);
      if (last(b).op_class == trace::OpClass::exit) graph_.add_edge(b, exit());
    }
    solve();
  }

  std::uint32_t blocks() const { return static_cast<std::uint32_t>(kernel_.blocks.size()); }
  std::uint32_t exit() const { return blocks(); }
  const analysis::Graph& graph() const { return graph_; }
  bool safe_in(std::uint32_t node) const { return safe_in_[node]; }
  bool safe_out(std::uint32_t node) const { return safe_out_[node]; }
  bool has_access(std::uint32_t b) const { return last_access_[b] >= 0; }
  std::uint32_t first(std::uint32_t b) const { return kernel_.blocks[b].first; }
  std::uint32_t last_index(std::uint32_t b) const { return first(b) + kernel_.blocks[b].count - 1; }
  const trace::StaticInstruction& last(std::uint32_t b) const { return kernel_.instructions[last_index(b)]; }

  /// Whether the block has one way in only. The kernel's start is one to the first block.
  bool has_one_way_in(std::uint32_t b) const { return graph_.predecessors[b].size() + (b == 0 ? 1 : 0) == 1; }

  /// Behind the last common access of the block.
  RelsspPoint behind_access(std::uint32_t b) const {
    const auto access = static_cast<std::uint32_t>(last_access_[b]);
    // An access that ends its block falls through, maybe to a block with other ways in.
    const bool on_edge = access == last_index(b) && !has_one_way_in(b + 1);
    return {access + 1, on_edge ? last_access_[b] : -1, false};
  }

  /// On the edge from `from` to `to`.
  RelsspPoint on_edge(std::uint32_t from, std::uint32_t to) const {
    if (has_one_way_in(to)) return {first(to), -1, false};
    // The code of a split edge lies between the two blocks if the second follows the first, else elsewhere.
    const bool falls_through = first(to) == last_index(from) + 1;
    return {first(to), static_cast<std::int32_t>(last_index(from)), !falls_through};
  }

 private:
  /// SafeIN and SafeOUT of section 3.2.3: the greatest solution, so that a loop is safe unless an access follows.
  void solve() {
    safe_in_.assign(graph_.size(), true);
    safe_out_.assign(graph_.size(), true);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t b = blocks(); b-- > 0;) {
        bool out = true;
        for (const std::uint32_t s : graph_.successors[b]) out = out && safe_in_[s];
        const bool in = out && !has_access(b);
        changed |= in != safe_in_[b] || out != safe_out_[b];
        safe_in_[b] = in;
        safe_out_[b] = out;
      }
    }
  }

  const trace::Kernel& kernel_;
  analysis::Graph graph_;
  std::vector<std::int32_t> last_access_;  ///< static index per block, -1: no common access
  std::vector<bool> safe_in_, safe_out_;
};

void sort_points(std::vector<RelsspPoint>& points) {
  std::stable_sort(points.begin(), points.end(),
                   [](const RelsspPoint& a, const RelsspPoint& b) { return a.before < b.before; });
}

/// Whether a thread can come back to the block.
bool is_in_cycle(const analysis::Graph& graph, std::uint32_t block) {
  std::vector<bool> seen(graph.size());
  std::vector<std::uint32_t> work{block};
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    for (const std::uint32_t s : graph.successors[b]) {
      if (s == block) return true;
      if (!seen[s]) work.push_back(s);
      seen[s] = true;
    }
  }
  return false;
}

}  // namespace

std::vector<RelsspPoint> place_relssp_optimal(const trace::Kernel& kernel, const std::vector<bool>& common) {
  std::vector<RelsspPoint> points;
  if (kernel.blocks.empty()) return points;
  const ReleaseGraph g(kernel, common);
  if (g.safe_in(0)) {
    if (g.has_one_way_in(0)) points.push_back({0, -1, false});
    return points;
  }
  for (const std::uint32_t b : analysis::reverse_post_order(g.graph(), 0)) {
    if (b == g.exit()) continue;
    // Equation 3.1.
    if (g.safe_out(b) && !g.safe_in(b)) points.push_back(g.behind_access(b));
    // Equation 3.2, on the edges: after critical edges are split, each insertion at the entry of a block is on one.
    if (g.safe_out(b)) continue;
    for (const std::uint32_t s : g.graph().successors[b])
      if (s != g.exit() && g.safe_in(s)) points.push_back(g.on_edge(b, s));
  }
  sort_points(points);
  return points;
}

std::vector<RelsspPoint> place_relssp_postdom(const trace::Kernel& kernel, const std::vector<bool>& common) {
  std::vector<RelsspPoint> points;
  if (kernel.blocks.empty()) return points;
  const ReleaseGraph g(kernel, common);
  const analysis::Dominators dominators(g.graph(), 0);
  // Blocks on every path to the exit, the last one first.
  std::vector<std::uint32_t> chain;
  if (dominators.reachable(g.exit()))
    for (std::int32_t b = dominators.immediate(g.exit()); b >= 0;
         b = dominators.immediate(static_cast<std::uint32_t>(b)))
      chain.push_back(static_cast<std::uint32_t>(b));
  for (auto b = chain.rbegin(); b != chain.rend(); ++b) {
    if (!g.safe_out(*b) || is_in_cycle(g.graph(), *b)) continue;
    return {g.has_access(*b) ? g.behind_access(*b) : RelsspPoint{g.first(*b), -1, false}};
  }
  for (std::uint32_t b = 0; b < g.blocks(); ++b)
    if (dominators.reachable(b) && g.last(b).op_class == trace::OpClass::exit && g.last(b).guard.predicate < 0)
      points.push_back({g.last_index(b), -1, false});
  sort_points(points);
  return points;
}

}  // namespace regatta::passes
