// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/function_analyses.h>
#include <regatta/analysis/reconvergence.h>
#include <regatta/test/catch.h>

#include "graphs.h"

#include <algorithm>
#include <set>
#include <tuple>

using namespace regatta;
using namespace regatta::analysis;

namespace {

using Edges = std::vector<std::vector<std::uint32_t>>;

/// Blocks of `sizes` instructions (3 where none is given); those of `barriers` have a barrier too.
ir::Function function_of(const Edges& edges, const std::vector<unsigned>& sizes = {},
                         const std::set<std::uint32_t>& barriers = {}) {
  ir::Function f = test::make_function(edges, 1);
  for (std::uint32_t b = 0; b < edges.size(); ++b) {
    for (unsigned i = 0; i < (b < sizes.size() ? sizes[b] : 3); ++i) test::append(f, b, {0}, {0});
    if (barriers.count(b) != 0) test::append(f, b, {}, {}).op = ir::Opcode::bar;
  }
  return f;
}

std::vector<std::int32_t> joins(const ir::Function& f) { return FunctionAnalyses(f).reconvergence().immediate(); }

std::set<std::uint32_t> reached(const Edges& edges, std::uint32_t from) {
  std::set<std::uint32_t> seen{from};
  std::vector<std::uint32_t> work{from};
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    for (const std::uint32_t s : edges[b])
      if (seen.insert(s).second) work.push_back(s);
  }
  return seen;
}

/// A loop with its edges out of blocks that each turn passes.
struct Turns {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ways_out;
};

/// Whether every path from `from` to `to` passes b. Of a loop, `from` is the header.
bool is_passed(const Edges& edges, std::uint32_t from, std::uint32_t to, std::uint32_t b) {
  if (b == from || b == to) return true;
  Edges without = edges;
  without[b].clear();
  for (auto& out : without) out.erase(std::remove(out.begin(), out.end(), b), out.end());
  return reached(without, from).count(to) == 0;
}

std::vector<Turns> loops_of(const Edges& edges, const std::set<std::uint32_t>& code) {
  std::vector<Turns> loops;
  for (const std::uint32_t header : code) {
    std::set<std::uint32_t> ends, body{header};
    for (const std::uint32_t b : code)
      if (std::count(edges[b].begin(), edges[b].end(), header) != 0 && is_passed(edges, 0, b, header)) ends.insert(b);
    if (ends.empty()) continue;
    // Blocks from which an end is reached without the header.
    Edges inside = edges;
    for (auto& out : inside) out.erase(std::remove(out.begin(), out.end(), header), out.end());
    for (const std::uint32_t b : code) {
      const auto from = reached(inside, b);
      if (b != header && std::any_of(ends.begin(), ends.end(), [&](std::uint32_t e) { return from.count(e) != 0; }))
        body.insert(b);
    }
    Turns turns;
    for (const std::uint32_t b : body) {
      if (!std::all_of(ends.begin(), ends.end(), [&](std::uint32_t e) { return is_passed(edges, 0, e, b); })) continue;
      for (const std::uint32_t s : edges[b])
        if (body.count(s) == 0) turns.ways_out.emplace_back(b, s);
    }
    loops.push_back(turns);
  }
  return loops;
}

