// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/cleanup.h>
#include <regatta/passes/combine.h>
#include <regatta/test/catch.h>

#include "generator.h"
#include "interpreter.h"

using namespace regatta;
using ir::Opcode;
using ir::Operand;
using ir::Type;

namespace {

std::size_t count_op(const ir::Function& f, Opcode op) {
  std::size_t n = 0;
  for (const auto& block : f.blocks)
    for (const auto& i : block.instructions) n += i.op == op;
  return n;
}

}  // namespace

TEST_CASE("combining keeps what random programs do") {
  std::mt19937 random(31);
  passes::CombineResult sum;
  unsigned sunk = 0;
  for (unsigned round = 0; round < 400; ++round) {
    test::Shape shape;
    shape.blocks = 1 + round % 9;
    shape.instructions = 5 + round % 30;
    shape.addresses = true;
    shape.ordered = round % 2 == 0;
    auto f = test::random_program(random, shape);
    const auto before = test::interpret(f, 200);
    const auto result = passes::combine(f);
    REQUIRE(test::interpret(f, 200) == before);
    passes::cleanup(f);
    REQUIRE(test::interpret(f, 200) == before);
    sunk += passes::sink_constants(f);
    REQUIRE(test::interpret(f, 200) == before);
    sum.copies += result.copies;
    sum.immediates += result.immediates;
    sum.bank_operands += result.bank_operands;
    sum.multiply_adds += result.multiply_adds;
    sum.offsets += result.offsets;
  }
  CHECK(sunk > 100);
  CHECK(sum.copies > 10);
  CHECK(sum.immediates > 100);
  CHECK(sum.bank_operands > 100);
  CHECK(sum.multiply_adds > 100);
  CHECK(sum.offsets > 100);
}

TEST_CASE("an array access costs one address instruction and no register for its base") {
  ir::Function f;
  test::Builder b(f);
  const auto base = b.pair(), global = b.pair(), product = b.pair(), sum = b.pair(), next = b.pair();
  const auto index = b.single(), x = b.single();
  b.block();
  b.parameter(base, 8);
  b.emit(Opcode::mov, Type::u32, {b.operand(index)}, {Operand::special(ir::Special::tid_x)});
  b.emit(Opcode::mov, Type::b64, {b.operand(global)}, {b.operand(base)});  // cvta.to.global
  b.emit(Opcode::mul_wide, Type::s32, {b.operand(product)}, {b.operand(index), Operand::immediate(4)});
  b.emit(Opcode::add, Type::s64, {b.operand(sum)}, {b.operand(global), b.operand(product)});
  b.emit(Opcode::add, Type::s64, {b.operand(next)}, {b.operand(sum), Operand::immediate(64, 2)});
  b.load({x}, next, 4);
  b.store(sum, {x});
  b.exit();
  ir::build_edges(f);
  passes::combine(f);
  passes::cleanup(f);
  const auto& code = f.blocks[0].instructions;
  REQUIRE(code.size() == 5);
  CHECK(ir::to_text(code[1], false) == "mad.wide.s32 %v3.64, %v5, 0x4, param[0x8].64;");
  CHECK(ir::to_text(code[2], false) == "ld.global.b32 %v6, [%v3.64+0x44];");
}

TEST_CASE("an instruction reads the constant bank once") {
  ir::Function f;
  test::Builder b(f);
  const auto a = b.pair();
  const auto x = b.single(), y = b.single(), z = b.single();
  b.block();
  b.parameter(a, 0);
  b.parameter(x, 8);
  b.parameter(y, 12);
  b.emit(Opcode::add, Type::u32, {b.operand(z)}, {b.operand(x), b.operand(y)});
  b.store(a, {z});
  b.exit();
  ir::build_edges(f);
  CHECK(passes::combine(f).bank_operands == 1);
  passes::cleanup(f);
  CHECK(count_op(f, Opcode::ld) == 2);  // the other one, and the address, which an access takes from registers alone
}

TEST_CASE("values that change in between are not moved") {
  ir::Function f;
  test::Builder b(f);
  const auto a = b.pair(), product = b.pair(), sum = b.pair();
  const auto i = b.single(), old = b.single(), x = b.single();
  const auto p = b.predicate();
  b.block();
  b.parameter(a, 0);
  b.emit(Opcode::mov, Type::b32, {b.operand(i)}, {Operand::immediate(0)});
  const auto loop = b.block();
  b.emit(Opcode::mov, Type::b32, {b.operand(old)}, {b.operand(i)});
  b.emit(Opcode::mul_wide, Type::s32, {b.operand(product)}, {b.operand(i), Operand::immediate(4)});
  b.emit(Opcode::add, Type::u32, {b.operand(i)}, {b.operand(i), Operand::immediate(1)});
  b.emit(Opcode::add, Type::s64, {b.operand(sum)}, {b.operand(a), b.operand(product)});
  b.load({x}, sum);
  b.store(a, {x}, 0);
  b.store(sum, {old}, 4);
  b.emit(Opcode::setp, Type::u32, {b.operand(p)}, {b.operand(i), Operand::immediate(5)}).mod.compare = ir::Compare::ne;
  auto& back = b.branch(loop);
  back.guarded = true;
  back.guard = p;
  b.block();
  b.exit();
  ir::build_edges(f);
  const auto before = test::interpret(f, 20);
  passes::combine(f);
  CHECK(count_op(f, Opcode::mad_wide) == 0);
  CHECK(test::interpret(f, 20) == before);
  CHECK(before.finished);
}
