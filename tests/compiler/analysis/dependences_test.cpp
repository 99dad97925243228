// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/dependences.h>
#include <regatta/test/catch.h>

#include <algorithm>

#include "graphs.h"

using namespace regatta;
using analysis::Dependences;
using ir::Instruction;
using ir::Opcode;
using ir::Operand;
using trace::MemorySpace;

namespace {

Instruction access(Opcode op, MemorySpace space, const Operand& address, std::int64_t offset, std::uint32_t data,
                   ir::Type type = ir::Type::b32) {
  Instruction i;
  i.op = op;
  i.type = type;
  i.mod.space = space;
  i.offset = offset;
  i.sources = {address};
  if (op == Opcode::ld)
    i.destinations = {Operand::reg(data, 1)};
  else
    i.sources.push_back(Operand::reg(data, 1));
  return i;
}

/// Which instructions must follow which, transitively.
std::vector<std::vector<bool>> closure(const Dependences& d) {
  std::vector<std::vector<bool>> after(d.size(), std::vector<bool>(d.size(), false));
  for (std::size_t n = d.size(); n-- > 0;)
    for (const auto& e : d.later(n)) {
      REQUIRE(e.other > n);
      after[n][e.other] = true;
      for (std::size_t m = 0; m < d.size(); ++m)
        if (after[e.other][m]) after[n][m] = true;
    }
  return after;
}

ir::Function one_block(unsigned registers) { return test::make_function({{}}, registers); }

/// Whether the second of two accesses alone in a block must follow the first.
bool ordered(const Instruction& first, const Instruction& second) {
  ir::Function f = one_block(8);
  f.blocks[0].instructions = {first, second};
  Dependences d(f);
  d.build(0);
  return closure(d)[0][1];
}

constexpr auto global = MemorySpace::global, shared = MemorySpace::shared, local = MemorySpace::local,
               generic = MemorySpace::generic, param = MemorySpace::param;
const Operand pointer = Operand::reg(0, 1), other = Operand::reg(1, 1), nowhere = Operand::immediate(64);

}  // namespace

TEST_CASE("registers and the carry flag: oracle on random blocks") {
  // The definition itself: two instructions stay in order when one writes what the other reads or writes.
  std::mt19937 random(61);
  for (unsigned round = 0; round < 300; ++round) {
    ir::Function f = one_block(10);
    for (unsigned p = 6; p < 10; ++p) {
      f.registers[p].is_predicate = true;
      f.registers[p].words = 0;
    }
    const auto general = [&] { return Operand::reg(static_cast<std::uint32_t>(random() % 6), 1); };
    for (unsigned n = 0; n < 25; ++n) {
      Instruction i;
      i.type = ir::Type::u32;
      i.destinations = {general()};
      i.sources = {general(), general()};
      const Opcode ops[] = {Opcode::add, Opcode::add_cc, Opcode::addc, Opcode::setp};
      i.op = ops[random() % 4];
      i.mod.carry_out = i.op == Opcode::addc && random() % 2;
      if (i.op == Opcode::setp) i.destinations = {Operand::predicate(6 + static_cast<std::uint32_t>(random() % 4))};
      i.guarded = random() % 3 == 0;
      i.guard = 6 + static_cast<std::uint32_t>(random() % 4);
      f.blocks[0].instructions.push_back(i);
    }
    Dependences d(f);
    d.build(0);
    const auto after = closure(d);
    const auto& code = f.blocks[0].instructions;
    constexpr std::uint32_t carry = 10;
    std::vector<std::vector<std::uint32_t>> reads(code.size()), writes(code.size());
    for (std::size_t n = 0; n < code.size(); ++n) {
      const auto a = ir::accesses(code[n], false);
      reads[n] = a.reads;
      reads[n].insert(reads[n].end(), a.predicate_reads.begin(), a.predicate_reads.end());
      writes[n] = a.writes;
      writes[n].insert(writes[n].end(), a.predicate_writes.begin(), a.predicate_writes.end());
      if (code[n].op == Opcode::addc) reads[n].push_back(carry);
      if (code[n].op == Opcode::add_cc || code[n].mod.carry_out) writes[n].push_back(carry);
    }
    const auto meet = [](const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
      return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
    };
    std::vector<std::vector<bool>> expected(code.size(), std::vector<bool>(code.size(), false));
    for (std::size_t n = code.size(); n-- > 0;)
      for (std::size_t m = n + 1; m < code.size(); ++m)
        if (meet(writes[n], reads[m]) || meet(reads[n], writes[m]) || meet(writes[n], writes[m])) {
          expected[n][m] = true;
          for (std::size_t k = m; k < code.size(); ++k)
            if (expected[m][k]) expected[n][k] = true;
        }
    REQUIRE(after == expected);
  }
}