/// The rule once more, block by block from its text.
Edges counted_edges(const ir::Function& f, Edges edges) {
  const Edges whole = edges;
  const std::set<std::uint32_t> code = reached(whole, 0);
  const std::vector<Turns> loops = loops_of(whole, code);
  std::set<std::uint32_t> exits;
  for (const std::uint32_t b : code)
    if (whole[b].empty()) exits.insert(b);
  while (exits.size() > 1) {
    using Rank = std::tuple<bool, bool, bool, std::size_t, std::uint32_t>;
    std::pair<Rank, std::vector<std::pair<std::uint32_t, std::uint32_t>>> least{
        {true, true, true, ~std::size_t{0}, ~0u}, {}};
    for (const std::uint32_t exit : exits) {
      std::set<std::uint32_t> tail;
      for (const std::uint32_t b : code) {
        const auto from = reached(edges, b);
        if (from.count(exit) == 0) continue;
        if (std::none_of(exits.begin(), exits.end(), [&](std::uint32_t e) { return e != exit && from.count(e) != 0; }))
          tail.insert(b);
      }
      std::vector<std::pair<std::uint32_t, std::uint32_t>> ways;
      bool in_loop = false, barrier = false;
      std::size_t size = 0;
      for (const std::uint32_t b : tail) {
        size += f.blocks[b].instructions.size();
        for (const ir::Instruction& i : f.blocks[b].instructions) barrier = barrier || i.op == ir::Opcode::bar;
      }
      for (const std::uint32_t p : code) {
        for (const std::uint32_t s : std::set<std::uint32_t>(edges[p].begin(), edges[p].end())) {
          if (tail.count(p) != 0 || tail.count(s) == 0) continue;
          ways.emplace_back(p, s);
          for (const std::uint32_t next : whole[p]) in_loop = in_loop || reached(whole, next).count(p) != 0;
        }
      }
      bool closes = false;
      for (const Turns& turns : loops) {
        std::size_t open = 0, here = 0;
        for (const auto& way : turns.ways_out) {
          const auto& now = edges[way.first];
          if (std::find(now.begin(), now.end(), way.second) == now.end()) continue;
          ++open;
          if (tail.count(way.first) == 0 && tail.count(way.second) != 0) ++here;
        }
        closes = closes || (open != 0 && open == here);
      }
      const Rank rank{barrier, closes, in_loop || ways.size() > 1, size, exit};
      if (rank < least.first) least = {rank, ways};
    }
    for (const auto& [from, to] : least.second)
      edges[from].erase(std::remove(edges[from].begin(), edges[from].end(), to), edges[from].end());
    exits.erase(std::get<4>(least.first));
  }
  return edges;
}

/// A random program of nested branches and loops, from which lanes return in the middle, alone or by an exit that they
/// share, or by the end of the kernel.
class Program {
 public:
  Program(std::mt19937& random, unsigned statements) : random_(random), left_(statements) {
    std::uint32_t last = block();
    const std::uint32_t error = block();
    end_ = block();
    while (left_ != 0) last = list(last, error, 0);
    edge(last, end_);
  }
  const Edges& edges() const { return edges_; }

 private:
  bool one_in(unsigned n) { return random_() % n == 0; }
  std::uint32_t block() {
    edges_.emplace_back();
    return static_cast<std::uint32_t>(edges_.size() - 1);
  }
  void edge(std::uint32_t from, std::uint32_t to) { edges_[from].push_back(to); }

  /// Statements that begin in block b. Returns the block in which they end.
  std::uint32_t list(std::uint32_t b, std::uint32_t error, unsigned depth) {
    do b = statement(b, error, depth);
    while (left_ != 0 && !one_in(3));
    return b;
  }

  std::uint32_t statement(std::uint32_t b, std::uint32_t error, unsigned depth) {
    if (left_ == 0) return b;
    --left_;
    const std::uint32_t behind = block();
    if (one_in(3)) {  // if (...) return
      edge(b, one_in(2) ? error : one_in(2) ? end_ : block());
      edge(b, behind);
    } else if (depth < 3 && one_in(2)) {  // if, with or without else
      const std::uint32_t inside = block();
      edge(b, inside);
      edge(list(inside, error, depth + 1), behind);
      if (one_in(2)) {
        edge(b, behind);
      } else {
        const std::uint32_t other = block();
        edge(b, other);
        edge(list(other, error, depth + 1), behind);
      }
    } else if (depth < 3) {  // a loop
      const std::uint32_t body = block();
      edge(b, body);
      const std::uint32_t last = list(body, error, depth + 1);
      edge(last, body);
      edge(last, behind);
    } else {
      edge(b, behind);
    }
    return behind;
  }

