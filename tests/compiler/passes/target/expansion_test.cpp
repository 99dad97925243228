// SPDX-License-Identifier: Apache-2.0
//
// Which operations become sequences; that these give the same bits is a matter of sequences_test.cpp.
#include <regatta/passes/cleanup.h>
#include <regatta/test/catch.h>

#include "generator.h"
#include "sequences.h"
#include "structured_program.h"

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
    const std::uint32_t count = passes::expand_operations(f);
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
  CHECK(t.f.blocks[fast.back().target].instructions.front().op == Opcode::bsync);
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
  for (const Opcode op : {Opcode::ex2, Opcode::rsqrt}) {
    Alone t(op, Type::f32);
    t.operation().mod.approximate = true;
    REQUIRE(t.expand() == 1);
    CHECK(t.f.blocks.size() == 1);
    CHECK(t.count(Opcode::mul) == 2);
    for (const ir::Instruction& i : t.f.blocks[0].instructions)
      if (i.op == op) CHECK(i.mod.ftz);
  }
}

TEST_CASE("operations that hardware has, and those of other precisions, stay") {
  const auto stays = [](Alone t) { return t.expand() == 0 && t.f.blocks.size() == 1; };
  for (const Opcode op : {Opcode::div, Opcode::rcp, Opcode::sqrt}) {
    CHECK(stays({op, Type::f32, Rounding::rz}));
    CHECK(stays({op, Type::f64, Rounding::rn}));
    Alone approximate(op, Type::f32);
    approximate.operation().mod.approximate = true;
    CHECK(stays(approximate));
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
  CHECK(stays({Opcode::lg2, Type::f32}));
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