TEST_CASE("accesses to memory that may meet stay in order") {
  const auto ld = Opcode::ld, st = Opcode::st;
  CHECK_FALSE(ordered(access(ld, global, pointer, 0, 2), access(ld, global, other, 0, 3)));
  CHECK(ordered(access(st, global, pointer, 0, 2), access(ld, global, other, 0, 3)));
  CHECK(ordered(access(ld, global, pointer, 0, 2), access(st, global, other, 0, 3)));
  CHECK(ordered(access(st, global, pointer, 0, 2), access(st, global, other, 0, 3)));
  SECTION("byte ranges from one pointer") {
    CHECK_FALSE(ordered(access(st, global, pointer, 0, 2), access(st, global, pointer, 4, 3)));
    CHECK_FALSE(ordered(access(st, global, pointer, 0, 2), access(ld, global, pointer, -4, 3)));
    CHECK(ordered(access(st, global, pointer, 0, 2), access(ld, global, pointer, 3, 3)));
    CHECK(ordered(access(st, global, pointer, 0, 2, ir::Type::b64), access(ld, global, pointer, 4, 3)));
    CHECK_FALSE(ordered(access(st, shared, nowhere, 0, 2), access(ld, shared, nowhere, 4, 3)));
    CHECK(ordered(access(st, shared, nowhere, 4, 2), access(ld, shared, Operand::immediate(60), 8, 3)));
    CHECK(ordered(access(st, shared, nowhere, 0, 2), access(ld, shared, pointer, 4096, 3)));
  }
  SECTION("spaces") {
    CHECK_FALSE(ordered(access(st, global, pointer, 0, 2), access(ld, shared, pointer, 0, 3)));
    CHECK_FALSE(ordered(access(st, global, pointer, 0, 2), access(ld, local, pointer, 0, 3)));
    CHECK_FALSE(ordered(access(st, global, pointer, 0, 2), access(ld, param, pointer, 0, 3)));
    for (auto s : {global, shared, local, generic}) {
      CHECK(ordered(access(st, generic, pointer, 0, 2), access(ld, s, pointer, s == generic ? 0 : 8, 3)));
      CHECK(ordered(access(ld, s, other, 0, 2), access(st, generic, pointer, 0, 3)));
    }
  }
  SECTION("a pointer that changed in between") {
    ir::Function f = one_block(8);
    f.blocks[0].instructions = {access(st, global, pointer, 0, 2), access(ld, global, pointer, 8, 0),
                                access(ld, global, pointer, 4, 3)};
    Dependences d(f);
    d.build(0);
    CHECK(closure(d)[0][2]);
  }
}

TEST_CASE("nothing passes an ordering point") {
  const auto load = access(Opcode::ld, global, pointer, 0, 2);
  const auto store = access(Opcode::st, shared, other, 0, 2);
  Instruction arithmetic;
  arithmetic.op = Opcode::add;
  arithmetic.type = ir::Type::u32;
  arithmetic.destinations = {Operand::reg(5, 1)};
  arithmetic.sources = {Operand::reg(6, 1), Operand::reg(7, 1)};
  Instruction point;
  SECTION("barrier") { point.op = Opcode::bar; }
  SECTION("barrier of a warp") { point.op = Opcode::warp_sync; }
  SECTION("strong load") {
    point = access(Opcode::ld, local, nowhere, 0, 3);
    point.mod.order = ir::MemoryOrder::relaxed;
  }
  SECTION("fence") { point.op = Opcode::membar; }
  SECTION("warp barrier") { point.op = Opcode::warp_sync; }
  SECTION("print") { point.op = Opcode::print; }
  SECTION("trap") { point.op = Opcode::trap; }
  SECTION("atomic") { point = access(Opcode::red, local, nowhere, 0, 3); }
  SECTION("volatile load") {
    point = access(Opcode::ld, local, nowhere, 0, 3);
    point.mod.is_volatile = true;
  }
  CHECK(ordered(load, point));
  CHECK(ordered(point, load));
  CHECK(ordered(store, point));
  CHECK(ordered(point, store));
  CHECK(ordered(point, point));
  CHECK_FALSE(ordered(point, arithmetic));
}

TEST_CASE("a clock is read where the program says") {
  Instruction clock, arithmetic;
  clock.op = Opcode::mov;
  clock.type = ir::Type::u32;
  clock.destinations = {Operand::reg(4, 1)};
  clock.sources = {Operand::special(ir::Special::clock)};
  arithmetic.op = Opcode::add;
  arithmetic.type = ir::Type::u32;
  arithmetic.destinations = {Operand::reg(5, 1)};
  arithmetic.sources = {Operand::reg(6, 1), Operand::reg(7, 1)};
  CHECK(ordered(clock, arithmetic));
  CHECK(ordered(arithmetic, clock));
  clock.sources = {Operand::special(ir::Special::tid_x)};
  CHECK_FALSE(ordered(clock, arithmetic));
}

TEST_CASE("a block of thousands of accesses has few edges") {
  ir::Function f = one_block(8);
  for (unsigned n = 0; n < 6000; ++n) {
    const auto address = Operand::reg(n % 2, 1);
    f.blocks[0].instructions.push_back(access(n % 3 ? Opcode::ld : Opcode::st, global, address, 4 * n, 2));
  }
  Dependences d(f);
  d.build(0);
  std::size_t edges = 0;
  for (std::size_t n = 0; n < d.size(); ++n) edges += d.later(n).size();
  CHECK(edges < 6000 * 300);
  CHECK(edges > 6000);
}
