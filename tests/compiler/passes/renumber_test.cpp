// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/regions.h>
#include <regatta/passes/register_allocation.h>
#include <regatta/passes/renumber.h>
#include <regatta/test/catch.h>

#include <set>

#include "generator.h"
#include "interpreter.h"

using namespace regatta;

namespace {

std::vector<passes::Region> regions_of(const ir::Function& f) {
  analysis::FunctionAnalyses analyses(f);
  const trace::Kernel kernel = ir::to_trace(f, analyses.reconvergence().immediate(), 32);
  return passes::plan_regions(kernel, analyses).regions;
}

std::vector<passes::RegisterGroup> groups_of(const ir::Function& f) {
  std::vector<passes::RegisterGroup> groups;
  for (const passes::Region& r : regions_of(f)) groups.push_back({r.block, r.registers()});
  return groups;
}

/// Pairs of different source registers in one bank, each instruction once.
unsigned conflicts(const ir::Function& f, unsigned banks) {
  unsigned count = 0;
  for (const ir::Block& b : f.blocks)
    for (const ir::Instruction& i : b.instructions) {
      std::set<unsigned> sources;
      for (const ir::Operand& o : i.sources)
        for (unsigned w = 0; o.is_reg() && w < o.words; ++w) sources.insert(o.id + w);
      for (auto x = sources.begin(); x != sources.end(); ++x)
        for (auto y = std::next(x); y != sources.end(); ++y) count += *x % banks == *y % banks;
    }
  return count;
}

}  // namespace

TEST_CASE("renumbered programs do the same, in aligned registers, with fewer conflicts") {
  std::mt19937 random(5);
  unsigned moved = 0, before8 = 0, after8 = 0, before4 = 0, after4 = 0;
  for (unsigned round = 0; round < 300; ++round) {
    test::Shape shape;
    shape.blocks = 1 + random() % 5;
    shape.singles = 4 + random() % 20;
    shape.pairs = 3 + random() % 10;
    shape.ordered = random() % 2 == 0;
    ir::Function f = test::random_program(random, shape);
    passes::AllocationOptions options;
    options.max_registers = random() % 2 == 0 ? 255 : 24;
    passes::allocate_registers(f, options);
    const test::Run run = test::interpret(f, 200);
    const std::uint32_t used = f.registers_used;
    before8 += conflicts(f, 8);
    before4 += conflicts(f, 4);
    const passes::RenumberResult result = passes::renumber_registers(f, groups_of(f));
    after8 += conflicts(f, 8);
    after4 += conflicts(f, 4);
    moved += result.moved;
    REQUIRE(test::interpret(f, 200) == run);
    REQUIRE(f.registers_used <= used);
    for (const ir::Block& b : f.blocks)
      for (const ir::Instruction& i : b.instructions)
        for (const auto* operands : {&i.destinations, &i.sources})
          for (std::size_t o = 0; o < operands->size(); ++o) {
            const ir::Operand& x = (*operands)[o];
            if (!x.is_reg()) continue;
            REQUIRE(x.id % x.words == 0);
            const bool element = i.mod.vector > 1 && (i.op == ir::Opcode::ld ? operands == &i.destinations : o > 0);
            const std::size_t first = i.op == ir::Opcode::ld ? 0 : 1;
            if (element && operands == (i.op == ir::Opcode::ld ? &i.destinations : &i.sources))
              REQUIRE(x.id == (*operands)[first].id + (o - first) * x.words);
          }
  }
  CHECK(moved > 1000);
  CHECK(5 * after8 < 3 * before8);
  CHECK(after4 < before4);
}

TEST_CASE("operands of one instruction and registers of one region go to different banks") {
  ir::Function f;
  f.name = "k";
  f.allocated = true;
  f.registers_used = 18;
  f.blocks.resize(1);
  test::Builder build(f);
  using ir::Operand;
  build.emit(ir::Opcode::add, ir::Type::u32, {Operand::reg(17, 1)}, {Operand::reg(0, 1), Operand::reg(8, 1)});
  build.emit(ir::Opcode::add, ir::Type::u64, {Operand::reg(16, 2)}, {Operand::reg(2, 2), Operand::reg(10, 2)});
  build.exit();
  ir::build_edges(f);
  REQUIRE(conflicts(f, 8) == 3);
  const passes::RenumberResult result = passes::renumber_registers(f, groups_of(f));
  CHECK(result.conflicts_before == 3);
  CHECK(result.conflicts_after == 0);
  CHECK(conflicts(f, 8) == 0);
  CHECK(conflicts(f, 4) == 0);
  const passes::Region region = regions_of(f).at(0);
  // Nine registers live at most: 0 and 8, two pairs, and what is written.
  for (const std::uint8_t lines : region.words.lines) CHECK(lines <= 2);
}
