// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/function_analyses.h>
#include <regatta/test/catch.h>

#include "graphs.h"

using namespace regatta;
using namespace regatta::analysis;

TEST_CASE("a redefinition on one side of a diamond is soft, after reconvergence it is not") {
  // 0 -> {1, 2} -> 3
  auto f = test::make_function({{1, 2}, {3}, {3}, {}}, 3);
  test::append(f, 0, {0}, {});
  test::append(f, 1, {0}, {});
  test::append(f, 1, {1}, {0});
  test::append(f, 3, {2}, {0});
  test::append(f, 3, {0}, {});
  test::append(f, 3, {2}, {0});
  FunctionAnalyses a(f);
  const auto& soft = a.soft_definitions();
  CHECK(soft.soft_in_block(1, 0));
  CHECK_FALSE(soft.soft_in_block(0, 0));
  CHECK_FALSE(soft.soft_in_block(3, 0));
  CHECK_FALSE(soft.soft_in_block(1, 1));  // local to the side
  CHECK_FALSE(a.liveness().live_in(1).test(0));
  CHECK(a.simt_liveness().live_in(1).test(0));
}

TEST_CASE("a loop header that dominates the branch is no reconvergence") {
  // H=0 -> {B1=1, exit=5}; 1 -> {2, 3}; 2, 3 -> L=4 -> H. r0 defined in 1, redefined in 2, used in 4.
  auto f = test::make_function({{1, 5}, {2, 3}, {4}, {4}, {0}, {}}, 2);
  test::append(f, 1, {0}, {});
  test::append(f, 2, {0}, {});
  test::append(f, 4, {1}, {0});
  FunctionAnalyses a(f);
  CHECK(a.soft_definitions().soft_in_block(2, 0));
  CHECK_FALSE(a.soft_definitions().soft_in_block(1, 0));
  CHECK(a.simt_liveness().live_in(2).test(0));
  CHECK(a.simt_liveness().live_in(3).test(0));
  CHECK_FALSE(a.simt_liveness().live_in(0).test(0));
}

TEST_CASE("both sides of a diamond define") {
  // By the printed algorithm neither definition is soft, as the old value is dead on both sides.
  auto f = test::make_function({{1, 2}, {3}, {3}, {}}, 2);
  test::append(f, 1, {0}, {});
  test::append(f, 2, {0}, {});
  test::append(f, 3, {1}, {0});
  FunctionAnalyses a(f);
  CHECK_FALSE(a.soft_definitions().soft_in_block(1, 0));
  CHECK_FALSE(a.soft_definitions().soft_in_block(2, 0));
  // Counting the lanes that wait at block 3, both are.
  const SoftDefinitions strict(f, a.cfg(), a.dominators(), a.reconvergence(),
                               WaitingLanes::at_siblings_and_reconvergence);
  CHECK(strict.soft_in_block(1, 0));
  CHECK(strict.soft_in_block(2, 0));
}

TEST_CASE("guarded definitions are soft") {
  auto f = test::make_function({{}}, 2);
  f.registers[1].is_predicate = true;
  auto& i = test::append(f, 0, {0}, {});
  i.guarded = true;
  i.guard = 1;
  test::append(f, 0, {}, {0});
  FunctionAnalyses a(f);
  CHECK(a.soft_definitions().is_soft(0, 0, 0));
  CHECK(a.simt_liveness().live_in(0).test(0));
}

TEST_CASE("soft definitions feed liveness until nothing changes") {
  std::mt19937 random(4);
  for (unsigned round = 0; round < 200; ++round) {
    auto f = test::make_function(test::random_edges(random, 10), 4);
    for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
      for (unsigned n = random() % 3; n > 0; --n)
        test::append(f, b, {static_cast<std::uint32_t>(random() % 4)}, {static_cast<std::uint32_t>(random() % 4)});
    FunctionAnalyses a(f);
    const auto& soft = a.soft_definitions();
    // Independent statement of the test, against the final liveness.
    for (std::uint32_t b : a.cfg().reverse_post_order())
      for (const ir::Instruction& i : f.blocks[b].instructions) {
        const std::uint32_t v = i.destinations[0].id;
        bool expected = false;
        for (std::uint32_t d = 0; d < f.blocks.size(); ++d) {
          if (!a.dominators().strictly_dominates(d, b)) continue;
          bool reconverged = false;
          for (std::uint32_t x = 0; x < f.blocks.size(); ++x)
            reconverged |= a.dominators().strictly_dominates(d, x) && a.reconvergence().strictly_post_dominates(x, d) &&
                           a.dominators().dominates(x, b);
          if (reconverged) continue;
          for (std::uint32_t s : a.cfg().successors(d))
            expected |= !a.dominators().dominates(s, b) && a.simt_liveness().live_in(s).test(v);
        }
        REQUIRE(soft.soft_in_block(b, v) == expected);
      }
    for (std::uint32_t b = 0; b < f.blocks.size(); ++b) {
      BitSet thread = a.liveness().live_in(b);
      thread.subtract(a.simt_liveness().live_in(b));
      REQUIRE_FALSE(thread.any());  // a warp needs whatever one of its threads needs
    }
  }
}
