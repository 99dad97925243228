// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/register_allocation.h>
#include <regatta/test/catch.h>

#include <algorithm>
#include <stdexcept>

#include "generator.h"
#include "interpreter.h"

using namespace regatta;
using passes::AllocationOptions;

namespace {

/// Allocates a copy, verifies it, and compares what it stores with the original. Returns what allocation said.
passes::AllocationResult check_same(const ir::Function& original, AllocationOptions options,
                                    ir::Function* allocated = nullptr) {
  options.keep_before = true;
  ir::Function f = original;
  const auto result = passes::allocate_registers(f, options);
  passes::verify_allocation(result, f);
  REQUIRE(f.allocated);
  REQUIRE(f.registers_used <= options.max_registers);
  REQUIRE(f.predicates_used <= trace::max_predicates);
  for (const auto& block : f.blocks)
    for (const auto& i : block.instructions)
      for (const auto* operands : {&i.destinations, &i.sources})
        for (const auto& o : *operands) {
          if (o.is_reg()) REQUIRE((o.id % o.words == 0 && o.id + o.words <= f.registers_used));
          if (o.is_predicate()) REQUIRE(o.id < f.predicates_used);
        }
  REQUIRE(test::interpret(original, 200) == test::interpret(f, 200));
  if (allocated) *allocated = f;
  return result;
}

std::size_t count_of(const ir::Function& f, ir::Opcode op) {
  std::size_t n = 0;
  for (const auto& block : f.blocks)
    for (const auto& i : block.instructions) n += i.op == op;
  return n;
}

}  // namespace

TEST_CASE("random straight-line programs compute the same after allocation") {
  std::mt19937 random(21);
  for (unsigned round = 0; round < 120; ++round) {
    test::Shape shape;
    shape.instructions = 60;
    shape.singles = 4 + round % 40;
    shape.pairs = 3 + round % 17;
    shape.predicates = 1 + round % 12;
    shape.ordered = round % 3 == 0;
    shape.addresses = round % 3 == 1;
    const auto f = test::random_program(random, shape);
    for (unsigned registers : {16u, 24u, 63u, 255u}) {
      AllocationOptions options;
      options.max_registers = registers;
      check_same(f, options);
    }
  }
}

TEST_CASE("random branchy programs compute the same after allocation") {
  std::mt19937 random(22);
  for (unsigned round = 0; round < 200; ++round) {
    test::Shape shape;
    shape.blocks = 2 + round % 14;
    shape.instructions = 4 + round % 12;
    shape.singles = 4 + round % 30;
    shape.pairs = 3 + round % 11;
    shape.predicates = 1 + round % 12;
    shape.ordered = round % 3 == 0;
    shape.addresses = round % 3 == 1;
    const auto f = test::random_program(random, shape);
    for (unsigned registers : {16u, 24u, 63u, 255u}) {
      AllocationOptions options;
      options.max_registers = registers;
      options.coalesce = round % 5 != 0;
      options.banks = round % 3 == 0 ? 1 : 8;
      options.cleanup = round % 2 == 0;
      options.schedule = round % 4 < 2;
      check_same(f, options);
    }
  }
}

TEST_CASE("more than seven live predicates go to general registers") {
  ir::Function f;
  test::Builder b(f);
  const auto a = b.pair(), x = b.single(), sum = b.single();
  b.block();
  b.parameter(a, 0);
  b.parameter(x, 8);
  std::vector<std::uint32_t> predicates;
  for (unsigned n = 0; n < 20; ++n) {
    predicates.push_back(b.predicate());
    auto& i = b.emit(ir::Opcode::setp, ir::Type::u32, {b.operand(predicates.back())},
                     {b.operand(x), ir::Operand::immediate(std::uint64_t{n} << 27)});
    i.mod.compare = ir::Compare::lo;
  }
  b.emit(ir::Opcode::mov, ir::Type::b32, {b.operand(sum)}, {ir::Operand::immediate(0)});
  for (unsigned n = 0; n < 20; ++n) {
    auto& i =
        b.emit(ir::Opcode::add, ir::Type::u32, {b.operand(sum)}, {b.operand(sum), ir::Operand::immediate(1u << n)});
    i.guarded = true;
    i.guard = predicates[n];
  }
  b.store(a, {sum});
  b.exit();
  ir::build_edges(f);
  AllocationOptions unscheduled;
  unscheduled.schedule = false;
  const auto result = check_same(f, unscheduled);
  CHECK(result.spilled_predicates >= 13);
  CHECK(result.spilled_registers == 0);
  CHECK(result.predicates_used == 7);
}

