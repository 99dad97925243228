// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/function_analyses.h>
#include <regatta/test/catch.h>

#include "graphs.h"

using namespace regatta;
using namespace regatta::analysis;

namespace {

/// Nodes that `from` reaches without passing `removed`.
std::vector<bool> reach(const std::vector<std::vector<std::uint32_t>>& edges, std::uint32_t from,
                        std::int32_t removed) {
  std::vector<bool> seen(edges.size(), false);
  std::vector<std::uint32_t> work;
  if (static_cast<std::int32_t>(from) != removed) {
    seen[from] = true;
    work.push_back(from);
  }
  while (!work.empty()) {
    const std::uint32_t n = work.back();
    work.pop_back();
    for (std::uint32_t s : edges[n])
      if (static_cast<std::int32_t>(s) != removed && !seen[s]) {
        seen[s] = true;
        work.push_back(s);
      }
  }
  return seen;
}

}  // namespace

TEST_CASE("dominators of a diamond, a loop and an unreachable block") {
  //     0 -> 1 -> {2,3} -> 4 -> {1,5}; 6 -> 5 unreachable
  const auto f = test::make_function({{1}, {2, 3}, {4}, {4}, {1, 5}, {}, {5}}, 1);
  FunctionAnalyses a(f);
  CHECK(a.dominators().immediate(0) == -1);
  CHECK(a.dominators().immediate(1) == 0);
  CHECK(a.dominators().immediate(2) == 1);
  CHECK(a.dominators().immediate(4) == 1);
  CHECK(a.dominators().immediate(5) == 4);
  CHECK(a.dominators().immediate(6) == -1);
  CHECK_FALSE(a.dominators().reachable(6));
  CHECK_FALSE(a.cfg().reachable(6));
  CHECK(a.dominators().dominates(1, 5));
  CHECK_FALSE(a.dominators().dominates(2, 4));
  CHECK(PostDominators(a.cfg()).immediate() == std::vector<std::int32_t>{1, 4, 4, 4, 5, -1, 5});
  CHECK(a.loops().loops().size() == 1);
  CHECK(a.loops().loops()[0].header == 1);
  CHECK(a.loops().depth(1) == 1);
  CHECK(a.loops().depth(3) == 1);
  CHECK(a.loops().depth(5) == 0);
}

TEST_CASE("nested loops have depths and parents") {
  // 0 -> 1 -> 2 -> {2, 3} -> {1, 4}
  const auto f = test::make_function({{1}, {2}, {2, 3}, {1, 4}, {}}, 1);
  FunctionAnalyses a(f);
  REQUIRE(a.loops().loops().size() == 2);
  CHECK(a.loops().depth(0) == 0);
  CHECK(a.loops().depth(1) == 1);
  CHECK(a.loops().depth(2) == 2);
  CHECK(a.loops().depth(3) == 1);
  CHECK(a.loops().loops()[1].parent == 0);
  CHECK(a.loops().innermost(2) == 1);
}

TEST_CASE("an endless loop still has post-dominators") {
  // 0 -> {1, 4}; 1 -> {2, 3}; 2 -> 1; 3 -> 1; 4 exits
  const auto f = test::make_function({{1, 4}, {2, 3}, {1}, {1}, {}}, 1);
  FunctionAnalyses a(f);
  CHECK(PostDominators(a.cfg()).immediate(0) == -1);
  CHECK(PostDominators(a.cfg()).immediate(4) == -1);
  CHECK(PostDominators(a.cfg()).strictly_post_dominates(1, 2) != PostDominators(a.cfg()).strictly_post_dominates(1, 3));
  const auto single = test::make_function({{0}}, 1);
  FunctionAnalyses s(single);
  CHECK(PostDominators(s.cfg()).immediate(0) == -1);
  CHECK(s.loops().depth(0) == 1);
}

TEST_CASE("dominance agrees with node removal on random graphs") {
  std::mt19937 random(1);
  for (unsigned round = 0; round < 400; ++round) {
    const auto edges = test::random_edges(random, 14);
    const auto f = test::make_function(edges, 1);
    FunctionAnalyses a(f);
    const auto all = reach(edges, 0, -1);
    for (std::uint32_t d = 0; d < edges.size(); ++d) {
      const auto without = reach(edges, 0, static_cast<std::int32_t>(d));
      for (std::uint32_t b = 0; b < edges.size(); ++b) {
        const bool expected = all[b] && all[d] && !without[b];
        REQUIRE(a.dominators().dominates(d, b) == expected);
      }
    }
    for (std::uint32_t b = 0; b < edges.size(); ++b) {  // the immediate one is the lowest strict one
      const std::int32_t i = a.dominators().immediate(b);
      if (i < 0) continue;
      for (std::uint32_t d = 0; d < edges.size(); ++d)
        if (a.dominators().strictly_dominates(d, b))
          REQUIRE(a.dominators().dominates(d, static_cast<std::uint32_t>(i)));
    }
  }
}

TEST_CASE("post-dominance agrees with node removal where every block can leave") {
  std::mt19937 random(2);
  unsigned compared = 0;
  for (unsigned round = 0; round < 2000; ++round) {
    auto edges = test::random_edges(random, 12);
    const auto exit = static_cast<std::uint32_t>(edges.size());
    const auto f = test::make_function(edges, 1);
    edges.emplace_back();
    for (std::uint32_t b = 0; b < exit; ++b)
      if (edges[b].empty()) edges[b].push_back(exit);
    bool all_leave = true;
    for (std::uint32_t b = 0; b < exit; ++b) all_leave = all_leave && reach(edges, b, -1)[exit];
    if (!all_leave) continue;
    ++compared;
    FunctionAnalyses a(f);
    for (std::uint32_t p = 0; p < exit; ++p)
      for (std::uint32_t b = 0; b < exit; ++b)
        REQUIRE(PostDominators(a.cfg()).post_dominates(p, b) == !reach(edges, b, static_cast<std::int32_t>(p))[exit]);
  }
  CHECK(compared > 100);
}
