// SPDX-License-Identifier: Apache-2.0
//
// Registers in the order of their first use: known answers, and programs that do the same under other numbers.
#include <regatta/passes/live_registers.h>
#include <regatta/passes/register_allocation.h>
#include <regatta/passes/reorder.h>
#include <regatta/test/catch.h>

#include <algorithm>
#include <stdexcept>

#include "generator.h"
#include "hand_code.h"
#include "interpreter.h"

using namespace regatta;
using test::HandCode;
using Numbers = std::vector<std::uint8_t>;

namespace {

/// Every register operand has its words aligned, elements of a vector follow each other.
bool is_aligned(const ir::Function& f) {
  for (const ir::Block& b : f.blocks)
    for (const ir::Instruction& i : b.instructions)
      for (const auto* operands : {&i.destinations, &i.sources})
        for (std::size_t o = 0; o < operands->size(); ++o) {
          const ir::Operand& x = (*operands)[o];
          if (!x.is_reg()) continue;
          if (x.id % x.words != 0) return false;
          const bool is_load = i.op == ir::Opcode::ld;
          const std::size_t first = is_load ? 0 : 1;
          if (i.mod.vector > 1 && operands == (is_load ? &i.destinations : &i.sources) && o >= first &&
              x.id != (*operands)[first].id + (o - first) * x.words)
            return false;
        }
  return true;
}

/// Live registers before each instruction.
std::vector<unsigned> live_counts(const ir::Function& f) {
  analysis::FunctionAnalyses analyses(f);
  const trace::Kernel kernel = ir::to_trace(f, analyses.reconvergence().immediate(), 32);
  const trace::LiveRegisters live = passes::live_registers_of(kernel, analyses);
  std::vector<unsigned> counts;
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) counts.push_back(live.count(i));
  return counts;
}

/// The function with all register numbers erased: what reordering must not touch.
std::string skeleton(const ir::Function& f) {
  std::string text;
  for (const ir::Block& b : f.blocks) {
    text += "block\n";
    for (const ir::Instruction& i : b.instructions) {
      text += std::to_string(static_cast<int>(i.op)) + (i.guarded ? "@" + std::to_string(i.guard) : "");
      for (const auto* operands : {&i.destinations, &i.sources})
        for (const ir::Operand& o : *operands)
          text += " " + std::to_string(static_cast<int>(o.kind)) + ":" + std::to_string(o.words) + ":" +
                  std::to_string(o.value) + (o.is_reg() ? "" : ":" + std::to_string(o.id));
      text += "\n";
    }
  }
  return text;
}

}  // namespace

TEST_CASE("registers get the numbers of their first use, destinations first") {
  HandCode c;
  c.op({5}, {3});
  c.op({1}, {5, 0});
  c.op({}, {4});
  c.exit();
  ir::build_edges(c.f);
  // R2 is named nowhere.
  CHECK(passes::registers_by_first_use(c.f) == Numbers{5, 3, 1, 0, 4, 2});
  CHECK(passes::reorder_registers(c.f) == 5);
  CHECK(passes::registers_by_first_use(c.f) == Numbers{0, 1, 2, 3, 4, 5});
  CHECK(c.f.registers_used == 6);
  CHECK(c.f.blocks[0].instructions[1].destinations[0].id == 2);
  CHECK(c.f.blocks[0].instructions[1].sources[1].id == 3);
  CHECK(passes::reorder_registers(c.f) == 0);
  c.f.allocated = false;
  CHECK_THROWS_AS(passes::reorder_registers(c.f), std::logic_error);
}

TEST_CASE("first use is in reverse post-order, not in the order of the text") {
  HandCode c;
  c.op({2}, {});
  c.branch(2, false);
  c.block();
  c.op({1}, {2});  // behind the block below
  c.exit();
  c.block();
  c.op({0}, {2});
  c.branch(1, false);
  ir::build_edges(c.f);
  CHECK(passes::registers_by_first_use(c.f) == Numbers{2, 0, 1});
}

TEST_CASE("pairs stay aligned, and single registers fill the gap in front of them") {
  HandCode c;
  c.op({6}, {});     // single
  c.op({2}, {}, 2);  // pair
  c.op({5}, {6});    // single
  c.op({0}, {2}, 2);
  c.op({}, {5});
  c.exit();
  ir::build_edges(c.f);
  passes::reorder_registers(c.f);
  const auto& code = c.f.blocks[0].instructions;
  CHECK(code[0].destinations[0].id == 0);
  CHECK(code[1].destinations[0].id == 2);
  CHECK(code[2].destinations[0].id == 1);
  CHECK(code[3].destinations[0].id == 4);
  CHECK(c.f.registers_used == 7);
}

TEST_CASE("reordered programs do the same, with as many live registers") {
  std::mt19937 random(11);
  unsigned moved = 0, in_order = 0, single = 0;
  for (unsigned round = 0; round < 300; ++round) {
    test::Shape shape;
    shape.blocks = 1 + random() % 5;
    shape.singles = 4 + random() % 20;
    shape.pairs = random() % 3 == 0 ? 0 : 3 + random() % 10;
    shape.vectors = shape.pairs != 0;
    shape.ordered = shape.pairs != 0 && random() % 2 == 0;
    if (shape.pairs == 0) shape.pairs = 1;
    ir::Function f = test::random_program(random, shape);
    passes::AllocationOptions options;
    options.max_registers = random() % 2 == 0 ? 255 : 24;
    passes::allocate_registers(f, options);
    const test::Run run = test::interpret(f, 200);
    const std::uint32_t used = f.registers_used, predicates = f.predicates_used;
    const std::vector<unsigned> live = live_counts(f);
    const std::string before = skeleton(f);
    Numbers order = passes::registers_by_first_use(f);
    CAPTURE(round);
    // Each register once.
    std::sort(order.begin(), order.end());
    REQUIRE(order.size() == used);
    REQUIRE(std::adjacent_find(order.begin(), order.end()) == order.end());

    moved += passes::reorder_registers(f);
    REQUIRE(is_aligned(f));
    REQUIRE(f.registers_used == used);
    REQUIRE(f.predicates_used == predicates);
    REQUIRE(skeleton(f) == before);
    REQUIRE(live_counts(f) == live);
    REQUIRE(test::interpret(f, 200) == run);
    // With single registers alone the order is exact.
    bool wide = false;
    for (const ir::Block& b : f.blocks)
      for (const ir::Instruction& i : b.instructions)
        for (const auto* operands : {&i.destinations, &i.sources})
          for (const ir::Operand& o : *operands) wide |= o.is_reg() && (o.words > 1 || i.mod.vector > 1);
    if (wide) continue;
    ++single;
    const Numbers after = passes::registers_by_first_use(f);
    in_order += std::is_sorted(after.begin(), after.end()) ? 1 : 0;
  }
  CHECK(moved > 1000);
  CHECK(in_order == single);
}