  std::mt19937& random_;
  unsigned left_;
  std::uint32_t end_ = 0;
  Edges edges_;
};

struct Entry {
  std::uint32_t block;
  std::int32_t join;
  std::uint32_t lanes;
};

/// Lanes that choose at random, on a SIMT stack. Each lane's choices are its own, so its path must be the one that it
/// takes alone.
class Warp {
 public:
  static constexpr unsigned lanes = 6, steps = 40;

  Warp(const Edges& edges, const std::vector<std::int32_t>& joins, unsigned seed) : edges_(edges), joins_(joins) {
    for (unsigned l = 0; l < lanes; ++l) {
      std::mt19937 random(seed * lanes + l);
      for (std::uint32_t b = 0; l < lanes;) {
        alone_[l].push_back(b);
        if (edges[b].empty()) break;
        // Lanes that never leave would run for ever.
        if (alone_[l].size() == steps) {
          endless_ = true;
          break;
        }
        b = edges[b][random() % edges[b].size()];
      }
    }
  }

  bool endless() const { return endless_; }

  /// Blocks executed by the warp.
  unsigned run() {
    unsigned executed = 0;
    std::vector<Entry> stack{{0, -1, (1u << lanes) - 1}};
    std::vector<std::size_t> at(lanes, 0);
    while (!stack.empty()) {
      const Entry top = stack.back();
      ++executed;
      // Lanes never come to the place where an entry further down waits for them, before they come to their own.
      for (const Entry& e : stack) REQUIRE(e.join != static_cast<std::int32_t>(top.block));
      std::vector<std::pair<std::uint32_t, std::uint32_t>> sides;
      std::uint32_t left = 0;
      for (unsigned l = 0; l < lanes; ++l) {
        if ((top.lanes >> l & 1) == 0) continue;
        REQUIRE(alone_[l][at[l]] == top.block);
        if (++at[l] == alone_[l].size()) {
          left |= 1u << l;
          continue;
        }
        const std::uint32_t next = alone_[l][at[l]];
        const auto side = std::find_if(sides.begin(), sides.end(), [&](const auto& s) { return s.first == next; });
        if (side == sides.end()) {
          sides.emplace_back(next, 1u << l);
        } else {
          side->second |= 1u << l;
        }
      }
      for (Entry& e : stack) e.lanes &= ~left;
      const std::int32_t join = joins_[top.block] < 0 ? top.join : joins_[top.block];
      if (sides.size() == 1) {
        stack.back().block = sides[0].first;
      } else if (sides.size() > 1) {
        stack.pop_back();
        if (join != top.join) stack.push_back({static_cast<std::uint32_t>(join), top.join, top.lanes});
        for (const auto& [block, mask] : sides) stack.push_back({block, join, mask});
      }
      while (!stack.empty() &&
             (stack.back().lanes == 0 || static_cast<std::int32_t>(stack.back().block) == stack.back().join))
        stack.pop_back();
    }
    for (unsigned l = 0; l < lanes; ++l) REQUIRE(at[l] == alone_[l].size());
    return executed;
  }

 private:
  const Edges& edges_;
  const std::vector<std::int32_t>& joins_;
  std::vector<std::uint32_t> alone_[lanes];
  bool endless_ = false;
};

}  // namespace

TEST_CASE("reconvergence: a return inside a branch does not move the branch's join") {
  // 0 -> {1, 3}: if; 1 -> {2, 4}: if (bad) return; 2 -> 3: the rest of the if; 3: what all others do; 4: the return.
  const Edges edges{{1, 3}, {2, 4}, {3}, {}, {}};
  CHECK(joins(function_of(edges)) == std::vector<std::int32_t>{3, 2, 3, -1, -1});
  // The same if the return has more work than the rest: it is entered once, the rest is entered twice.
  CHECK(joins(function_of(edges, {3, 3, 3, 3, 9})) == std::vector<std::int32_t>{3, 2, 3, -1, -1});
}

