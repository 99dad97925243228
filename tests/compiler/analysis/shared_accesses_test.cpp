// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/shared_accesses.h>
#include <regatta/base/address_map.h>
#include <regatta/test/catch.h>

#include <stdexcept>
#include <vector>

#include "graphs.h"

using namespace regatta;
using ir::Opcode;
using ir::Operand;
using trace::MemorySpace;

namespace {

/// A function with three shared variables of 16 bytes.
class SharedCode {
 public:
  SharedCode() : f(test::make_function({{}}, 12)) {
    for (std::uint32_t v = 0; v < 3; ++v) f.shared_variables.push_back({"v" + std::to_string(v), 16 * v, 16, false, 4});
    f.static_shared_bytes = 48;
    for (std::uint32_t r = 8; r < 12; ++r) f.registers[r].words = 2;
  }
  ir::Function f;

  Operand reg(std::uint32_t r) const { return Operand::reg(r, f.registers[r].words); }
  Operand address(std::uint32_t variable, unsigned words = 1) const {
    Operand o = Operand::immediate(f.shared_variables[variable].offset, words);
    o.shared_variable = variable + 1;
    return o;
  }
  ir::Instruction& emit(Opcode op, const std::vector<Operand>& to, const std::vector<Operand>& from) {
    ir::Instruction i;
    i.op = op;
    i.type = ir::Type::u32;
    i.destinations = to;
    i.sources = from;
    f.blocks[0].instructions.push_back(i);
    return f.blocks[0].instructions.back();
  }
  void mov(std::uint32_t to, const Operand& from) { emit(Opcode::mov, {reg(to)}, {from}); }
  void add(std::uint32_t to, const Operand& x, const Operand& y) { emit(Opcode::add, {reg(to)}, {x, y}); }
  /// Returns its place, for touched().
  std::size_t load(const Operand& at, MemorySpace space = MemorySpace::shared, std::uint32_t to = 7) {
    emit(Opcode::ld, {reg(to)}, {at}).mod.space = space;
    return f.blocks[0].instructions.size() - 1;
  }
  std::size_t store(const Operand& at, const Operand& value, MemorySpace space = MemorySpace::global) {
    emit(Opcode::st, {}, {at, value}).mod.space = space;
    return f.blocks[0].instructions.size() - 1;
  }
  std::uint64_t touched(std::size_t i) {
    analysis::mark_shared_accesses(f);
    return f.blocks[0].instructions[i].shared_accesses;
  }
};

constexpr std::uint64_t every = 7;

}  // namespace

TEST_CASE("sets of shared variables") {
  CHECK(analysis::variable_bit(0) == 1);
  CHECK(analysis::variable_bit(62) == std::uint64_t{1} << 62);
  // Those behind share a bit.
  CHECK(analysis::variable_bit(63) == std::uint64_t{1} << 63);
  CHECK(analysis::variable_bit(200) == std::uint64_t{1} << 63);
  CHECK(analysis::all_variables(0) == 0);
  CHECK(analysis::all_variables(3) == 7);
  CHECK(analysis::all_variables(64) == ~std::uint64_t{0});
  CHECK(analysis::all_variables(65) == ~std::uint64_t{0});
}

TEST_CASE("shared addresses are followed through registers, whatever the path") {
  SharedCode c;
  const std::size_t direct = c.load(c.address(1));
  c.mov(0, c.address(0));
  c.add(1, c.reg(0), c.reg(6));  // an index
  const std::size_t indexed = c.load(c.reg(1));
  const std::size_t stored = c.store(c.reg(1), c.reg(6), MemorySpace::shared);
  // One of two variables.
  c.emit(Opcode::selp, {c.reg(2)}, {c.reg(0), c.address(2), Operand::predicate(0)});
  const std::size_t either = c.load(c.reg(2));
  // The later definition counts at the earlier access too: there may be a loop.
  const std::size_t early = c.load(c.reg(3));
  c.mov(3, c.reg(4));
  c.mov(4, c.reg(5));
  c.mov(5, c.address(2));
  CHECK(c.touched(direct) == 2);
  CHECK(c.touched(indexed) == 1);
  CHECK(c.touched(stored) == 1);
  CHECK(c.touched(either) == 5);
  CHECK(c.touched(early) == 4);
}

