// SPDX-License-Identifier: Apache-2.0
//
// Which operations become sequences; that these give the same bits is a matter of sequences_test.cpp.
#include <regatta/passes/cleanup.h>
#include <regatta/test/catch.h>

#include "generator.h"
#include "sequences.h"
#include "structured_program.h"
#include "units.h"
#include "vector_loads.h"

#include <algorithm>

using namespace regatta;
using ir::Opcode;
using ir::Operand;
using ir::Rounding;
using ir::Type;

namespace {

/// One operation on parameters, stored.
struct Alone {
  ir::Function f;
  test::Builder b{f};
  std::uint32_t base = b.pair(), x = b.single(), y = b.single(), to = b.single(), p = b.predicate();

  Alone(Opcode op, Type type, Rounding rounding = Rounding::none) {
    b.block();
    b.parameter(base, 0);
    b.parameter(x, 8);
    b.parameter(y, 12);
    std::vector<Operand> from{b.operand(x)};
    if (op == Opcode::div || op == Opcode::rem) from.push_back(b.operand(y));
    b.emit(op, type, {b.operand(to)}, std::move(from)).mod.rounding = rounding;
    b.store(base, {to});
    b.exit();
    ir::build_edges(f);
  }
  ir::Instruction& operation() { return f.blocks[0].instructions[3]; }
  std::uint32_t expand() {
    const std::uint32_t count = passes::scale_approximations(f) + passes::expand_operations(f);
    // Each branch has its place where lanes meet again.
    CHECK(test::count_of(f, Opcode::bssy) == test::count_of(f, Opcode::bsync));
    return count;
  }
  std::size_t count(Opcode op) const { return test::count_of(f, op); }
};

}  // namespace

TEST_CASE("f32 division, reciprocal and root are refined, and called where that would not be exact") {
  const Opcode op = GENERATE(Opcode::div, Opcode::rcp, Opcode::sqrt);
  const Rounding rounding = GENERATE(Rounding::none, Rounding::rn);
  Alone t(op, Type::f32, rounding);
  CHECK(passes::branches(t.operation()));
  REQUIRE(t.expand() == 1);
  CHECK(t.count(Opcode::bssy) == 1);
  CHECK(t.count(Opcode::fnma) == (op == Opcode::div ? 2u : 1u));
  CHECK(t.count(op == Opcode::sqrt ? Opcode::rsqrt : Opcode::rcp) == (op == Opcode::rcp ? 2u : 1u));
  CHECK(t.count(op) == (op == Opcode::rcp ? 2u : 1u));
  // The fast way: from the first block past the call.
  const auto& fast = t.f.blocks[0].instructions;
  REQUIRE(fast.back().op == Opcode::bra);
  const auto& there = t.f.blocks[fast.back().target].instructions;
  if (op == Opcode::div) {  // refined before the test is known
    CHECK(there.front().op == Opcode::bsync);
  } else {
    CHECK(test::count_of(t.f, Opcode::fma) == 1);
    CHECK(there.front().op != Opcode::bsync);
    CHECK(std::any_of(there.begin(), there.end(), [](const ir::Instruction& i) { return i.op == Opcode::fma; }));
  }
}

TEST_CASE("integer division has no branch and no division") {
  const Opcode op = GENERATE(Opcode::div, Opcode::rem);
  const Type type = GENERATE(Type::s32, Type::u32);
  Alone t(op, type);
  CHECK(!passes::branches(t.operation()));
  REQUIRE(t.expand() == 1);
  CHECK(t.f.blocks.size() == 1);
  CHECK(t.count(op) == 0);
  CHECK(t.count(Opcode::rcp) == 1);
}

TEST_CASE("approximations whose unit flushes subnormal numbers are scaled") {
  for (const Opcode op : {Opcode::ex2, Opcode::rsqrt, Opcode::lg2, Opcode::sqrt}) {
    Alone t(op, Type::f32);
    t.operation().mod.approximate = true;
    REQUIRE(t.expand() == 1);
    CHECK(t.f.blocks.size() == 1);
    CHECK(t.count(Opcode::mul) + t.count(Opcode::add) == 2);
    for (const ir::Instruction& i : t.f.blocks[0].instructions)
      if (i.op == op) CHECK(i.mod.ftz);
  }
}

TEST_CASE("angles are multiplied ahead of their unit, leading zeros counted from the highest bit") {
  for (const Opcode op : {Opcode::sin, Opcode::cos}) {
    Alone t(op, Type::f32);
    REQUIRE(t.expand() == 1);
    CHECK(t.count(Opcode::mul) == 1);
    CHECK(t.count(op) == 1);
  }
  Alone zeros(Opcode::clz, Type::b32);
  REQUIRE(zeros.expand() == 1);
  CHECK(zeros.count(Opcode::clz) == 0);
  CHECK(zeros.count(Opcode::bfind) == 1);
  CHECK(zeros.count(Opcode::sub) == 1);
}

