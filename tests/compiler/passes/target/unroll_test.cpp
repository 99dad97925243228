// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/cleanup.h>
#include <regatta/test/catch.h>

#include "counted_loops.h"
#include "generator.h"
#include "outcome.h"
#include "structured_program.h"
#include "unroll.h"

using namespace regatta;
using ir::Opcode;
using ir::Operand;
using ir::Type;

namespace {

/// x += counter, while ++counter < bound.
struct Adding {
  ir::Function f;
  test::Builder b{f};
  std::uint32_t base = b.pair(), x = b.single(), n = b.single(), bound = b.single(), p = b.predicate();

  /// A bound of 0 is one that is not known when the code is compiled.
  explicit Adding(unsigned trips, Opcode also = Opcode::nop) {
    b.block();
    b.parameter(base, 0);
    b.parameter(x, 8);
    b.parameter(bound, 12);
    b.emit(Opcode::mov, Type::b32, {b.operand(n)}, {Operand::immediate(0)});
    b.block();
    b.emit(Opcode::add, Type::u32, {b.operand(x)}, {b.operand(x), b.operand(n)});
    if (also != Opcode::nop) b.emit(also, Type::b32, {}, {});
    b.emit(Opcode::add, Type::u32, {b.operand(n)}, {b.operand(n), Operand::immediate(1)});
    b.emit(Opcode::setp, Type::u32, {b.operand(p)},
           {b.operand(n), trips == 0 ? b.operand(bound) : Operand::immediate(trips)})
        .mod.compare = ir::Compare::lt;
    auto& back = b.branch(1);
    back.guarded = true;
    back.guard = p;
    b.block();
    b.store(base, {x});
    b.exit();
    ir::build_edges(f);
  }
};

}  // namespace

TEST_CASE("a short loop of a known trip count loses its branch") {
  Adding t(5);
  const auto before = test::outcome(t.f);
  CHECK(passes::unroll_loops(t.f, {40, 4}) == 1);
  CHECK(test::outcome(t.f) == before);
  CHECK(test::count_of(t.f, Opcode::bra) == 0);
  CHECK(t.f.blocks[1].instructions.size() == 15);
  // No copy waits for the counter of the one before.
  for (const ir::Instruction& i : t.f.blocks[1].instructions)
    if (i.op == Opcode::add && i.sources[1].kind == Operand::Kind::immediate) CHECK(i.sources[0].id == t.n);
}

TEST_CASE("a longer loop of a known trip count keeps one branch if the copies divide the count") {
  Adding t(40);
  const auto before = test::outcome(t.f);
  CHECK(passes::unroll_loops(t.f, {40, 4}) == 1);
  CHECK(test::outcome(t.f) == before);
  CHECK(t.f.blocks.size() == 3);
  CHECK(test::count_of(t.f, Opcode::bra) == 1);
  CHECK(test::count_of(t.f, Opcode::setp) == 4);
}

TEST_CASE("a loop of an unknown trip count gets copies, and does the rest itself") {
  for (const unsigned trips : {0u, 41u}) {
    Adding t(trips);
    CHECK(passes::unroll_loops(t.f, {40, 4}) == 1);
    CHECK(t.f.blocks.size() == 6);
    CHECK(t.f.blocks[2].instructions.back().target == 2);
    CHECK(t.f.blocks[4].instructions.back().target == 4);
    // Neither is unrolled again.
    CHECK(passes::unroll_loops(t.f, {400, 4}) == 0);
  }
}

TEST_CASE("who jumps to a loop of an unknown trip count comes to the check in front of its copies") {
  Adding t(0);
  t.f.blocks[0].instructions.push_back(t.f.blocks[1].instructions.back());
  t.f.blocks[0].instructions.back().guarded = false;
  ir::build_edges(t.f);
  CHECK(passes::unroll_loops(t.f, {40, 4}) == 1);
  CHECK(t.f.blocks[0].instructions.back().target == 1);
  CHECK(t.f.blocks[1].instructions.back().target == 4);
}

