// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/cleanup.h>
#include <regatta/test/catch.h>

#include "generator.h"
#include "outcome.h"
#include "redundancy.h"
#include "structured_program.h"

using namespace regatta;
using ir::Opcode;
using ir::Operand;
using ir::Type;

namespace {

/// A loop of five iterations; what is emitted before finish() stands in its body.
struct Looping {
  ir::Function f;
  test::Builder b{f};
  std::uint32_t base = b.pair(), x = b.single(), n = b.single(), p = b.predicate();

  explicit Looping(bool opened = true) {
    b.block();
    b.parameter(base, 0);
    b.parameter(x, 8);
    b.emit(Opcode::mov, Type::b32, {b.operand(n)}, {Operand::immediate(0)});
    if (opened) b.block();
  }
  std::uint32_t sum(std::uint32_t v, std::uint64_t number) {
    const std::uint32_t to = b.single();
    b.emit(Opcode::add, Type::u32, {b.operand(to)}, {b.operand(v), Operand::immediate(number)});
    return to;
  }
  void finish(std::uint32_t top = 1) {
    b.emit(Opcode::add, Type::u32, {b.operand(n)}, {b.operand(n), Operand::immediate(1)});
    b.emit(Opcode::setp, Type::u32, {b.operand(p)}, {b.operand(n), Operand::immediate(5)}).mod.compare =
        ir::Compare::lt;
    auto& back = b.branch(top);
    back.guarded = true;
    back.guard = p;
    b.block();
    b.exit();
    ir::build_edges(f);
  }
};

}  // namespace

TEST_CASE("a value that was computed is read instead of computed again") {
  Looping t;
  const auto first = t.sum(t.x, 3), second = t.sum(t.x, 3), other = t.sum(t.x, 4);
  t.b.store(t.base, {first});
  t.b.store(t.base, {second}, 4);
  t.b.store(t.base, {other}, 8);
  t.finish();
  const auto before = test::outcome(t.f);
  CHECK(passes::share_values(t.f) == 1);
  CHECK(test::outcome(t.f) == before);
  CHECK(t.f.blocks[1].instructions[4].sources[1].id == first);
}

TEST_CASE("values of sides that exclude each other are not shared") {
  Looping t;
  t.b.emit(Opcode::setp, Type::u32, {t.b.operand(t.p)}, {t.b.operand(t.n), Operand::immediate(2)}).mod.compare =
      ir::Compare::lt;
  auto& jump = t.b.branch(3);
  jump.guarded = true;
  jump.guard = t.p;
  t.b.block();
  t.b.store(t.base, {t.sum(t.x, 3)});
  t.b.block();
  t.b.store(t.base, {t.sum(t.x, 3)}, 4);
  t.finish();
  CHECK(passes::share_values(t.f) == 0);
}

TEST_CASE("values that read what changes around a loop are not shared") {
  // `old` is the sum of the last iteration where it stands before the definition, and that of this one behind it.
  Looping t;
  const auto value = t.b.single(), old = t.b.single(), current = t.b.single();
  t.b.emit(Opcode::add, Type::u32, {t.b.operand(old)}, {t.b.operand(value), Operand::immediate(1)});
  t.b.store(t.base, {old});
  t.b.emit(Opcode::mul_lo, Type::u32, {t.b.operand(value)}, {t.b.operand(t.n), Operand::immediate(10)});
  t.b.emit(Opcode::add, Type::u32, {t.b.operand(current)}, {t.b.operand(value), Operand::immediate(1)});
  t.b.store(t.base, {current}, 4);
  t.finish();
  const auto before = test::outcome(t.f);
  passes::share_values(t.f);
  CHECK(test::outcome(t.f) == before);
}

TEST_CASE("what does not change in a loop is computed in front of it") {
  Looping t;
  const auto constant = t.sum(t.x, 3), next = t.sum(constant, 4), changing = t.sum(t.n, 1);
  t.b.store(t.base, {next});
  t.b.store(t.base, {changing}, 4);
  t.finish();
  const auto before = test::outcome(t.f);
  CHECK(passes::hoist_invariants(t.f) == 2);
  CHECK(test::outcome(t.f) == before);
  CHECK(t.f.blocks[0].instructions.size() == 5);
}

