// SPDX-License-Identifier: Apache-2.0
//
// Distances to the next access against a walk over all paths, one step at a time.
#include <regatta/analysis/function_analyses.h>
#include <regatta/analysis/next_access.h>
#include <regatta/test/catch.h>

#include <algorithm>
#include <set>
#include <utility>

#include "graphs.h"

using namespace regatta;
using analysis::NextAccess;

namespace {

/// A place in front of an instruction; behind a block's last one its successors' places stand for it.
using Place = std::pair<std::uint32_t, std::size_t>;

class Walk {
 public:
  Walk(const ir::Function& f, const analysis::Cfg& cfg) : f_(f), cfg_(cfg), variables_(f) {}

  bool accesses(Place p, std::uint32_t v) const {
    const ir::Instruction& i = f_.blocks[p.first].instructions[p.second];
    bool found = false;
    const auto look = [&](std::uint32_t x) { found = found || x == v; };
    variables_.for_each_read(i, look);
    variables_.for_each_write(i, look);
    return found;
  }

  /// Places that can come next behind instruction `index` of a block; `left` when a path may end there.
  std::set<Place> behind(std::uint32_t block, std::size_t index, bool& left) const {
    std::set<Place> next;
    std::set<std::uint32_t> seen;
    enter(block, index + 1, next, seen, left);
    return next;
  }

  /// Dist(OUT) by definition: all paths at once, a step at a time.
  unsigned distance(std::uint32_t block, std::size_t index, std::uint32_t v, unsigned bound) const {
    bool left = false;
    std::set<Place> front = behind(block, index, left);
    unsigned longest = 0;
    for (unsigned step = 1; step <= bound; ++step) {
      if (left) return NextAccess::beyond;
      std::set<Place> next;
      for (const Place& p : front) {
        if (accesses(p, v)) {
          longest = step;
          continue;
        }
        const std::set<Place> more = behind(p.first, p.second, left);
        next.insert(more.begin(), more.end());
      }
      front = std::move(next);
      if (front.empty() && !left) return longest;
    }
    return NextAccess::beyond;
  }

 private:
  void enter(std::uint32_t block, std::size_t index, std::set<Place>& next, std::set<std::uint32_t>& seen,
             bool& left) const {
    if (index < f_.blocks[block].instructions.size()) {
      next.insert({block, index});
      return;
    }
    if (cfg_.successors(block).empty()) left = true;
    for (const std::uint32_t s : cfg_.successors(block))
      if (seen.insert(s).second) enter(s, 0, next, seen, left);
  }

  const ir::Function& f_;
  const analysis::Cfg& cfg_;
  analysis::Variables variables_;
};

/// The distance behind an instruction, as a user of the analysis gets it.
std::uint8_t at(const ir::Function& f, const NextAccess& next, std::uint32_t block, std::size_t index,
                std::uint32_t v) {
  std::vector<std::uint8_t> distances = next.out(block);
  const auto& instructions = f.blocks[block].instructions;
  for (std::size_t i = instructions.size() - 1; i > index; --i) next.step(instructions[i], distances);
  return distances[v];
}

}  // namespace

TEST_CASE("the next access counts from 1, and the longest path counts") {
  // 0: a = ..; 1 | 2;  1: use a;  2: three others, then use a;  both leave.
  ir::Function f = test::make_function({{1, 2}, {}, {}}, 3);
  test::append(f, 0, {0}, {1});
  test::append(f, 1, {1}, {0});
  for (int i = 0; i < 3; ++i) test::append(f, 2, {1}, {1});
  test::append(f, 2, {2}, {0});
  const analysis::Cfg cfg(f);
  CHECK(at(f, NextAccess(f, cfg, 7), 0, 0, 0) == 4);
  CHECK(at(f, NextAccess(f, cfg, 4), 0, 0, 0) == 4);
  CHECK(at(f, NextAccess(f, cfg, 3), 0, 0, 0) == NextAccess::beyond);
  CHECK(at(f, NextAccess(f, cfg, 7), 0, 0, 1) == 1);
  CHECK(at(f, NextAccess(f, cfg, 7), 0, 0, 2) == NextAccess::beyond);  // one path leaves without it
  CHECK(at(f, NextAccess(f, cfg, 7), 1, 0, 0) == NextAccess::beyond);
}

TEST_CASE("a loop without an access is no access") {
  ir::Function f = test::make_function({{1}, {1, 2}, {}}, 2);
  test::append(f, 0, {0}, {});
  test::append(f, 1, {1}, {1});
  test::append(f, 2, {}, {0});
  const analysis::Cfg cfg(f);
  CHECK(at(f, NextAccess(f, cfg, 200), 0, 0, 0) == NextAccess::beyond);
  CHECK(at(f, NextAccess(f, cfg, 200), 1, 0, 1) == NextAccess::beyond);
  CHECK(at(f, NextAccess(f, cfg, 200), 0, 0, 1) == 1);
}

TEST_CASE("distances are those of a walk over all paths, and cut off at any smaller bound") {
  std::mt19937 random(41);
  std::size_t near = 0, far = 0;
  for (unsigned round = 0; round < 2000; ++round) {
    const auto edges = test::random_edges(random, 8);
    const unsigned variables = 2 + random() % 4;
    ir::Function f = test::make_function(edges, variables);
    for (std::uint32_t b = 0; b < f.blocks.size(); ++b) {
      const unsigned length = 1 + random() % 4;
      for (unsigned i = 0; i < length; ++i) {
        std::vector<std::uint32_t> definitions, uses;
        if (random() % 2 == 0) definitions.push_back(static_cast<std::uint32_t>(random() % variables));
        if (random() % 2 == 0) uses.push_back(static_cast<std::uint32_t>(random() % variables));
        test::append(f, b, definitions, uses);
      }
    }
    const analysis::Cfg cfg(f);
    const Walk walk(f, cfg);
    const unsigned bound = 1 + random() % 31;
    const NextAccess next(f, cfg, bound), wide(f, cfg, 31);
    for (std::uint32_t b : cfg.reverse_post_order()) {
      for (std::size_t i = 0; i < f.blocks[b].instructions.size(); ++i) {
        for (std::uint32_t v = 0; v < variables; ++v) {
          const unsigned expected = walk.distance(b, i, v, bound);
          const unsigned found = at(f, next, b, i, v);
          const unsigned cut = at(f, wide, b, i, v);
          if (found != expected || (cut > bound ? unsigned{NextAccess::beyond} : cut) != expected) {
            CAPTURE(round, b, i, v, bound, cut);
            REQUIRE(found == expected);
            REQUIRE(cut == expected);
          }
          ++(expected == NextAccess::beyond ? far : near);
        }
      }
    }
  }
  CHECK(near > 10000);
  CHECK(far > 10000);
}