TEST_CASE("spills are reported and lie behind the kernel's own frame") {
  ir::Function f;
  f.local_bytes = 12;
  test::Builder b(f);
  const auto a = b.pair();
  b.block();
  b.parameter(a, 0);
  std::vector<std::uint32_t> values;
  for (unsigned n = 0; n < 40; ++n) {
    values.push_back(b.single());
    b.load({values.back()}, a, 4 * n);
  }
  for (std::uint32_t v : values) b.store(a, {v}, v);
  b.exit();
  ir::build_edges(f);
  AllocationOptions options;
  options.schedule = false;
  options.max_registers = 16;
  ir::Function out;
  const auto result = check_same(f, options, &out);
  CHECK(result.spilled_registers >= 40 - 16);
  CHECK(result.spill_bytes >= 4 * result.spilled_registers);
  CHECK(out.spilled_registers == result.spilled_registers);
  CHECK(out.local_bytes == 12 + out.spill_bytes);
  for (const auto& i : out.blocks[0].instructions)
    if (i.mod.space == trace::MemorySpace::local) CHECK(i.sources[0].value >= 12);
  CHECK(check_same(f, {}).spilled_registers == 0);
}

TEST_CASE("constants are recomputed rather than spilled") {
  ir::Function f;
  test::Builder b(f);
  const auto a = b.pair();
  b.block();
  b.parameter(a, 0);
  std::vector<std::uint32_t> values;
  for (unsigned n = 0; n < 40; ++n) {
    values.push_back(b.single());
    b.emit(ir::Opcode::mov, ir::Type::b32, {b.operand(values.back())}, {ir::Operand::immediate(n)});
  }
  for (std::uint32_t v : values) b.store(a, {v}, v);
  b.exit();
  ir::build_edges(f);
  AllocationOptions options;
  options.schedule = false;
  options.max_registers = 16;
  const auto result = check_same(f, options);
  CHECK(result.spilled_registers == 0);
  CHECK(result.spill_bytes == 0);
  CHECK(result.rematerialized >= 24);
}

TEST_CASE("vectors, packs and copies cost no instruction where their places can agree") {
  ir::Function f;
  test::Builder b(f);
  const auto a = b.pair(), w = b.pair();
  const auto x = b.single(), y = b.single(), z = b.single(), u = b.single(), v = b.single(), q = b.single();
  b.block();
  b.parameter(a, 0);
  b.load({x, y, z, u}, a, 16);
  b.store(a, {x, y, z, u}, 32);
  b.load({v, q}, a, 64);
  b.emit(ir::Opcode::pack, ir::Type::b64, {b.operand(w)}, {b.operand(v), b.operand(q)});
  b.store(a, {w}, 8);
  b.exit();
  ir::build_edges(f);
  ir::Function out;
  const auto result = check_same(f, {}, &out);
  CHECK(count_of(out, ir::Opcode::mov) == 0);
  CHECK(count_of(out, ir::Opcode::pack) == 0);
  CHECK(out.instruction_count() == 6);
  CHECK(result.registers_used <= 8);
}

TEST_CASE("a loop's phi copies disappear") {
  ir::Function f;
  test::Builder b(f);
  const auto a = b.pair();
  const auto i = b.single(), next = b.single();
  const auto p = b.predicate();
  b.block();
  b.parameter(a, 0);
  b.emit(ir::Opcode::mov, ir::Type::b32, {b.operand(i)}, {ir::Operand::immediate(0)});
  const auto loop = b.block();
  b.store(a, {i});
  b.emit(ir::Opcode::add, ir::Type::u32, {b.operand(next)}, {b.operand(i), ir::Operand::immediate(1)});
  b.emit(ir::Opcode::setp, ir::Type::u32, {b.operand(p)}, {b.operand(next), ir::Operand::immediate(10)}).mod.compare =
      ir::Compare::ne;
  b.emit(ir::Opcode::mov, ir::Type::b32, {b.operand(i)}, {b.operand(next)});
  auto& back = b.branch(loop);
  back.guarded = true;
  back.guard = p;
  b.block();
  b.exit();
  ir::build_edges(f);
  ir::Function out;
  check_same(f, {}, &out);
  CHECK(count_of(out, ir::Opcode::mov) == 1);
  CHECK(out.registers_used == 3);
}

