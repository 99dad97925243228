// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/cleanup.h>
#include <regatta/test/catch.h>

#include "generator.h"
#include "outcome.h"
#include "structured_program.h"
#include "three_inputs.h"

using namespace regatta;
using ir::Opcode;
using ir::Operand;
using ir::Type;

namespace {

/// Three parameters in registers, and the value that the code in between computes, stored.
struct Expression {
  ir::Function f;
  test::Builder b{f};
  std::uint32_t base = b.pair(), x = b.single(), y = b.single(), z = b.single();

  Expression() {
    b.block();
    b.parameter(base, 0);
    b.parameter(x, 8);
    b.parameter(y, 12);
    b.parameter(z, 16);
  }
  Operand of(Opcode op, std::vector<Operand> from, Type type = Type::b32) {
    const Operand to = b.operand(type == Type::pred ? b.predicate() : b.single());
    b.emit(op, type, {to}, std::move(from));
    return to;
  }
  Operand less(std::uint32_t v, std::uint64_t bound) {
    const Operand to = b.operand(b.predicate());
    b.emit(Opcode::setp, Type::u32, {to}, {b.operand(v), Operand::immediate(bound)}).mod.compare = ir::Compare::lt;
    return to;
  }
  Operand operator[](std::uint32_t v) const { return b.operand(v); }

  /// The last instructions after joining, one a line, without the stores.
  std::string joined(const Operand& result) {
    b.store(base, {result.id});
    b.exit();
    ir::build_edges(f);
    const auto before = test::outcome(f);
    passes::join_operations(f);
    REQUIRE(test::outcome(f) == before);
    passes::cleanup(f);
    REQUIRE(test::outcome(f) == before);
    std::string text;
    for (const ir::Instruction& i : f.blocks[0].instructions)
      if (i.op != Opcode::ld && i.op != Opcode::st && i.op != Opcode::exit)
        text += (text.empty() ? "" : " ") + ir::to_text(i, false);
    return text;
  }
};

}  // namespace

TEST_CASE("two additions are one of three operands") {
  Expression e;
  const auto t = e.of(Opcode::add, {e[e.x], e[e.y]});
  CHECK(e.joined(e.of(Opcode::add, {t, e[e.z]})) == "add3.b32 %v5, %v1, %v2, %v3;");
}

TEST_CASE("a shift and an addition are a shifted addition") {
  Expression e;
  const auto t = e.of(Opcode::shl, {e[e.x], Operand::immediate(3)});
  CHECK(e.joined(e.of(Opcode::add, {e[e.y], t})) == "lea.b32 %v5, %v1, %v2, 0x3;");
}

TEST_CASE("a shift by the width or more stays") {
  Expression e;
  const auto t = e.of(Opcode::shl, {e[e.x], Operand::immediate(32)});
  e.joined(e.of(Opcode::add, {e[e.y], t}));
  CHECK(test::count_of(e.f, Opcode::lea) == 0);
}

TEST_CASE("a product and an addition are one operation") {
  Expression e;
  const auto t = e.of(Opcode::mul_lo, {e[e.x], Operand::immediate(12)}, Type::u32);
  CHECK(e.joined(e.of(Opcode::add, {t, e[e.y]}, Type::u32)) == "mad.lo.u32 %v5, %v1, 0xc, %v2;");
}

TEST_CASE("an instruction keeps one operand at most that is no register") {
  Expression e;
  const auto t = e.of(Opcode::add, {e[e.x], Operand::immediate(5)});
  e.joined(e.of(Opcode::add, {t, Operand::parameter(20, 1)}));
  CHECK(test::count_of(e.f, Opcode::add3) == 0);
}

TEST_CASE("a value that is read twice is computed on its own") {
  Expression e;
  const auto t = e.of(Opcode::add, {e[e.x], e[e.y]});
  const auto u = e.of(Opcode::add, {t, e[e.z]});
  e.joined(e.of(Opcode::xor_, {u, t}));
  CHECK(test::count_of(e.f, Opcode::add3) == 0);
}

TEST_CASE("operands that change in between are read where they were") {
  Expression e;
  const auto t = e.of(Opcode::add, {e[e.x], e[e.y]});
  e.b.emit(Opcode::add, Type::b32, {e[e.x]}, {e[e.x], Operand::immediate(1)});
  e.joined(e.of(Opcode::add, {t, e[e.x]}));
  CHECK(test::count_of(e.f, Opcode::add3) == 0);
}

TEST_CASE("logic of two operations is a table: all pairs of them, on either side") {
  const Opcode inner = GENERATE(Opcode::and_, Opcode::or_, Opcode::xor_, Opcode::not_),
               outer = GENERATE(Opcode::and_, Opcode::or_, Opcode::xor_);
  const bool first = GENERATE(true, false);
  Expression e;
  const auto t = inner == Opcode::not_ ? e.of(inner, {e[e.x]}) : e.of(inner, {e[e.x], e[e.y]});
  e.joined(e.of(outer, first ? std::vector<Operand>{t, e[e.z]} : std::vector<Operand>{e[e.z], t}));
  CHECK(test::count_of(e.f, Opcode::lop3) == 1);
}

TEST_CASE("the table of three ands has one entry") {
  Expression e;
  const auto t = e.of(Opcode::and_, {e[e.x], e[e.y]});
  CHECK(e.joined(e.of(Opcode::and_, {t, e[e.z]})) == "lop3.b32 %v5, %v1, %v2, %v3, 0x80;");
}

TEST_CASE("a comparison takes the predicate that its result is joined with, negated or not") {
  const bool negated = GENERATE(false, true);
  const Opcode op = GENERATE(Opcode::and_, Opcode::or_);
  const std::uint64_t bound = GENERATE(0u, 0xffffffffu), other = GENERATE(0u, 0xffffffffu);
  Expression e;
  Operand p = e.less(e.x, bound);
  const Operand q = e.less(e.y, other);
  p.negated = negated;
  const Operand both = e.of(op, {q, p}, Type::pred);
  e.joined(e.of(Opcode::selp, {e[e.x], e[e.z], both}));
  CHECK(test::count_of(e.f, Opcode::setp) == 2);
  CHECK(test::count_of(e.f, op) == 0);
}

TEST_CASE("joining of operations keeps what random programs do") {
  std::mt19937 random(815);
  std::uint32_t joined = 0;
  std::size_t sums = 0, shifted = 0, products = 0, tables = 0;
  for (unsigned round = 0; round < 500; ++round) {
    test::StructuredShape shape;
    shape.length = 4 + round % 20;
    shape.depth = round % 3;
    auto f = test::structured_program(random, shape);
    const auto before = test::outcome(f);
    const std::size_t length = f.instruction_count();
    INFO("round " << round);
    const std::uint32_t count = passes::join_operations(f);
    REQUIRE(test::outcome(f) == before);
    passes::cleanup(f);
    REQUIRE(test::outcome(f) == before);
    CHECK(f.instruction_count() + count <= length);
    joined += count;
    sums += test::count_of(f, Opcode::add3);
    shifted += test::count_of(f, Opcode::lea);
    products += test::count_of(f, Opcode::mad_lo);
    tables += test::count_of(f, Opcode::lop3);
  }
  CHECK(joined > 1000);
  CHECK(sums > 50);
  CHECK(shifted > 50);
  CHECK(products > 20);
  CHECK(tables > 200);
}