TEST_CASE("a value moves out of all the loops that it does not change in") {
  Looping t;
  const auto inner = t.b.single(), outer = t.b.single(), again = t.b.predicate();
  t.b.emit(Opcode::mul_lo, Type::u32, {t.b.operand(outer)}, {t.b.operand(t.n), Operand::immediate(10)});
  t.b.emit(Opcode::mov, Type::b32, {t.b.operand(inner)}, {Operand::immediate(0)});
  const auto top = t.b.block();
  t.b.store(t.base, {t.sum(t.x, 3)});
  t.b.store(t.base, {t.sum(outer, 3)}, 4);
  t.b.emit(Opcode::add, Type::u32, {t.b.operand(inner)}, {t.b.operand(inner), Operand::immediate(1)});
  t.b.emit(Opcode::setp, Type::u32, {t.b.operand(again)}, {t.b.operand(inner), Operand::immediate(3)}).mod.compare =
      ir::Compare::lt;
  auto& back = t.b.branch(top);
  back.guarded = true;
  back.guard = again;
  t.b.block();
  t.finish();
  const auto before = test::outcome(t.f);
  CHECK(passes::hoist_invariants(t.f) == 3);  // one of them twice
  CHECK(test::outcome(t.f) == before);
  CHECK(test::count_of(t.f, Opcode::add) == 4);
  for (const ir::Instruction& i : t.f.blocks[2].instructions) CHECK((i.op != Opcode::add || i.sources[0].id == inner));
}

TEST_CASE("a value whose operand is computed on one way to the loop does not move in front of that") {
  // p: x is loaded, and the loop reads it; otherwise the loop reads it nowhere. The nearest block on all ways to the
  // loop is before the load.
  Looping t(false);
  const auto q = t.b.predicate(), y = t.b.single(), z = t.b.single();
  t.b.emit(Opcode::setp, Type::u32, {t.b.operand(q)}, {t.b.operand(t.x), t.b.operand(t.x)}).mod.compare =
      ir::Compare::ne;
  const auto under = [&](ir::Instruction& i) {
    i.guarded = true;
    i.guard = q;
  };
  under(t.b.branch(2));
  t.b.block();
  t.b.load({y}, t.base, 64);
  t.b.block();
  under(t.b.branch(4));
  t.b.block();
  t.b.emit(Opcode::add, Type::u32, {t.b.operand(z)}, {t.b.operand(y), Operand::immediate(7)});
  t.b.store(t.base, {z});
  t.b.block();
  t.finish(2);
  const auto before = test::outcome(t.f);
  passes::hoist_invariants(t.f);
  CHECK(test::outcome(t.f) == before);
}

TEST_CASE("sharing and hoisting keep what random programs do") {
  std::mt19937 random(99);
  std::uint32_t shared = 0, moved = 0;
  for (unsigned round = 0; round < 500; ++round) {
    test::StructuredShape shape;
    shape.length = 4 + round % 20;
    shape.depth = 1 + round % 3;
    auto f = test::structured_program(random, shape);
    // Values twice, in the same block.
    for (ir::Block& block : f.blocks) {
      std::vector<ir::Instruction> twice;
      for (const ir::Instruction& i : block.instructions) {
        twice.push_back(i);
        if (i.op != Opcode::mul_lo || i.guarded) continue;
        const auto copy = static_cast<std::uint32_t>(f.registers.size());
        f.registers.push_back(f.registers[i.destinations[0].id]);
        twice.push_back(i);
        twice.back().destinations[0].id = copy;
        ir::Instruction sum = i;
        sum.op = Opcode::add;
        sum.destinations[0].id = copy + 1;
        sum.sources = {Operand::reg(copy, 1), i.destinations[0]};
        f.registers.push_back(f.registers[copy]);
        twice.push_back(sum);
        ir::Instruction store;
        store.op = Opcode::st;
        store.type = Type::b32;
        store.mod.space = trace::MemorySpace::global;
        store.sources = {Operand::immediate(0x10000 + 4 * copy, 2), sum.destinations[0]};
        twice.push_back(store);
      }
      block.instructions = std::move(twice);
    }
    const auto before = test::outcome(f);
    INFO("round " << round);
    shared += passes::share_values(f);
    REQUIRE(test::outcome(f) == before);
    moved += passes::hoist_invariants(f);
    REQUIRE(test::outcome(f) == before);
    passes::cleanup(f);
    REQUIRE(test::outcome(f) == before);
  }
  CHECK(shared > 200);
  CHECK(moved > 200);
}

TEST_CASE("sharing and hoisting keep what programs with jumps to anywhere do") {
  std::mt19937 random(100);
  for (unsigned round = 0; round < 400; ++round) {
    test::Shape shape;
    shape.blocks = 2 + round % 9;
    shape.instructions = 5 + round % 20;
    shape.addresses = true;
    auto f = test::random_program(random, shape);
    const auto before = test::interpret(f, 200);
    passes::share_values(f);
    REQUIRE(test::interpret(f, 200) == before);
    passes::hoist_invariants(f);
    REQUIRE(test::interpret(f, 200) == before);
  }
}
