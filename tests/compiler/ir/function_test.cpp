// SPDX-License-Identifier: Apache-2.0
#include <regatta/ir/ir.h>
#include <regatta/test/catch.h>

#include <stdexcept>

using namespace regatta;
using ir::Opcode;
using List = std::vector<std::uint32_t>;

namespace {

ir::Instruction branch(std::uint32_t target, bool guarded) {
  ir::Instruction i;
  i.op = Opcode::bra;
  i.target = target;
  i.guarded = guarded;
  return i;
}

ir::Instruction exit(bool guarded = false) {
  ir::Instruction i;
  i.op = Opcode::exit;
  i.guarded = guarded;
  return i;
}

}  // namespace

TEST_CASE("edges of a diamond: taken target first, then fall-through") {
  ir::Function f;
  f.blocks.resize(4);
  f.blocks[0].instructions = {branch(2, true)};
  f.blocks[1].instructions = {branch(3, false)};
  f.blocks[2].instructions = {ir::Instruction{}};
  f.blocks[3].instructions = {exit()};
  ir::build_edges(f);
  CHECK(f.blocks[0].successors == List{2, 1});
  CHECK(f.blocks[1].successors == List{3});
  CHECK(f.blocks[2].successors == List{3});
  CHECK(f.blocks[3].successors.empty());
  CHECK(f.blocks[3].predecessors == List{1, 2});
  CHECK(f.instruction_count() == 4);
  ir::build_edges(f);
  CHECK(f.blocks[3].predecessors == List{1, 2});
}

TEST_CASE("edges of loops and guarded exits") {
  ir::Function f;
  f.blocks.resize(3);
  f.blocks[0].instructions = {exit(true)};
  f.blocks[1].instructions = {branch(1, true)};
  f.blocks[2].instructions = {branch(0, false)};
  ir::build_edges(f);
  CHECK(f.blocks[0].successors == List{1});
  CHECK(f.blocks[1].successors == List{1, 2});
  CHECK(f.blocks[2].successors == List{0});
  CHECK(f.blocks[1].predecessors == List{0, 1});
}

TEST_CASE("a guarded branch to the next block has one successor") {
  ir::Function f;
  f.blocks.resize(2);
  f.blocks[0].instructions = {branch(1, true)};
  f.blocks[1].instructions = {exit()};
  ir::build_edges(f);
  CHECK(f.blocks[0].successors == List{1});
  CHECK(f.blocks[1].predecessors == List{0});
}

TEST_CASE("a branch to a block that is not there is an internal error") {
  ir::Function f;
  f.blocks.resize(1);
  f.blocks[0].instructions = {branch(1, false)};
  CHECK_THROWS_AS(ir::build_edges(f), std::logic_error);
}

TEST_CASE("accesses before and after allocation") {
  ir::Instruction i;
  i.op = Opcode::st;
  i.type = ir::Type::f64;
  i.guarded = true;
  i.guard = 3;
  i.sources = {ir::Operand::reg(8, 2), ir::Operand::reg(4, 2), ir::Operand::immediate(1), ir::Operand::reg(4, 2)};
  ir::Accesses a = ir::accesses(i, false);
  CHECK(a.reads == List{8, 4, 4});
  CHECK(a.predicate_reads == List{3});
  CHECK(a.writes.empty());
  a = ir::accesses(i, true);
  CHECK(a.reads == List{8, 9, 4, 5, 4, 5});

  ir::Instruction s;
  s.op = Opcode::setp;
  s.type = ir::Type::s32;
  s.destinations = {ir::Operand::predicate(1), ir::Operand::predicate(2)};
  s.sources = {ir::Operand::reg(0, 1), ir::Operand::special(ir::Special::tid_x), ir::Operand::predicate(4, true)};
  a = ir::accesses(s, true);
  CHECK(a.predicate_writes == List{1, 2});
  CHECK(a.predicate_reads == List{4});
  CHECK(a.reads == List{0});
}

TEST_CASE("blocks without instructions go, and who went there goes on behind them") {
  ir::Function f;
  f.blocks.resize(6);
  f.blocks[0].instructions = {branch(3, true)};
  f.blocks[2].instructions = {branch(1, true)};
  f.blocks[4].instructions = {ir::Instruction{}, branch(5, true)};
  ir::remove_empty_blocks(f);
  ir::build_edges(f);
  REQUIRE(f.blocks.size() == 4);
  CHECK(f.blocks[0].successors == List{2, 1});
  CHECK(f.blocks[1].successors == List{1, 2});
  CHECK(f.blocks[2].successors == List{3});
  // The last one was empty: what fell off the end exits.
  CHECK(f.blocks[3].instructions[0].op == Opcode::exit);
  CHECK(f.blocks[3].successors.empty());
}
