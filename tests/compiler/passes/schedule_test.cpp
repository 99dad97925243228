// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/liveness.h>
#include <regatta/passes/cleanup.h>
#include <regatta/passes/schedule.h>
#include <regatta/test/catch.h>

#include "generator.h"
#include "interpreter.h"

using namespace regatta;
using ir::Opcode;
using ir::Operand;
using ir::Type;

namespace {

/// Most general registers live at once by plain liveness: independent of the scheduler's own count.
unsigned pressure(const ir::Function& f) {
  const analysis::Cfg cfg(f);
  const analysis::Liveness liveness(f, cfg);
  analysis::LivenessWalker walker(liveness);
  unsigned most = 0;
  const auto measure = [&] {
    unsigned words = 0;
    walker.live().for_each([&](std::uint32_t v) { words += f.registers[v].words; });
    most = std::max(most, words);
  };
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b) {
    for (walker.start(b); walker.more(); walker.step()) measure();
    measure();
  }
  return most;
}

std::size_t position(const ir::Function& f, Opcode op, std::size_t nth = 0) {
  const auto& code = f.blocks[0].instructions;
  for (std::size_t n = 0; n < code.size(); ++n)
    if (code[n].op == op && nth-- == 0) return n;
  FAIL("no such instruction");
  return 0;
}

}  // namespace

TEST_CASE("scheduling keeps what random programs do, within the bound") {
  std::mt19937 random(41);
  std::uint64_t moved = 0, faster = 0, slower = 0, tighter = 0;
  for (unsigned round = 0; round < 600; ++round) {
    test::Shape shape;
    shape.blocks = 1 + round % 9;
    shape.instructions = 5 + round % 40;
    shape.singles = 4 + round % 30;
    shape.predicates = 1 + round % 9;
    shape.addresses = round % 2 == 0;
    shape.ordered = round % 3 != 0;
    auto f = test::random_program(random, shape);
    passes::cleanup(f);
    const auto before = test::interpret(f, 200);
    const unsigned old_pressure = pressure(f);
    const auto result = passes::schedule(f);
    REQUIRE(test::interpret(f, 200) == before);
    const unsigned new_pressure = pressure(f);
    REQUIRE(new_pressure <= std::max(old_pressure, result.bound));
    moved += result.moved;
    faster += result.cycles_after < result.cycles_before;
    slower += result.cycles_after > result.cycles_before;
    tighter += new_pressure < old_pressure;
  }
  CHECK(moved > 10000);
  CHECK(faster > 500);
  CHECK(slower < 60);  // where the order had more registers live than any schedule needs
  INFO(tighter);
}

TEST_CASE("loads come early and their uses late") {
  ir::Function f;
  test::Builder b(f);
  const auto a = b.pair();
  b.block();
  b.parameter(a, 0);
  std::vector<std::uint32_t> sums;
  for (unsigned n = 0; n < 4; ++n) {
    const auto x = b.single(), y = b.single();
    b.load({x}, a, 4 * n);
    b.emit(Opcode::add, Type::u32, {b.operand(y)}, {b.operand(x), Operand::immediate(1)});
    sums.push_back(y);
  }
  for (unsigned n = 0; n < 4; ++n) b.store(a, {sums[n]}, 64 + 4 * n);
  b.exit();
  ir::build_edges(f);
  const auto result = passes::schedule(f);
  CHECK(position(f, Opcode::ld, 4) < position(f, Opcode::add));
  CHECK(position(f, Opcode::ld, 1) == 1);
  CHECK(result.cycles_after < result.cycles_before / 2);
  CHECK(f.blocks[0].instructions.back().op == Opcode::exit);
}

TEST_CASE("a schedule never needs more registers than the bound") {
  ir::Function f;
  test::Builder b(f);
  const auto a = b.pair(), sum = b.single();
  b.block();
  b.parameter(a, 0);
  b.emit(Opcode::mov, Type::b32, {b.operand(sum)}, {Operand::immediate(0)});
  for (unsigned n = 0; n < 64; ++n) {  // 64 loads could all come first
    const auto x = b.single();
    b.load({x}, a, 4 * n);
    b.emit(Opcode::add, Type::u32, {b.operand(sum)}, {b.operand(sum), b.operand(x)});
  }
  b.store(a, {sum}, 1024);
  b.exit();
  ir::build_edges(f);
  const unsigned before = pressure(f);
  for (unsigned slack : {0u, 4u, 20u}) {
    ir::Function g = f;
    passes::ScheduleOptions options;
    options.slack = slack;
    options.slack_share = 0;
    options.free_registers = 0;
    const auto result = passes::schedule(g, options);
    CHECK(result.bound == before + slack);
    CHECK(pressure(g) == before + slack);
    options.max_registers = before + 1;
    g = f;
    passes::schedule(g, options);
    CHECK(pressure(g) <= before + 1);
  }
}

TEST_CASE("a long block is scheduled in time that grows with its length") {
  std::mt19937 random(43);
  test::Shape shape;
  shape.instructions = 8000;
  shape.singles = 120;
  shape.ordered = true;
  auto f = test::random_program(random, shape);
  const auto before = test::interpret(f, 10);
  passes::schedule(f);
  CHECK(test::interpret(f, 10) == before);
}
