// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/cleanup.h>
#include <regatta/test/catch.h>

#include "generator.h"
#include "interpreter.h"

using namespace regatta;

TEST_CASE("a copy is read through and then dropped") {
  ir::Function f;
  test::Builder b(f);
  const auto a = b.pair(), x = b.single(), y = b.single(), dead = b.single();
  b.block();
  b.parameter(a, 0);
  b.parameter(x, 8);
  b.emit(ir::Opcode::mov, ir::Type::b32, {b.operand(y)}, {b.operand(x)});
  b.emit(ir::Opcode::add, ir::Type::u32, {b.operand(dead)}, {b.operand(y), b.operand(y)});
  b.emit(ir::Opcode::add, ir::Type::u32, {b.operand(dead)}, {b.operand(dead), b.operand(y)});
  b.store(a, {y});
  b.exit();
  ir::build_edges(f);
  const auto result = passes::cleanup(f);
  CHECK(result.removed_instructions == 3);
  REQUIRE(f.blocks[0].instructions.size() == 4);
  CHECK(f.blocks[0].instructions[2].sources[1].id == x);
}

TEST_CASE("instructions with effects stay") {
  ir::Instruction i;
  i.destinations.push_back(ir::Operand::reg(0, 1));
  i.op = ir::Opcode::atom;
  CHECK_FALSE(passes::is_removable(i));
  i.op = ir::Opcode::add_cc;
  CHECK_FALSE(passes::is_removable(i));
  i.op = ir::Opcode::ld;
  CHECK(passes::is_removable(i));
  i.mod.is_volatile = true;
  CHECK_FALSE(passes::is_removable(i));
}

TEST_CASE("cleanup keeps what random programs store") {
  std::mt19937 random(11);
  for (unsigned round = 0; round < 200; ++round) {
    test::Shape shape;
    shape.blocks = 1 + round % 8;
    auto f = test::random_program(random, shape);
    const auto before = test::interpret(f, 200);
    passes::cleanup(f);
    REQUIRE(test::interpret(f, 200) == before);
  }
}