TEST_CASE("reconvergence: where both sides leave, they meet at the exit") {
  CHECK(joins(function_of({{1, 2}, {}, {}}))[0] == 2);  // lanes of 1 go first, and nobody waits for them
  // 1 leaves in two ways, so its lanes do not meet those of 4.
  CHECK(joins(function_of({{1, 4}, {2, 3}, {}, {}, {}}, {1, 1, 2, 3, 9}))[0] == 4);
  CHECK(joins(function_of({{1, 2}, {3}, {3}, {}}))[0] == 3);
}

TEST_CASE("reconvergence: returns from a loop") {
  // 0 -> 1; 1 -> {4, 2}: found, return; 2 -> {5, 3}: error, return; 3 -> {1, 6}: next turn or behind the loop
  const Edges edges{{1}, {4, 2}, {5, 3}, {1, 6}, {}, {}, {}};
  CHECK(joins(function_of(edges, {1, 1, 1, 1, 2, 3, 9})) == std::vector<std::int32_t>{1, 2, 3, 6, -1, -1, -1});
  // The way out with the most work is the one that counts.
  CHECK(joins(function_of(edges, {1, 1, 1, 1, 2, 9, 3})) == std::vector<std::int32_t>{1, 2, 5, 1, -1, -1, -1});
  // Or with a barrier, to which all that are left must come together.
  CHECK(joins(function_of(edges, {1, 1, 1, 1, 2, 9, 3}, {6})) == std::vector<std::int32_t>{1, 2, 3, 6, -1, -1, -1});
}

TEST_CASE("reconvergence: a loop is left where every turn comes by") {
  // 0 -> 1; 1 -> {5, 2}; 2 -> {7, 3}: error; 3 -> {3, 5}: an inner loop; 5 -> {1, 6}; 6: the end, shorter than the
  // error
  const Edges edges{{1}, {5, 2}, {7, 3}, {3, 5}, {}, {1, 6}, {}, {}};
  CHECK(joins(function_of(edges, {1, 1, 1, 1, 1, 1, 1, 9}))[1] == 5);
  CHECK(joins(function_of(edges, {1, 1, 1, 1, 1, 1, 1, 9}))[5] == 6);
}

TEST_CASE("reconvergence: an error exit shared by several places") {
  // 0 -> {1, 3}; 1 -> {9, 2}; 2 -> 3; 3 -> {4, 6}; 4 -> {9, 5}; 5 -> 6; 6 -> {7, 8}; 7 -> 8; 8: end; 9: error
  const Edges edges{{1, 3}, {9, 2}, {3}, {4, 6}, {9, 5}, {6}, {7, 8}, {8}, {}, {}};
  CHECK(joins(function_of(edges)) == std::vector<std::int32_t>{3, 2, 3, 6, 5, 6, 8, 8, -1, -1});
  // One that branches: 9 -> {10, 11}, 10 -> 11.
  Edges longer = edges;
  longer[9] = {10, 11};
  longer.push_back({11});
  longer.emplace_back();
  CHECK(joins(function_of(longer)) == std::vector<std::int32_t>{3, 2, 3, 6, 5, 6, 8, 8, -1, 11, 11, -1});
}

