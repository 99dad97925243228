// SPDX-License-Identifier: Apache-2.0
#include "exit_elimination.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace regatta::analysis {

namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max(), several = none - 1;

/// Per node, whether a path leads from it back to it. `order` names the nodes to look at.
std::vector<bool> nodes_in_cycles(const Graph& g, const std::vector<std::uint32_t>& order) {
  // Strongly connected components (Kosaraju): against the edges, in the order in which the forward search left.
  std::vector<bool> in_cycle(g.size(), false), seen(g.size(), true);
  for (const std::uint32_t n : order) seen[n] = false;
  for (const std::uint32_t root : order) {
    if (seen[root]) continue;
    std::vector<std::uint32_t> component{root};
    seen[root] = true;
    for (std::size_t next = 0; next < component.size(); ++next)
      for (const std::uint32_t p : g.predecessors[component[next]])
        if (!seen[p]) {
          seen[p] = true;
          component.push_back(p);
        }
    const auto& self = g.successors[root];
    const bool loops = component.size() > 1 || std::find(self.begin(), self.end(), root) != self.end();
    for (const std::uint32_t n : component) in_cycle[n] = loops;
  }
  return in_cycle;
}

/// Per loop, the edges that leave it from a block that every turn passes.
std::vector<std::vector<Edge>> regular_ways_out(const Cfg& cfg, const Dominators& dominators, const Loops& loops) {
  std::vector<std::vector<Edge>> ways;
  for (const Loop& loop : loops.loops()) {
    std::vector<Edge>& out = ways.emplace_back();
    loop.blocks.for_each([&](std::uint32_t b) {
      for (const std::uint32_t p : cfg.predecessors(loop.header))
        if (loop.blocks.test(p) && !dominators.dominates(b, p)) return;
      for (const std::uint32_t s : cfg.successors(b))
        if (!loop.blocks.test(s)) out.push_back({b, s});
    });
  }
  return ways;
}

}  // namespace

ExitFacts exit_facts(const ir::Function& f, const Cfg& cfg, const Dominators& dominators, const Loops& loops) {
  ExitFacts facts;
  for (const ir::Block& b : f.blocks) {
    facts.instructions.push_back(b.instructions.size());
    facts.has_barrier.push_back(std::any_of(b.instructions.begin(), b.instructions.end(),
                                            [](const ir::Instruction& i) { return i.op == ir::Opcode::bar; }));
  }
  facts.regular_ways_out = regular_ways_out(cfg, dominators, loops);
  return facts;
}

ExitElimination::ExitElimination(Graph graph, ExitFacts facts)
    : graph_(std::move(graph)),
      facts_(std::move(facts)),
      order_(reverse_post_order(graph_, 0)),
      reachable_(graph_.size(), false),
      in_cycle_(nodes_in_cycles(graph_, order_)),
      only_exit_(graph_.size()) {
  for (const std::uint32_t n : order_) reachable_[n] = true;
  for (std::uint32_t n = 0; n < graph_.size(); ++n)
    if (reachable_[n] && graph_.successors[n].empty()) exits_.push_back(n);
  // With several exits, the entry reaches several of them: no path to an exit leads through another one's tail.
  while (exits_.size() > 1) set_one_aside();
}

void ExitElimination::find_tails() {
  std::fill(only_exit_.begin(), only_exit_.end(), none);
  std::vector<std::uint32_t> work;
  const auto reaches = [&](std::uint32_t node, std::uint32_t exit) {
    std::uint32_t& now = only_exit_[node];
    if (now == exit || now == several) return;
    now = now == none ? exit : several;
    work.push_back(node);
  };
  for (const std::uint32_t exit : exits_) {
    reaches(exit, exit);
    while (!work.empty()) {
      const std::uint32_t node = work.back();
      work.pop_back();
      const std::uint32_t found = only_exit_[node];
      for (const std::uint32_t p : graph_.predecessors[node]) {
        if (!reachable_[p]) continue;
        if (found != several) {
          reaches(p, found);
        } else if (only_exit_[p] != several) {
          only_exit_[p] = several;
          work.push_back(p);
        }
      }
    }
  }
}

bool ExitElimination::closes_a_loop(const Tail& tail) const {
  return std::any_of(facts_.regular_ways_out.begin(), facts_.regular_ways_out.end(),
                     [&](const std::vector<Edge>& ways) {
                       return !ways.empty() && std::all_of(ways.begin(), ways.end(), [&](const Edge& e) {
                         return std::find(tail.edges.begin(), tail.edges.end(), e) != tail.edges.end();
                       });
                     });
}

void ExitElimination::set_one_aside() {
  find_tails();
  std::vector<Tail> tails(graph_.size());
  for (const std::uint32_t n : order_) {
    const std::uint32_t exit = only_exit_[n];
    if (exit == none || exit == several) continue;
    Tail& t = tails[exit];
    t.instructions += facts_.instructions[n];
    t.has_barrier = t.has_barrier || facts_.has_barrier[n];
    for (const std::uint32_t p : graph_.predecessors[n]) {
      if (!reachable_[p] || only_exit_[p] == exit) continue;
      t.edges.push_back({p, n});
      t.ways_in += in_cycle_[p] ? 2 : 1;
    }
  }
  const auto rank = [&](std::uint32_t exit) {
    const Tail& t = tails[exit];
    return std::make_tuple(t.has_barrier, closes_a_loop(t), t.ways_in > 1, t.instructions, exit);
  };
  const auto least = std::min_element(exits_.begin(), exits_.end(),
                                      [&](std::uint32_t a, std::uint32_t b) { return rank(a) < rank(b); });
  for (const Edge& e : tails[*least].edges) {
    graph_.remove_edge(e.from, e.to);
    for (std::vector<Edge>& ways : facts_.regular_ways_out)
      ways.erase(std::remove(ways.begin(), ways.end(), e), ways.end());
  }
  removed_.push_back({*least, std::move(tails[*least].edges)});
  exits_.erase(least);
}

}  // namespace regatta::analysis
