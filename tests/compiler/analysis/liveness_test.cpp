// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/function_analyses.h>
#include <regatta/test/catch.h>

#include "graphs.h"

using namespace regatta;
using namespace regatta::analysis;

namespace {

/// Path search: can a read of v be met from instruction n of block b before an unguarded write?
bool live_by_search(const ir::Function& f, std::uint32_t block, std::size_t index, std::uint32_t v) {
  std::vector<bool> seen(f.blocks.size(), false);
  std::vector<std::pair<std::uint32_t, std::size_t>> work{{block, index}};
  const Variables variables(f);
  while (!work.empty()) {
    auto [b, n] = work.back();
    work.pop_back();
    bool killed = false;
    for (; n < f.blocks[b].instructions.size() && !killed; ++n) {
      const ir::Instruction& i = f.blocks[b].instructions[n];
      bool read = false;
      variables.for_each_read(i, [&](std::uint32_t u) { read |= u == v; });
      if (read) return true;
      if (!i.guarded) variables.for_each_write(i, [&](std::uint32_t u) { killed |= u == v; });
    }
    if (killed) continue;
    for (std::uint32_t s : f.blocks[b].successors)
      if (!seen[s]) {
        seen[s] = true;
        work.emplace_back(s, 0);
      }
  }
  return false;
}

void check_all(const ir::Function& f) {
  FunctionAnalyses a(f);
  LivenessWalker walker(a.liveness());
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b) {
    for (walker.start(b); walker.more(); walker.step())
      for (std::uint32_t v = 0; v < a.liveness().variables().count(); ++v)
        REQUIRE(walker.live().test(v) == live_by_search(f, b, walker.index() + 1, v));
    REQUIRE(walker.live() == a.liveness().live_in(b));
  }
}

}  // namespace

TEST_CASE("liveness agrees with path search on random programs") {
  std::mt19937 random(3);
  for (unsigned round = 0; round < 200; ++round) {
    auto f = test::make_function(test::random_edges(random, 10), 8);
    f.registers[7].is_predicate = true;
    for (std::uint32_t b = 0; b < f.blocks.size(); ++b)
      for (unsigned n = random() % 4; n > 0; --n) {
        const auto any = [&] { return static_cast<std::uint32_t>(random() % 8); };
        auto& i = test::append(f, b, {any()}, {any(), any()});
        if (random() % 6 == 0) {
          i.guarded = true;
          i.guard = 7;
          i.sources.push_back(i.destinations[0]);  // the old value is read: guarded matching cannot apply
        }
      }
    check_all(f);
  }
}

TEST_CASE("liveness of an allocated function covers halves of pairs and predicates") {
  auto f = test::make_function({{}}, 0);
  f.allocated = true;
  ir::Instruction wide;
  wide.op = ir::Opcode::add;
  wide.type = ir::Type::u64;
  wide.destinations = {ir::Operand::reg(4, 2)};
  wide.sources = {ir::Operand::reg(6, 2), ir::Operand::reg(4, 2)};
  wide.guarded = true;
  wide.guard = 3;
  f.blocks[0].instructions.push_back(wide);
  FunctionAnalyses a(f);
  std::vector<std::uint32_t> live;
  a.liveness().live_in(0).for_each([&](std::uint32_t v) { live.push_back(v); });
  CHECK(live == std::vector<std::uint32_t>{4, 5, 6, 7, Variables::first_physical_predicate + 3});
}

TEST_CASE("a guarded definition kills for uses under the same guard only") {
  auto f = test::make_function({{}}, 4);  // v0, v1 values, v2 and v3 predicates
  f.registers[2].is_predicate = f.registers[3].is_predicate = true;
  const auto guard = [](ir::Instruction& i, std::uint32_t p, bool negated) {
    i.guarded = true;
    i.guard = p;
    i.guard_negated = negated;
  };
  const auto live_in = [&](std::uint32_t v) {
    FunctionAnalyses a(f);
    return a.liveness().live_in(0).test(v);
  };
  guard(test::append(f, 0, {0}, {1}), 2, false);
  SECTION("same guard") {
    guard(test::append(f, 0, {1}, {0}), 2, false);
    CHECK_FALSE(live_in(0));
  }
  SECTION("opposite guard") {
    guard(test::append(f, 0, {1}, {0}), 2, true);
    CHECK(live_in(0));
  }
  SECTION("one use without guard") {
    guard(test::append(f, 0, {1}, {0}), 2, false);
    test::append(f, 0, {1}, {0});
    CHECK(live_in(0));
  }
  SECTION("the predicate changed in between") {
    test::append(f, 0, {2}, {});
    guard(test::append(f, 0, {1}, {0}), 2, false);
    CHECK(live_in(0));
  }
}