TEST_CASE("a loop too long for two copies stays") {
  Adding t(0);
  CHECK(passes::unroll_loops(t.f, {11, 4}) == 0);
  CHECK(passes::unroll_loops(t.f, {12, 4}) == 1);
}

TEST_CASE("a loop with a barrier, and one that is marked, stay") {
  for (const Opcode op : {Opcode::bar, Opcode::warp_sync}) {
    Adding t(5, op);
    CHECK(passes::unroll_loops(t.f, {100, 4}) == 0);
  }
  Adding t(5);
  t.f.blocks[1].keeps_loop = true;
  CHECK(passes::unroll_loops(t.f, {100, 4}) == 0);
}

TEST_CASE("a loop whose lanes work together is unrolled only where all lanes run it equally often") {
  for (const Opcode op : {Opcode::shfl, Opcode::vote, Opcode::match, Opcode::redux, Opcode::activemask}) {
    INFO(ir::to_string(op));
    Adding known(8, op);
    CHECK(passes::unroll_loops(known.f, {100, 4}) == 1);
    Adding unknown(0, op);
    CHECK(passes::unroll_loops(unknown.f, {100, 4}) == 0);
    // A parameter is the same for all lanes.
    Adding uniform(0, op);
    for (ir::Instruction& i : uniform.f.blocks[1].instructions)
      if (i.op == Opcode::setp) i.sources[1] = Operand::parameter(12, 1);
    CHECK(passes::unroll_loops(uniform.f, {100, 4}) == 1);
  }
}

TEST_CASE("a loop whose copies step past 32 bits stays") {
  for (const std::uint32_t step : {0x55555555u, 0x55555556u}) {
    Adding t(0);
    for (ir::Instruction& i : t.f.blocks[1].instructions)
      if (i.op == Opcode::add && i.sources[0].id == t.n) i.sources[1].value = step;
    CHECK(passes::unroll_loops(t.f, {100, 4}) == (step == 0x55555555u ? 1u : 0u));
  }
}

TEST_CASE("unrolling keeps what counted loops do") {
  const bool known = GENERATE(false, true), far_steps = GENERATE(false, true);
  std::mt19937 random(known ? 17 : 18);
  unsigned loops = 0, unrolled = 0;
  for (unsigned round = 0; round < 1500; ++round) {
    test::CountedShape shape;
    shape.loops = 1 + round % 3;
    shape.known = known;
    shape.far_steps = far_steps;
    auto f = test::counted_loops(random, shape);
    const auto before = test::outcome(f);
    REQUIRE(before.finished);
    constexpr unsigned lengths[] = {20, 60, 136, 500};
    passes::UnrollOptions options;
    options.longest = lengths[round % 4];
    options.copies = 2 + round % 5;
    INFO("round " << round << ", " << options.longest << " instructions, " << options.copies << " copies");
    loops += shape.loops;
    unrolled += passes::unroll_loops(f, options);
    REQUIRE(test::outcome(f) == before);
    passes::cleanup(f);
    REQUIRE(test::outcome(f) == before);
  }
  CHECK(unrolled > loops / 3);
}

TEST_CASE("marked loops stay as they are") {
  std::mt19937 random(19);
  for (unsigned round = 0; round < 100; ++round) {
    test::CountedShape shape;
    shape.known = round % 2 == 0;
    shape.kept = true;
    auto f = test::counted_loops(random, shape);
    const std::size_t length = f.instruction_count();
    CHECK(passes::unroll_loops(f, {500, 4}) == 0);
    CHECK(f.instruction_count() == length);
  }
}

TEST_CASE("unrolling keeps what random programs do") {
  std::mt19937 random(20);
  std::uint32_t unrolled = 0;
  for (unsigned round = 0; round < 400; ++round) {
    test::StructuredShape shape;
    shape.length = 1 + round % 6;
    shape.depth = 1 + round % 3;
    auto f = test::structured_program(random, shape);
    const auto before = test::outcome(f);
    INFO("round " << round);
    unrolled += passes::unroll_loops(f, {136, 4});
    REQUIRE(test::outcome(f) == before);
  }
  CHECK(unrolled > 100);
}