TEST_CASE("reconvergence: a return merged with the end of the kernel") {
  // 0 -> {1, 3}; 1 -> {4, 2}: return; 2 -> 3; 3 -> 4: what all others do; 4: the end
  const Edges edges{{1, 3}, {4, 2}, {3}, {4}, {}};
  CHECK(joins(function_of(edges, {3, 3, 3, 3, 2}))[0] == 3);
  CHECK(joins(function_of(edges, {3, 3, 3, 3, 9}))[0] == 4);       // the end is longer than what they would do together
  CHECK(joins(function_of(edges, {3, 3, 3, 3, 9}, {3}))[0] == 3);  // but they come to a barrier
  CHECK(joins(function_of(edges, {3, 3, 3, 3, 2}, {4}))[0] == 4);
  // Two returns: neither alone is in the way.
  const Edges twice{{1, 4}, {5, 2}, {5, 3}, {4}, {5}, {}};
  CHECK(joins(function_of(twice, {3, 3, 3, 3, 3, 2}))[0] == 4);
  // Both sides of a branch that come to the end meet there.
  CHECK(joins(function_of({{1, 2}, {3}, {3}, {}})) == std::vector<std::int32_t>{3, 3, 3, -1});
  CHECK(joins(function_of({{1, 2}, {2}, {}})) == std::vector<std::int32_t>{2, 2, -1});
  // An enclosing branch whose lanes meet at the end: they would wait there while others execute it.
  // 0 -> {1, 5}: 1 -> {2, 4}; 2 -> {6, 3}: return; 3 -> 4 -> 6; 5 -> 6
  const Edges enclosed{{1, 5}, {2, 4}, {6, 3}, {4}, {6}, {6}, {}};
  CHECK(joins(function_of(enclosed, {3, 3, 3, 3, 3, 3, 1})) == std::vector<std::int32_t>{6, 6, 6, 4, 6, 6, -1});
}

TEST_CASE("reconvergence agrees with the rule, on random graphs") {
  std::mt19937 random(3);
  unsigned with_early_exits = 0;
  for (unsigned round = 0; round < 1000; ++round) {
    const Edges edges = round % 2 == 0 ? test::random_edges(random, 13) : Program(random, 6).edges();
    std::vector<unsigned> sizes;
    std::set<std::uint32_t> barriers;
    for (std::uint32_t b = 0; b < edges.size(); ++b) {
      sizes.push_back(1 + static_cast<unsigned>(random() % 4));
      if (random() % 12 == 0) barriers.insert(b);
    }
    const ir::Function f = function_of(edges, sizes, barriers);
    const Edges counted = counted_edges(f, edges);
    const Cfg cfg(f);
    FunctionAnalyses analyses(f);
    const Graph g = without_early_exits(f, cfg, analyses.dominators(), analyses.loops());
    const Cfg all(f);
    std::set<std::uint32_t> ways;
    for (const std::uint32_t b : reached(counted, 0))
      for (const std::uint32_t s : counted[b])
        if (edges[s].empty()) ways.insert(b);
    const bool ends_are_merged = ways.size() > 1;
    bool differs = false;
    for (const std::uint32_t b : cfg.reverse_post_order()) {
      const std::set<std::uint32_t> mine(g.successors[b].begin(), g.successors[b].end());
      const std::set<std::uint32_t> expected(counted[b].begin(), counted[b].end());
      // Merged ends leave out more.
      if (ends_are_merged) {
        REQUIRE(std::includes(expected.begin(), expected.end(), mine.begin(), mine.end()));
        REQUIRE(mine.empty() == expected.empty());
      } else {
        REQUIRE(mine == expected);
      }
      differs = differs || mine.size() != all.successors(b).size();
    }
    if (differs) ++with_early_exits;
  }
  CHECK(with_early_exits > 200);
}

TEST_CASE("reconvergence: every lane goes its own way, and a warp with early exits takes fewer steps") {
  std::mt19937 random(4);
  for (const bool programs : {false, true}) {
    std::uint64_t whole = 0, counted = 0;
    unsigned compared = 0;
    for (unsigned round = 0; round < 1000; ++round) {
      const Edges edges = programs ? Program(random, 10).edges() : test::random_edges(random, 16);
      const ir::Function f = function_of(edges);
      const std::vector<std::int32_t> here = joins(f), plain = PostDominators(Cfg(f)).immediate();
      for (unsigned seed = 0; seed < 3; ++seed) {
        Warp warp(edges, here, round * 3 + seed);
        if (warp.endless()) continue;
        ++compared;
        counted += warp.run();
        whole += Warp(edges, plain, round * 3 + seed).run();
      }
    }
    CAPTURE(programs, compared, counted, whole);
    CHECK(compared > 1000);
    CHECK(counted * 20 < whole * (programs ? 19 : 20));
  }
}