TEST_CASE("sources of one instruction fall in different banks where registers allow") {
  std::mt19937 random(23);
  std::size_t with = 0, without = 0;
  for (unsigned round = 0; round < 40; ++round) {
    test::Shape shape;
    shape.instructions = 40;
    shape.singles = 16;
    shape.vectors = false;
    const auto f = test::random_program(random, shape);
    for (unsigned banks : {1u, 4u}) {
      AllocationOptions options;
      options.banks = banks;
      ir::Function out;
      check_same(f, options, &out);
      for (const auto& block : out.blocks)
        for (const auto& i : block.instructions)
          for (std::size_t m = 0; m < i.sources.size(); ++m)
            for (std::size_t n = m + 1; n < i.sources.size(); ++n)
              if (i.sources[m].is_reg() && i.sources[n].is_reg() && i.sources[m].id != i.sources[n].id)
                (banks == 4 ? with : without) += i.sources[m].id % 4 == i.sources[n].id % 4;
    }
  }
  CHECK(with < without);
}

TEST_CASE("impossible options and programs are refused") {
  ir::Function f;
  f.name = "k";
  test::Builder b(f);
  b.block();
  b.exit();
  AllocationOptions options;
  options.max_registers = 15;
  CHECK_THROWS_AS(passes::allocate_registers(f, options), trace::InputError);
  options.max_registers = 256;
  CHECK_THROWS_AS(passes::allocate_registers(f, options), trace::InputError);
  options.max_registers = 16;
  // One access of four 64-bit elements would need eight consecutive registers.
  const auto a = b.pair();
  std::vector<std::uint32_t> values;
  for (unsigned n = 0; n < 4; ++n) values.push_back(b.pair());
  f.blocks[0].instructions.clear();
  b.load(values, a);
  b.store(a, values);
  b.exit();
  CHECK_THROWS_AS(passes::allocate_registers(f, options), trace::InputError);
}

TEST_CASE("the verifier finds a register that was given away too early") {
  ir::Function f;
  test::Builder b(f);
  const auto a = b.pair(), x = b.single(), y = b.single();
  b.block();
  b.parameter(a, 0);
  b.load({x}, a);
  b.load({y}, a, 4);
  b.store(a, {x});
  b.store(a, {y});
  b.exit();
  ir::build_edges(f);
  AllocationOptions options;
  options.keep_before = true;
  auto result = passes::allocate_registers(f, options);
  passes::verify_allocation(result, f);
  SECTION("both values in one register") {
    const auto from = static_cast<std::uint32_t>(result.assignment[y]);
    result.assignment[y] = result.assignment[x];
    for (auto& i : f.blocks[0].instructions)
      for (auto* operands : {&i.destinations, &i.sources})
        for (auto& o : *operands)
          if (o.is_reg() && o.words == 1 && o.id == from) o.id = static_cast<std::uint32_t>(result.assignment[x]);
    CHECK_THROWS_AS(passes::verify_allocation(result, f), std::logic_error);
  }
  SECTION("a wrong operand") {
    f.blocks[0].instructions[3].sources[1].id ^= 1;
    CHECK_THROWS_AS(passes::verify_allocation(result, f), std::logic_error);
  }
  SECTION("a lost instruction") {
    f.blocks[0].instructions.erase(f.blocks[0].instructions.begin() + 1);
    CHECK_THROWS_AS(passes::verify_allocation(result, f), std::logic_error);
  }
}

TEST_CASE("a kernel of ten thousand instructions is allocated in seconds") {
  // Every tenth value lives to the end of its block, the others are used once soon after.
  std::mt19937 random(24);
  ir::Function f;
  test::Builder b(f);
  const auto a = b.pair(), counter = b.single();
  const auto p = b.predicate();
  b.block();
  b.parameter(a, 0);
  b.emit(ir::Opcode::mov, ir::Type::b32, {b.operand(counter)}, {ir::Operand::immediate(0)});
  for (unsigned n = 0; n < 50; ++n) {
    const auto block = b.block();
    std::vector<std::uint32_t> kept{counter};
    std::uint32_t last = counter;
    for (unsigned k = 0; k < 200; ++k) {
      const auto v = b.single();
      b.emit(ir::Opcode::add, ir::Type::u32, {b.operand(v)},
             {b.operand(last), b.operand(kept[random() % kept.size()])});
      if (k % 10 == 0) kept.push_back(v);
      last = v;
    }
    for (std::uint32_t v : kept) b.store(a, {v});
    b.emit(ir::Opcode::add, ir::Type::u32, {b.operand(counter)}, {b.operand(counter), ir::Operand::immediate(1)});
    b.emit(ir::Opcode::setp, ir::Type::u32, {b.operand(p)}, {b.operand(counter), ir::Operand::immediate(2 * n)})
        .mod.compare = ir::Compare::lo;
    auto& back = b.branch(block);
    back.guarded = true;
    back.guard = p;
  }
  b.block();
  b.exit();
  ir::build_edges(f);
  AllocationOptions options;
  CHECK(check_same(f, options).spilled_registers == 0);
  options.max_registers = 16;
  CHECK(check_same(f, options).spilled_registers > 50);
}