TEST_CASE("units of a target: what its special function unit executes, and what it does not") {
  const auto unit = [](Opcode op, Type type, Type from = Type::none, Rounding rounding = Rounding::none) {
    Alone t(op, type, rounding);
    t.operation().source_type = from;
    passes::assign_units(t.f);
    return ir::op_class(t.operation());
  };
  using trace::OpClass;
  for (const Opcode op : {Opcode::popc, Opcode::brev, Opcode::bfind}) CHECK(unit(op, Type::b32) == OpClass::sfu);
  CHECK(unit(Opcode::popc, Type::b64) == OpClass::int64);
  CHECK(unit(Opcode::vote, Type::b32) == OpClass::int_add);
  CHECK(unit(Opcode::cvt, Type::s32, Type::f32, Rounding::rzi) == OpClass::sfu);
  CHECK(unit(Opcode::cvt, Type::f32, Type::f32, Rounding::rni) == OpClass::sfu);
  CHECK(unit(Opcode::cvt, Type::f64, Type::f32) == OpClass::sfu);
  CHECK(unit(Opcode::cvt, Type::f32, Type::u8, Rounding::rn) == OpClass::sfu);
  CHECK(unit(Opcode::cvt, Type::f32, Type::u32, Rounding::rp) == OpClass::sfu);
  CHECK(unit(Opcode::cvt, Type::f32, Type::u32, Rounding::rn) == OpClass::convert);
  CHECK(unit(Opcode::cvt, Type::f16, Type::f32, Rounding::rn) == OpClass::convert);
  CHECK(unit(Opcode::cvt, Type::f32, Type::f16) == OpClass::convert);
  CHECK(unit(Opcode::cvt, Type::u32, Type::u8) == OpClass::convert);
  CHECK(unit(Opcode::cvt, Type::bf16x2, Type::f32, Rounding::rn) == OpClass::convert);
  CHECK(unit(Opcode::cvt, Type::e4m3x2, Type::f16x2, Rounding::rn) == OpClass::convert);
  CHECK(unit(Opcode::cvt, Type::tf32, Type::f32, Rounding::rna) == OpClass::convert);
  CHECK(unit(Opcode::add, Type::f32) == OpClass::fp32_add);
}

TEST_CASE("long loads of constants become loads of two words, an address that one overwrites read last") {
  for (const bool overwrites : {false, true}) {
    ir::Function f;
    test::Builder b(f);
    const auto base = b.pair(), at = b.pair();
    std::vector<std::uint32_t> words;
    for (unsigned n = 0; n < 4; ++n) words.push_back(b.single());
    b.block();
    b.parameter(base, 0);
    b.parameter(at, 8);
    auto& load = b.emit(Opcode::ld, Type::b32, {}, {b.operand(at)});
    load.mod.space = trace::MemorySpace::constant;
    load.mod.vector = 4;
    load.offset = 32;
    for (const std::uint32_t w : words) load.destinations.push_back(b.operand(w));
    if (overwrites) load.destinations[1] = b.operand(at);
    b.exit();
    ir::build_edges(f);
    REQUIRE(passes::split_constant_loads(f) == 1);
    std::vector<const ir::Instruction*> loads;
    for (const ir::Instruction& i : f.blocks[0].instructions)
      if (i.op == Opcode::ld && i.mod.space == trace::MemorySpace::constant) loads.push_back(&i);
    REQUIRE(loads.size() == 2);
    for (const ir::Instruction* i : loads) {
      CHECK(i->mod.vector == 2);
      CHECK(i->destinations.size() == 2);
    }
    CHECK(loads[0]->offset == (overwrites ? 40 : 32));
    CHECK(loads[1]->offset == (overwrites ? 32 : 40));
    CHECK(passes::split_constant_loads(f) == 0);
  }
}

TEST_CASE("operations that hardware has, and those of other precisions, stay") {
  const auto stays = [](Alone t) { return t.expand() == 0 && t.f.blocks.size() == 1; };
  for (const Opcode op : {Opcode::div, Opcode::rcp, Opcode::sqrt}) {
    CHECK(stays({op, Type::f32, Rounding::rz}));
    CHECK(stays({op, Type::f64, Rounding::rn}));
    Alone approximate(op, Type::f32);
    approximate.operation().mod.approximate = true;
    CHECK(stays(approximate) == (op != Opcode::sqrt));
    Alone flushing(op, Type::f32);
    flushing.operation().mod.ftz = true;
    CHECK(stays(flushing));
    Alone guarded(op, Type::f32, Rounding::rn);
    guarded.operation().guarded = true;
    guarded.operation().guard = guarded.p;
    CHECK(stays(guarded));
  }
  for (const Type type : {Type::s64, Type::u64, Type::s16, Type::u16}) CHECK(stays({Opcode::div, type}));
  for (const Opcode op : {Opcode::ex2, Opcode::rsqrt}) {
    Alone flushing(op, Type::f32);
    flushing.operation().mod.ftz = true;
    CHECK(stays(flushing));
  }
  CHECK(stays({Opcode::tanh, Type::f32}));
}

TEST_CASE("jumps lead where they did, and marks of loops stay") {
  ir::Function f;
  test::Builder b(f);
  const auto x = b.single(), p = b.predicate();
  b.block();
  b.parameter(x, 8);
  const auto divide = [&] { b.emit(Opcode::rcp, Type::f32, {b.operand(x)}, {b.operand(x)}); };
  divide();
  const auto loop = b.block();
  f.blocks[loop].keeps_loop = true;
  f.blocks[loop].label = "LOOP";
  divide();
  divide();
  auto& back = b.branch(loop);
  back.guarded = true;
  back.guard = p;
  b.block();
  b.exit();
  ir::build_edges(f);
  REQUIRE(passes::expand_operations(f) == 3);
  std::vector<std::uint32_t> marked;
  for (std::uint32_t n = 0; n < f.blocks.size(); ++n)
    if (f.blocks[n].keeps_loop) marked.push_back(n);
  REQUIRE(marked.size() == 1);
  CHECK(f.blocks[marked[0]].label == "LOOP");
  const auto& last = f.blocks[f.blocks.size() - 2].instructions.back();
  CHECK(last.op == Opcode::bra);
  CHECK(last.target == marked[0]);
  CHECK(f.blocks.back().instructions[0].op == Opcode::exit);
}
