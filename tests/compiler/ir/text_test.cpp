// SPDX-License-Identifier: Apache-2.0
#include <regatta/ir/ir.h>
#include <regatta/test/catch.h>

using namespace regatta;
using ir::Opcode;
using ir::Operand;
using ir::Type;
using trace::OpClass;

namespace {

ir::Instruction make(Opcode op, Type type, std::vector<Operand> destinations, std::vector<Operand> sources) {
  ir::Instruction i;
  i.op = op;
  i.type = type;
  i.destinations = std::move(destinations);
  i.sources = std::move(sources);
  return i;
}

}  // namespace

TEST_CASE("types know their size and kind") {
  CHECK(ir::size_of(Type::pred) == 0);
  CHECK(ir::size_of(Type::b8) == 1);
  CHECK(ir::size_of(Type::f16) == 2);
  CHECK(ir::size_of(Type::s32) == 4);
  CHECK(ir::size_of(Type::f64) == 8);
  CHECK(ir::words_of(Type::u8) == 1);
  CHECK(ir::words_of(Type::b64) == 2);
  CHECK(ir::is_float(Type::f16));
  CHECK_FALSE(ir::is_float(Type::s64));
  CHECK(ir::is_signed(Type::s8));
  CHECK_FALSE(ir::is_signed(Type::u64));
  CHECK(std::string(ir::to_string(Type::s16)) == "s16");
  CHECK(std::string(ir::to_string(ir::Special::ctaid_y)) == "%ctaid.y");
}

TEST_CASE("a parameter as an operand") {
  const auto i = make(Opcode::mad_wide, Type::s32, {Operand::reg(2, 2)},
                      {Operand::reg(0, 1), Operand::immediate(4), Operand::parameter(8, 2)});
  CHECK(ir::to_text(i, true) == "mad.wide.s32 R2.64, R0, 0x4, param[0x8].64;");
  CHECK(ir::accesses(i, true).reads == std::vector<std::uint32_t>{0});
}

TEST_CASE("instruction text") {
  ir::Instruction i = make(Opcode::add, Type::s32, {Operand::reg(4, 1)}, {Operand::reg(5, 1), Operand::immediate(16)});
  i.guarded = true;
  i.guard_negated = true;
  CHECK(ir::to_text(i, true) == "@!P0 add.s32 R4, R5, 0x10;");
  CHECK(ir::to_text(i, false) == "@!%v0 add.s32 %v4, %v5, 0x10;");

  i = make(Opcode::ld, Type::f32, {Operand::reg(4, 1), Operand::reg(5, 1)}, {Operand::reg(2, 2)});
  i.mod.space = trace::MemorySpace::global;
  i.mod.cache = ".nc";
  i.mod.vector = 2;
  i.offset = -8;
  CHECK(ir::opcode_text(i) == "ld.global.nc.v2.f32");
  CHECK(ir::to_text(i, true) == "ld.global.nc.v2.f32 {R4, R5}, [R2.64-0x8];");

  i = make(Opcode::setp, Type::s32, {Operand::predicate(0), Operand::predicate(1)},
           {Operand::reg(1, 1), Operand::immediate(0), Operand::predicate(2, true)});
  i.mod.compare = ir::Compare::lt;
  i.mod.bool_op = ir::BoolOp::and_;
  CHECK(ir::to_text(i, true) == "setp.lt.and.s32 P0|P1, R1, 0x0, !P2;");

  i = make(Opcode::bra, Type::none, {}, {});
  i.target = 7;
  CHECK(ir::to_text(i, true) == "bra B7;");
  CHECK(ir::to_text(make(Opcode::exit, Type::none, {}, {}), true) == "exit;");

  i = make(Opcode::mov, Type::u64, {Operand::reg(2, 2)}, {Operand::immediate(4, 2)});
  i.sources[0].symbol = "table";
  CHECK(ir::to_text(i, true) == "mov.u64 R2.64, table+0x4;");
}

TEST_CASE("different operations have different opcode texts") {
  ir::Instruction a = make(Opcode::shf, Type::b32, {}, {});
  ir::Instruction b = a;
  b.mod.left = true;
  CHECK(ir::opcode_text(a) != ir::opcode_text(b));
  b = a;
  b.mod.wrap = true;
  CHECK(ir::opcode_text(a) != ir::opcode_text(b));
  a = make(Opcode::addc, Type::u32, {}, {});
  b = a;
  b.mod.carry_out = true;
  CHECK(ir::opcode_text(a) == "addc.u32");
  CHECK(ir::opcode_text(b) == "addc.cc.u32");
}

TEST_CASE("opcode classes") {
  struct Row {
    Opcode op;
    Type type;
    OpClass expected;
  };
  const Row rows[] = {{Opcode::add, Type::s32, OpClass::int_add},    {Opcode::add, Type::s64, OpClass::int64},
                      {Opcode::add, Type::f32, OpClass::fp32_add},   {Opcode::add, Type::f64, OpClass::fp64_add},
                      {Opcode::max, Type::u32, OpClass::int_max},    {Opcode::min, Type::f32, OpClass::fp32_max},
                      {Opcode::mul_lo, Type::s32, OpClass::int_mul}, {Opcode::mul_wide, Type::s32, OpClass::int_mad},
                      {Opcode::mul_lo, Type::s64, OpClass::int64},   {Opcode::mul_hi, Type::u64, OpClass::int64},
                      {Opcode::mad_lo, Type::u64, OpClass::int64},   {Opcode::sad, Type::u64, OpClass::int64},
                      {Opcode::mad_lo, Type::s32, OpClass::int_mad}, {Opcode::div, Type::u32, OpClass::int_div},
                      {Opcode::div, Type::f32, OpClass::fp32_div},   {Opcode::rem, Type::s64, OpClass::int_div},
                      {Opcode::mul, Type::f32, OpClass::fp32_mul},   {Opcode::fma, Type::f64, OpClass::fp64_mad},
                      {Opcode::cvt, Type::f32, OpClass::convert},    {Opcode::rsqrt, Type::f32, OpClass::sfu},
                      {Opcode::shfl, Type::b32, OpClass::shuffle},   {Opcode::vote, Type::pred, OpClass::shuffle},
                      {Opcode::setp, Type::f64, OpClass::fp64_add},  {Opcode::setp, Type::u64, OpClass::int64},
                      {Opcode::and_, Type::pred, OpClass::int_add},  {Opcode::shl, Type::b64, OpClass::int64},
                      {Opcode::selp, Type::f32, OpClass::int_add},   {Opcode::bar, Type::none, OpClass::barrier},
                      {Opcode::membar, Type::none, OpClass::fence},  {Opcode::bra, Type::none, OpClass::branch},
                      {Opcode::exit, Type::none, OpClass::exit},     {Opcode::atom, Type::u32, OpClass::atomic},
                      {Opcode::ld, Type::f32, OpClass::load},        {Opcode::st, Type::f32, OpClass::store}};
  for (const Row& r : rows) {
    ir::Instruction i;
    i.op = r.op;
    i.type = r.type;
    INFO(ir::opcode_text(i));
    CHECK(ir::op_class(i) == r.expected);
  }
  ir::Instruction i;
  i.op = Opcode::mov;
  i.type = Type::u32;
  i.sources = {Operand::special(ir::Special::tid_x)};
  CHECK(ir::op_class(i) == OpClass::constant_load);
  i.op = Opcode::ld;
  i.mod.space = trace::MemorySpace::param;
  CHECK(ir::op_class(i) == OpClass::constant_load);
  i.mod.space = trace::MemorySpace::constant;
  CHECK(ir::op_class(i) == OpClass::constant_load);
}
