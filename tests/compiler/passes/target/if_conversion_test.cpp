// SPDX-License-Identifier: Apache-2.0
#include <regatta/test/catch.h>

#include "generator.h"
#include "if_conversion.h"
#include "outcome.h"
#include "structured_program.h"

using namespace regatta;
using ir::Opcode;
using ir::Operand;
using ir::Type;

namespace {

/// A head whose branch to `target` is taken where p holds; a and b have values, q too.
struct Branching {
  ir::Function f;
  test::Builder b{f};
  std::uint32_t base = b.pair(), a = b.single(), c = b.single(), p = b.predicate(), q = b.predicate();

  Branching() {
    b.block();
    b.parameter(base, 0);
    b.parameter(a, 8);
    b.parameter(c, 12);
    less(p, a);
    less(q, c);
  }
  void less(std::uint32_t to, std::uint32_t v) {
    b.emit(Opcode::setp, Type::u32, {b.operand(to)}, {b.operand(v), Operand::immediate(0x80000000u)}).mod.compare =
        ir::Compare::lt;
  }
  void branch(std::uint32_t target) {
    auto& i = b.branch(target);
    i.guarded = true;
    i.guard = p;
  }
  void add(std::uint32_t to, std::uint64_t n) {
    b.emit(Opcode::add, Type::u32, {b.operand(to)}, {b.operand(to), Operand::immediate(n)});
  }
  void finish() {
    b.block();
    b.store(base, {a});
    b.store(base, {c}, 4);
    b.exit();
    ir::build_edges(f);
  }
  /// Converts; the program must do what it did.
  std::uint32_t convert(unsigned longest = 8) {
    const auto before = test::outcome(f);
    const std::uint32_t converted = passes::convert_branches(f, longest);
    CHECK(test::outcome(f) == before);
    return converted;
  }
};

}  // namespace

TEST_CASE("a branch around a few instructions becomes their guard") {
  Branching t;
  t.branch(2);
  t.b.block();
  t.add(t.a, 1);
  t.b.store(t.base, {t.c}, 8);
  t.finish();
  REQUIRE(t.convert() == 1);
  REQUIRE(t.f.blocks.size() == 1);
  const auto& code = t.f.blocks[0].instructions;
  CHECK(test::count_of(t.f, Opcode::bra) == 0);
  CHECK(ir::to_text(code[5], false) == "@!%v3 add.u32 %v1, %v1, 0x1;");
  CHECK(ir::to_text(code[6], false) == "@!%v3 st.global.b32 [%v0.64+0x8], %v2;");
}

TEST_CASE("both sides of a branch become guarded, one behind the other") {
  Branching t;
  t.branch(2);
  t.b.block();
  t.add(t.a, 1);
  t.b.branch(3);
  t.b.block();
  t.add(t.a, 2);
  t.finish();
  REQUIRE(t.convert() == 1);
  REQUIRE(t.f.blocks.size() == 1);
  const auto& code = t.f.blocks[0].instructions;
  CHECK(ir::to_text(code[5], false) == "@!%v3 add.u32 %v1, %v1, 0x1;");
  CHECK(ir::to_text(code[6], false) == "@%v3 add.u32 %v1, %v1, 0x2;");
}

TEST_CASE("a side that is longer than allowed stays a branch") {
  for (const unsigned length : {4u, 5u}) {
    Branching t;
    t.branch(2);
    t.b.block();
    for (unsigned n = 0; n < length; ++n) t.add(t.a, n);
    t.finish();
    CHECK(t.convert(4) == (length == 4 ? 1u : 0u));
  }
  // Both sides count together.
  Branching t;
  t.branch(2);
  t.b.block();
  for (unsigned n = 0; n < 3; ++n) t.add(t.a, n);
  t.b.branch(3);
  t.b.block();
  for (unsigned n = 0; n < 2; ++n) t.add(t.c, n);
  t.finish();
  CHECK(t.convert(4) == 0);
}

TEST_CASE("a side of operations that cannot stand under a guard stays a branch") {
  constexpr Opcode together[] = {Opcode::bar,   Opcode::warp_sync, Opcode::shfl,       Opcode::vote, Opcode::match,
                                 Opcode::redux, Opcode::exit,      Opcode::activemask, Opcode::trap, Opcode::print};
  for (const Opcode op : together) {
    INFO(ir::to_string(op));
    Branching t;
    t.branch(2);
    t.b.block();
    t.b.emit(op, Type::b32, {}, {});
    t.finish();
    CHECK(passes::convert_branches(t.f, 8) == 0);
    CHECK(test::count_of(t.f, Opcode::bra) == 1);
  }
  // Division becomes a sequence with a branch.
  Branching t;
  t.branch(2);
  t.b.block();
  t.b.emit(Opcode::div, Type::f32, {t.b.operand(t.a)}, {t.b.operand(t.a), t.b.operand(t.c)}).mod.rounding =
      ir::Rounding::rn;
  t.finish();
  CHECK(passes::convert_branches(t.f, 8) == 0);
}