TEST_CASE("a shared access through an address of unknown origin may touch every variable") {
  SharedCode c;
  const std::size_t number = c.load(Operand::immediate(20));
  c.emit(Opcode::ld, {c.reg(0)}, {Operand::immediate(0)}).mod.space = MemorySpace::param;
  const std::size_t from_parameter = c.load(c.reg(0));
  // A number or a variable, by the path or by a predicate.
  c.mov(1, Operand::immediate(16));
  c.mov(1, c.address(0));
  const std::size_t by_path = c.load(c.reg(1));
  c.emit(Opcode::selp, {c.reg(2)}, {Operand::immediate(32), c.address(0), Operand::predicate(0)});
  c.add(3, c.reg(2), Operand::immediate(4));
  const std::size_t by_predicate = c.load(c.reg(3));
  // A variable and an index is still the variable; a loop that steps through it too.
  c.mov(4, c.address(1));
  c.add(4, c.reg(4), Operand::immediate(4));
  const std::size_t stepped = c.load(c.reg(4));
  CHECK(c.touched(number) == every);
  CHECK(c.touched(from_parameter) == every);
  CHECK(c.touched(by_path) == every);
  CHECK(c.touched(by_predicate) == every);
  CHECK(c.touched(stepped) == 2);
}

TEST_CASE("other spaces touch no variable, generic addresses those that they are made of") {
  SharedCode c;
  const std::size_t global = c.load(c.reg(8), MemorySpace::global);
  const std::size_t unknown_generic = c.load(c.reg(8), MemorySpace::generic);
  const Operand window = Operand::immediate(base::first_address(base::Window::shared), 2);
  // cvta.shared of a variable.
  c.mov(9, c.address(1, 2));
  c.add(9, c.reg(9), window);
  const std::size_t generic = c.load(c.reg(9), MemorySpace::generic);
  // Likewise of a number.
  c.add(10, c.reg(8), window);
  const std::size_t windowed = c.load(c.reg(10), MemorySpace::generic);
  CHECK(c.touched(global) == 0);
  CHECK(c.touched(unknown_generic) == 0);
  CHECK(c.touched(generic) == 2);
  CHECK(c.touched(windowed) == every);
}

TEST_CASE("once the address of a variable is stored, what is loaded may be one") {
  SharedCode c;
  const std::size_t through_loaded = c.load(c.reg(11), MemorySpace::generic);
  c.load(c.reg(8), MemorySpace::local, 11);
  CHECK(c.touched(through_loaded) == 0);
  c.mov(0, c.address(2));
  c.store(c.reg(8), c.reg(0), MemorySpace::local);
  CHECK(c.touched(through_loaded) == every);

  // A store through such an address does not store the address.
  SharedCode d;
  const std::size_t access = d.load(d.reg(11), MemorySpace::generic);
  d.load(d.reg(8), MemorySpace::local, 11);
  d.store(d.address(0), d.reg(6), MemorySpace::shared);
  CHECK(d.touched(access) == 0);
}

TEST_CASE("shared variables move with the operands that hold their offsets") {
  SharedCode c;
  c.mov(0, c.address(0));
  Operand inside = c.address(2);
  inside.value += 8;
  c.mov(1, inside);
  c.mov(2, Operand::immediate(16));
  ir::move_shared_variables(c.f, {{32, 0, 16}, 64});
  const auto& code = c.f.blocks[0].instructions;
  CHECK(code[0].sources[0].value == 32);
  CHECK(code[1].sources[0].value == 24);
  CHECK(code[2].sources[0].value == 16);
  CHECK(c.f.shared_variables[0].offset == 32);
  CHECK(c.f.shared_variables[1].offset == 0);
  CHECK(c.f.shared_variables[2].offset == 16);
  CHECK(c.f.static_shared_bytes == 64);
  CHECK_THROWS_AS(ir::move_shared_variables(c.f, {{0, 16}, 48}), std::logic_error);
  c.f.allocated = true;
  CHECK_THROWS_AS(ir::move_shared_variables(c.f, {{0, 16, 32}, 48}), std::logic_error);
  CHECK_THROWS_AS(analysis::mark_shared_accesses(c.f), std::logic_error);
}
