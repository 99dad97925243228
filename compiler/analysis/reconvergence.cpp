// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/reconvergence.h>

#include "exit_elimination.h"

#include <algorithm>
#include <map>

namespace regatta::analysis {

namespace {

/// Ends with more ways in are left alone: each way takes an analysis of the whole graph.
constexpr std::size_t most_ways = 64;

/// Compilers merge returns that end alike, with the end of the kernel too. Lanes that come there early need not be
/// waited for, so the ways into the last exit are looked at as exits of their own.
class MergedEnds {
 public:
  MergedEnds(const Cfg& cfg, const ExitFacts& facts, Graph graph, std::uint32_t end)
      : cfg_(cfg), facts_(facts), graph_(std::move(graph)), end_(end) {
    for (const std::uint32_t p : graph_.predecessors[end_])
      if (is_reached(p)) ways_.push_back(p);
    std::sort(ways_.begin(), ways_.end());
  }

  Graph run() {
    if (ways_.size() < 2 || ways_.size() > most_ways || facts_.has_barrier[end_]) return std::move(graph_);
    set_all_but_one_aside();
    if (aside_.empty()) return std::move(graph_);
    keep_what_does_no_harm();
    keep_what_passes_a_join();
    return std::move(graph_);
  }

 private:
  struct Way {
    std::uint32_t from = 0;
    std::vector<Edge> edges;  ///< that lead there, and to nothing else
  };
  struct Joins {
    std::vector<std::int32_t> at;
    std::vector<bool> is_met;  ///< from several sides
  };

  bool is_reached(std::uint32_t block) {
    if (reached_.empty()) {
      reached_.assign(graph_.size(), false);
      for (const std::uint32_t b : reverse_post_order(graph_, 0)) reached_[b] = true;
    }
    return reached_[block];
  }

  /// Each way gets a copy of the end, and all copies but one are set aside.
  void set_all_but_one_aside() {
    const auto blocks = static_cast<std::uint32_t>(graph_.size());
    Graph copies(blocks + ways_.size());
    ExitFacts facts = facts_;
    for (std::uint32_t b = 0; b < blocks; ++b)
      for (const std::uint32_t s : graph_.successors[b]) {
        const auto way = s == end_ ? std::lower_bound(ways_.begin(), ways_.end(), b) : ways_.end();
        if (way == ways_.end() || *way != b) {
          copies.add_edge(b, s);
        } else {
          copies.add_edge(b, blocks + static_cast<std::uint32_t>(way - ways_.begin()));
        }
      }
    facts.instructions.resize(copies.size(), facts_.instructions[end_]);
    facts.has_barrier.resize(copies.size(), false);
    for (std::vector<Edge>& ways : facts.regular_ways_out)
      for (Edge& e : ways)
        if (e.to == end_) {
          const auto way = std::lower_bound(ways_.begin(), ways_.end(), e.from);
          if (way != ways_.end() && *way == e.from) e.to = blocks + static_cast<std::uint32_t>(way - ways_.begin());
        }
    const ExitElimination elimination(std::move(copies), std::move(facts));
    for (const ExitElimination::Removed& r : elimination.removed()) {
      if (r.exit < blocks) continue;
      Way way{ways_[r.exit - blocks], r.edges};
      for (Edge& e : way.edges) e.to = e.to < blocks ? e.to : end_;
      aside_.push_back(std::move(way));
    }
    std::sort(aside_.begin(), aside_.end(), [](const Way& a, const Way& b) { return a.from < b.from; });
    for (const Way& way : aside_)
      for (const Edge& e : way.edges) graph_.remove_edge(e.from, e.to);
  }

  Joins joins(const Graph& graph) const {
    Joins j{PostDominators(Cfg(graph)).immediate(), std::vector<bool>(graph.size())};
    for (std::uint32_t b = 0; b < graph.size(); ++b) j.is_met[b] = graph.successors[b].size() > 1;
    return j;
  }

  static void put_back(Graph& graph, const Way& way) {
    for (const Edge& e : way.edges) graph.add_edge(e.from, e.to);
  }

  /// Whether more is executed together from the block on to the end than the end itself has, or a barrier.
  bool is_worth_meeting_at(std::uint32_t block) const {
    std::vector<bool> seen(graph_.size(), false);
    std::vector<std::uint32_t> work{block};
    seen[block] = seen[end_] = true;
    std::size_t instructions = 0;
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      instructions += facts_.instructions[b];
      if (facts_.has_barrier[b] || instructions >= facts_.instructions[end_]) return true;
      for (const std::uint32_t s : graph_.successors[b]) {
        if (!seen[s]) work.push_back(s);
        seen[s] = true;
      }
    }
    return false;
  }

  void keep_what_does_no_harm() {
    Joins now = joins(graph_);
    std::map<std::uint32_t, bool> worth;
    for (auto way = aside_.begin(); way != aside_.end();) {
      Graph with = graph_;
      put_back(with, *way);
      Joins then = joins(with);
      bool harms = false;
      for (const std::uint32_t b : cfg_.reverse_post_order()) {
        const std::int32_t join = now.at[b];
        if (harms || !now.is_met[b] || join < 0 || join == then.at[b]) continue;
        const auto place = static_cast<std::uint32_t>(join);
        if (place == end_) continue;
        const auto [known, is_new] = worth.emplace(place, false);
        if (is_new) known->second = is_worth_meeting_at(place);
        harms = known->second;
      }
      if (harms) {
        ++way;
        continue;
      }
      graph_ = std::move(with);
      now = std::move(then);
      worth.clear();
      way = aside_.erase(way);
    }
  }

  /// Lanes that take a way which is set aside must not execute the end while others wait there for lanes of an
  /// enclosing branch.
  void keep_what_passes_a_join() {
    for (bool changed = true; changed;) {
      changed = false;
      const Joins now = joins(graph_);
      std::vector<bool> before_end(graph_.size(), false);
      for (const std::uint32_t b : cfg_.reverse_post_order()) {
        if (cfg_.successors(b).size() < 2 || now.at[b] != static_cast<std::int32_t>(end_)) continue;
        std::vector<std::uint32_t> work = cfg_.successors(b);
        while (!work.empty()) {
          const std::uint32_t s = work.back();
          work.pop_back();
          if (s == end_ || before_end[s]) continue;
          before_end[s] = true;
          work.insert(work.end(), cfg_.successors(s).begin(), cfg_.successors(s).end());
        }
      }
      for (auto way = aside_.begin(); way != aside_.end();) {
        if (!before_end[way->from]) {
          ++way;
          continue;
        }
        put_back(graph_, *way);
        way = aside_.erase(way);
        changed = true;
      }
    }
  }

  const Cfg& cfg_;
  const ExitFacts& facts_;
  Graph graph_;
  std::uint32_t end_;
  std::vector<bool> reached_;
  std::vector<std::uint32_t> ways_;
  std::vector<Way> aside_;
};

}  // namespace

Graph without_early_exits(const ir::Function& f, const Cfg& cfg, const Dominators& dominators, const Loops& loops) {
  const ExitFacts facts = exit_facts(f, cfg, dominators, loops);
  const ExitElimination exits(cfg.graph(), facts);
  if (exits.last() < 0) return cfg.graph();
  ExitFacts left = facts;
  for (const ExitElimination::Removed& r : exits.removed())
    for (std::vector<Edge>& ways : left.regular_ways_out)
      for (const Edge& e : r.edges) ways.erase(std::remove(ways.begin(), ways.end(), e), ways.end());
  return MergedEnds(cfg, left, exits.graph(), static_cast<std::uint32_t>(exits.last())).run();
}

}  // namespace regatta::analysis
