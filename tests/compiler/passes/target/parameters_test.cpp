// SPDX-License-Identifier: Apache-2.0
#include <regatta/test/catch.h>

#include "generator.h"
#include "outcome.h"
#include "parameters.h"
#include "structured_program.h"

using namespace regatta;
using ir::Opcode;
using ir::Operand;
using ir::Type;

namespace {

bool is_constant(const Operand& o) { return o.kind == Operand::Kind::parameter || o.kind == Operand::Kind::special; }

std::size_t numbers_and_constants(const ir::Instruction& i) {
  return static_cast<std::size_t>(std::count_if(i.sources.begin(), i.sources.end(), [](const Operand& o) {
    return is_constant(o) || (o.kind == Operand::Kind::immediate && o.value != 0);
  }));
}

}  // namespace

TEST_CASE("a kernel loads its stack pointer first, and the descriptor of memory where it has accesses") {
  ir::Function f;
  test::Builder b(f);
  const auto x = b.single();
  b.block();
  b.emit(Opcode::mov, Type::b32, {b.operand(x)}, {Operand::immediate(1)});
  SECTION("no access") {
    b.exit();
    ir::build_edges(f);
    CHECK(passes::load_parameters(f) == 1);
    CHECK(ir::to_text(f.blocks[0].instructions[0], false) == "uldc.b32 %stack_pointer;");
  }
  SECTION("an access") {
    const auto base = b.pair();
    b.parameter(base, 0);
    b.store(base, {x});
    b.exit();
    ir::build_edges(f);
    CHECK(passes::load_parameters(f) == 2);
    CHECK(ir::to_text(f.blocks[0].instructions[3], false) == "uldc.b32 %memory_descriptor;");
  }
}

TEST_CASE("a parameter that is the only operand of an instruction without a register stays: a uniform register") {
  ir::Function f;
  test::Builder b(f);
  const auto x = b.single(), y = b.single();
  b.block();
  b.emit(Opcode::mov, Type::b32, {b.operand(x)}, {Operand::immediate(1)});
  b.emit(Opcode::add, Type::u32, {b.operand(y)}, {b.operand(x), Operand::parameter(8, 1)});
  b.exit();
  ir::build_edges(f);
  CHECK(passes::load_parameters(f) == 2);
  const auto& code = f.blocks[0].instructions;
  CHECK(ir::to_text(code[2], false) == "uldc.b32 param[0x8];");
  CHECK(ir::to_text(code[3], false) == "add.u32 %v1, %v0, param[0x8];");
}

TEST_CASE("a parameter beside a number is loaded into a register, once, outside of loops") {
  ir::Function f;
  test::Builder b(f);
  const auto n = b.single(), y = b.single(), p = b.predicate();
  b.block();
  b.emit(Opcode::mov, Type::b32, {b.operand(n)}, {Operand::immediate(0)});
  const auto top = b.block();
  for (const std::uint64_t number : {3, 4})
    b.emit(Opcode::mad_lo, Type::u32, {b.operand(y)},
           {b.operand(n), Operand::immediate(number), Operand::parameter(8, 1)});
  b.emit(Opcode::add, Type::u32, {b.operand(n)}, {b.operand(n), Operand::immediate(1)});
  b.emit(Opcode::setp, Type::u32, {b.operand(p)}, {b.operand(n), Operand::immediate(5)}).mod.compare = ir::Compare::lt;
  auto& back = b.branch(top);
  back.guarded = true;
  back.guard = p;
  b.block();
  b.exit();
  ir::build_edges(f);
  CHECK(passes::load_parameters(f) == 2);
  CHECK(test::count_of(f, Opcode::ld) == 1);
  CHECK(f.blocks[0].instructions.back().op == Opcode::ld);
  for (const ir::Instruction& i : f.blocks[1].instructions)
    for (const Operand& o : i.sources) CHECK(!is_constant(o));
}

TEST_CASE("two parameters of one instruction: one is loaded, and every load has a reader") {
  ir::Function f;
  test::Builder b(f);
  const auto x = b.single();
  b.block();
  b.emit(Opcode::add, Type::u32, {b.operand(x)}, {Operand::parameter(8, 1), Operand::parameter(12, 1)});
  b.exit();
  ir::build_edges(f);
  CHECK(passes::load_parameters(f) == 3);
  CHECK(test::count_of(f, Opcode::ld) == 1);
  CHECK(test::count_of(f, Opcode::uldc) == 2);
  std::vector<unsigned> reads(f.registers.size());
  for (const ir::Instruction& i : f.blocks[0].instructions)
    for (const Operand& o : i.sources)
      if (o.is_reg()) ++reads[o.id];
  for (const ir::Instruction& i : f.blocks[0].instructions)
    if (i.op == Opcode::ld) CHECK(reads[i.destinations[0].id] == 1);
}

TEST_CASE("loads of parameters keep what random programs do") {
  std::mt19937 random(7);
  std::uint32_t loads = 0;
  for (unsigned round = 0; round < 400; ++round) {
    test::StructuredShape shape;
    shape.length = 4 + round % 16;
    shape.depth = round % 4;
    auto f = test::structured_program(random, shape);
    const auto before = test::outcome(f);
    INFO("round " << round);
    loads += passes::load_parameters(f);
    REQUIRE(test::outcome(f) == before);
    for (const ir::Block& block : f.blocks)
      for (const ir::Instruction& i : block.instructions) {
        if (i.op == Opcode::mov || i.op == Opcode::uldc || i.op == Opcode::ld) continue;
        const bool has_constant = std::any_of(i.sources.begin(), i.sources.end(), is_constant);
        CHECK((!has_constant || numbers_and_constants(i) == 1));
      }
  }
  CHECK(loads > 800);
}