TEST_CASE("a side that writes the predicate of its branch stays a branch") {
  Branching t;
  t.branch(2);
  t.b.block();
  t.less(t.p, t.c);
  t.add(t.a, 1);
  t.finish();
  CHECK(t.convert() == 0);
}

TEST_CASE("a comparison inside a side takes the condition of the side") {
  Branching t;
  t.branch(2);
  t.b.block();
  t.less(t.q, t.a);
  auto& store = t.b.store(t.base, {t.a}, 8);
  store.guarded = true;
  store.guard = t.q;
  t.finish();
  REQUIRE(t.convert() == 1);
  const auto& code = t.f.blocks[0].instructions;
  CHECK(ir::to_text(code[5], false) == "setp.lt.and.u32 %v4, %v1, 0x80000000, !%v3;");
  CHECK(ir::to_text(code[6], false) == "@%v4 st.global.b32 [%v0.64+0x8], %v1;");
}

TEST_CASE("a comparison that is read behind the branch, or on the other side, is not changed") {
  SECTION("behind it") {
    Branching t;
    t.branch(2);
    t.b.block();
    t.less(t.q, t.a);
    auto& guarded = t.b.store(t.base, {t.a}, 8);
    guarded.guarded = true;
    guarded.guard = t.q;
    t.b.block();
    t.b.emit(Opcode::selp, Type::b32, {t.b.operand(t.a)}, {t.b.operand(t.a), t.b.operand(t.c), t.b.operand(t.q)});
    t.finish();
    CHECK(t.convert() == 0);
  }
  SECTION("on the other side") {
    Branching t;
    t.b.emit(Opcode::setp, Type::u32, {t.b.operand(t.q)}, {t.b.operand(t.a), t.b.operand(t.a)}).mod.compare =
        ir::Compare::eq;
    const bool negated = GENERATE(false, true);
    t.branch(2);
    t.f.blocks.back().instructions.back().guard_negated = negated;  // whichever side this thread takes
    t.b.block();
    t.less(t.q, t.a);
    auto& guarded = t.b.store(t.base, {t.a}, 8);
    guarded.guarded = true;
    guarded.guard = t.q;
    t.b.branch(3);
    t.b.block();
    t.b.emit(Opcode::selp, Type::b32, {t.b.operand(t.a)}, {t.b.operand(t.a), t.b.operand(t.c), t.b.operand(t.q)});
    t.finish();
    t.convert();
  }
}

TEST_CASE("branches are converted from the innermost on") {
  Branching t;
  t.branch(4);
  t.b.block();
  t.add(t.c, 3);
  t.less(t.q, t.c);
  auto& inner = t.b.branch(3);
  inner.guarded = true;
  inner.guard = t.q;
  inner.guard_negated = true;
  t.b.block();
  t.add(t.a, 5);
  t.b.block();
  t.add(t.c, 7);
  t.finish();
  REQUIRE(t.convert() == 2);
  CHECK(t.f.blocks.size() == 1);
}

TEST_CASE("a block that only the one before leads to is appended to it") {
  Branching t;
  t.b.branch(1);
  t.b.block();
  t.add(t.a, 1);
  t.finish();
  passes::join_blocks(t.f);
  CHECK(t.f.blocks.size() == 1);
  CHECK(test::count_of(t.f, Opcode::bra) == 0);
}

TEST_CASE("conversion of branches keeps what random programs do") {
  std::mt19937 random(4711);
  std::uint32_t converted = 0, narrowed = 0;
  for (unsigned round = 0; round < 600; ++round) {
    test::StructuredShape shape;
    shape.length = 1 + round % 4;
    shape.guards = round % 4 == 0;
    shape.parts = 2 + round % 4;
    shape.depth = 1 + round % 3;
    shape.fences = round % 2 == 0;
    auto f = test::structured_program(random, shape);
    const auto before = test::outcome(f);
    REQUIRE(before.finished);
    const std::size_t fences = test::count_of(f, Opcode::bar);
    INFO("round " << round);
    converted += passes::convert_branches(f, 2 + round % 31);
    REQUIRE(test::outcome(f) == before);
    CHECK(test::count_of(f, Opcode::bar) == fences);
    for (const ir::Block& block : f.blocks)
      for (const ir::Instruction& i : block.instructions) {
        narrowed += i.op == Opcode::setp && i.mod.bool_op == ir::BoolOp::and_;
        CHECK(!(i.op == Opcode::bar && i.guarded));
      }
  }
  CHECK(converted > 500);
  CHECK(narrowed > 5);
}

TEST_CASE("conversion of branches keeps what programs with jumps to anywhere do") {
  std::mt19937 random(4712);
  std::uint32_t converted = 0;
  for (unsigned round = 0; round < 400; ++round) {
    test::Shape shape;
    shape.blocks = 3 + round % 9;
    shape.instructions = 1 + round % 8;
    shape.ordered = round % 2 == 0;
    auto f = test::random_program(random, shape);
    // Not all of them end: those that do must do so still.
    const auto before = test::outcome(f, 1000);
    converted += passes::convert_branches(f, 12);
    if (before.finished) REQUIRE(test::outcome(f, 1000) == before);
  }
  CHECK(converted > 5);
}
