// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/function_analyses.h>
#include <regatta/analysis/warp_liveness.h>
#include <regatta/test/catch.h>

#include "graphs.h"

using namespace regatta;
using namespace regatta::analysis;

namespace {

WarpLiveness warp_liveness(FunctionAnalyses& a, LaneRule rule = LaneRule::every_path) {
  return {a.function(), a.cfg(), a.dominators(), a.reconvergence(), rule};
}

}  // namespace

TEST_CASE("lanes wait at the other side of a branch and where the sides meet") {
  // 0 -> {1, 2} -> 3; r0 defined in 0 and used in 2, r1 defined in both sides and used in 3.
  auto f = test::make_function({{1, 2}, {3}, {3}, {}}, 3);
  test::append(f, 0, {0}, {});
  test::append(f, 1, {1}, {});
  test::append(f, 2, {1}, {0});
  test::append(f, 3, {2}, {1});
  FunctionAnalyses a(f);
  const WarpLiveness live = warp_liveness(a);
  CHECK(live.waiting(1).test(0));
  CHECK(live.waiting(1).test(1));
  CHECK_FALSE(live.waiting(2).test(0));
  CHECK(live.waiting(2).test(1));
  CHECK_FALSE(live.waiting(0).any());
  CHECK_FALSE(live.waiting(3).any());
  CHECK(live.live_in(1).test(0));
  CHECK_FALSE(live.running().live_in(1).test(0));
  // Soft definitions see the lanes at the other side, not those that are through with it.
  CHECK_FALSE(warp_liveness(a, LaneRule::printed).waiting(2).test(1));
}

TEST_CASE("lanes that were seen to wait elsewhere need what is live there, in the middle of a block too") {
  // 0 -> {1, 2} -> 3. Lanes wait in front of the second instruction of 2 while 3 runs, and of the last one of 3 while 0
  // runs.
  auto f = test::make_function({{1, 2}, {3}, {3}, {}}, 5);
  test::append(f, 2, {0}, {});
  test::append(f, 2, {1}, {0, 2});
  test::append(f, 2, {}, {1});
  test::append(f, 3, {}, {3});
  test::append(f, 3, {}, {4});
  SeenFlow seen;
  seen.waits = {{3, 2, 1}, {0, 3, 1}, {1, 2, 1}};
  seen.next.resize(4);
  FunctionAnalyses with(f, seen), without(f);
  REQUIRE(with.seen_flow() != nullptr);
  CHECK(without.seen_flow() == nullptr);
  const auto waiting = [](FunctionAnalyses& a, std::uint32_t block) {
    std::vector<std::uint32_t> all;
    a.warp_liveness().waiting(block).for_each([&](std::uint32_t v) { all.push_back(v); });
    return all;
  };
  using Variables = std::vector<std::uint32_t>;
  CHECK(waiting(without, 3).empty());
  CHECK(waiting(with, 3) == Variables{0, 2, 3, 4});
  CHECK(waiting(without, 0).empty());
  CHECK(waiting(with, 0) == Variables{4});
  // Beside what the reconvergence discipline has lanes wait for.
  CHECK(waiting(without, 1) == Variables{2, 3, 4});
  CHECK(waiting(with, 1) == Variables{0, 2, 3, 4});
}

TEST_CASE("lanes that left a loop wait behind it") {
  // 0 -> 1 -> {1, 2}; r0 defined and used in the loop and used behind it.
  auto f = test::make_function({{1}, {1, 2}, {}}, 2);
  test::append(f, 1, {0}, {});
  test::append(f, 2, {1}, {0});
  FunctionAnalyses a(f);
  const WarpLiveness live = warp_liveness(a);
  CHECK(live.waiting(1).test(0));
  CHECK(live.live_in(1).test(0));
  CHECK_FALSE(live.running().live_in(1).test(0));
  CHECK_FALSE(live.waiting(2).any());
}

TEST_CASE("the printed test for reconvergence takes a loop's header for a place where paths met") {
  // H=0 -> {1, 5}; 1 -> {2, 3}; 2, 3 -> 4 -> H. r0 defined in 1, redefined in 2, used in 4.
  auto f = test::make_function({{1, 5}, {2, 3}, {4}, {4}, {0}, {}}, 2);
  test::append(f, 1, {0}, {});
  test::append(f, 2, {0}, {});
  test::append(f, 4, {1}, {0});
  FunctionAnalyses a(f);
  const auto soft = [&](WaitingLanes rule) {
    return SoftDefinitions(f, a.cfg(), a.dominators(), a.reconvergence(), rule).soft_in_block(2, 0);
  };
  CHECK_FALSE(soft(WaitingLanes::printed));
  CHECK(soft(WaitingLanes::at_siblings));
  CHECK_FALSE(warp_liveness(a, LaneRule::printed).waiting(2).test(0));
  CHECK(warp_liveness(a, LaneRule::printed_mended).waiting(2).test(0));
  CHECK(warp_liveness(a).waiting(2).test(0));
}

TEST_CASE("the printed soft definitions, stated anew") {
  std::mt19937 random(9);
  unsigned different = 0;
  for (unsigned round = 0; round < 3000; ++round) {
    auto f = test::make_function(test::random_edges(random, 9), 3);
    for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
      for (unsigned n = random() % 3; n > 0; --n)
        test::append(f, b, {static_cast<std::uint32_t>(random() % 3)}, {static_cast<std::uint32_t>(random() % 3)});
    FunctionAnalyses a(f);
    const SoftDefinitions printed(f, a.cfg(), a.dominators(), a.reconvergence(), WaitingLanes::printed);
    for (std::uint32_t b : a.cfg().reverse_post_order())
      for (const ir::Instruction& i : f.blocks[b].instructions) {
        const std::uint32_t v = i.destinations[0].id;
        bool expected = false;  // algorithm 2, line by line
        for (std::uint32_t d = 0; d < f.blocks.size(); ++d) {
          if (!a.dominators().strictly_dominates(d, b)) continue;
          bool skip = false;
          for (std::uint32_t x = 0; x < f.blocks.size(); ++x)
            skip |= a.dominators().dominates(x, b) && a.reconvergence().strictly_post_dominates(x, d);
          if (skip) continue;
          for (std::uint32_t s : a.cfg().successors(d))
            expected |= !a.dominators().dominates(s, b) && printed.liveness().live_in(s).test(v);
        }
        REQUIRE(printed.soft_in_block(b, v) == expected);
        different += expected != a.soft_definitions().soft_in_block(b, v);
      }
  }
  CHECK(different > 0);
}
