// SPDX-License-Identifier: Apache-2.0
//
// Kernels whose warps change their registers (setmaxnreg): what each place of the code may use.
#include <regatta/passes/register_allocation.h>
#include <regatta/passes/register_budget.h>
#include <regatta/test/catch.h>

#include "generator.h"
#include "interpreter.h"

#include <algorithm>
#include <set>

using namespace regatta;
using ir::Opcode;

namespace {

ir::Instruction set_registers(bool raises, unsigned count) {
  ir::Instruction i;
  i.op = Opcode::set_registers;
  i.type = ir::Type::u32;
  i.mod.raises = raises;
  i.sources = {ir::Operand::immediate(count)};
  i.where = {7, 3, 0, 0};
  return i;
}

/// Sums of `live` values that are all loaded before the first is used, behind each of `budgets`: "dec" where a number
/// is lower than the one before.
ir::Function phases(unsigned entry, const std::vector<std::pair<unsigned, unsigned>>& budgets) {
  ir::Function f;
  f.name = "k";
  f.ptx_file = "k.ptx";
  f.entry_registers = entry;
  test::Builder b(f);
  const auto a = b.pair();
  b.block();
  b.parameter(a, 0);
  unsigned before = entry;
  for (const auto& [budget, live] : budgets) {
    if (budget != before) f.blocks.back().instructions.push_back(set_registers(budget > before, budget));
    before = budget;
    std::vector<std::uint32_t> values;
    for (unsigned n = 0; n < live; ++n) {
      values.push_back(b.single());
      b.load({values.back()}, a, 4 * n);
    }
    b.emit(Opcode::bar, ir::Type::none, {}, {ir::Operand::immediate(0)});
    for (unsigned n = 0; n < live; ++n) b.store(a, {values[n]}, 4096 * budget + 4 * (live - n));
  }
  b.exit();
  return f;
}

/// The highest register + 1 behind each setmaxnreg, and before the first.
std::vector<unsigned> used(const ir::Function& f) {
  std::vector<unsigned> most{0};
  for (const ir::Instruction& i : f.blocks.at(0).instructions) {
    if (i.op == Opcode::set_registers) most.push_back(0);
    for (const auto* list : {&i.destinations, &i.sources})
      for (const ir::Operand& o : *list)
        if (o.is_reg()) most.back() = std::max(most.back(), o.id + o.words);
  }
  return most;
}

}  // namespace

TEST_CASE("register limits: each part of a kernel keeps to its setmaxnreg, and spills where it must") {
  const auto count = [](unsigned entry, std::vector<std::pair<unsigned, unsigned>> budgets) {
    ir::Function f = phases(entry, budgets);
    passes::AllocationOptions options;
    for (const auto& [budget, live] : budgets) options.max_registers = std::max(entry, std::min(budget, 255u));
    options.max_registers = 255;
    const ir::Function before = f;
    const passes::AllocationResult r = passes::allocate_registers(f, options);
    const std::vector<unsigned> most = used(f);
    REQUIRE(most.size() == budgets.size());
    for (std::size_t n = 0; n < most.size(); ++n) {
      INFO("phase " << n);
      CHECK(most[n] <= std::min(budgets[n].first, 255u));
    }
    ir::Function plain = before;
    ir::build_edges(plain);
    CHECK(test::interpret(plain, 100) == test::interpret(f, 100));
    return std::make_pair(r.spilled_registers, most);
  };
  // Nothing spills where every part has room; each may use all that it has.
  auto [spilled, most] = count(64, {{64, 50}, {24, 18}, {240, 200}, {40, 30}});
  CHECK(spilled == 0);
  CHECK(most[2] > 200);
  // A part that needs more than it has spills alone: the others keep their values in registers.
  std::tie(spilled, most) = count(64, {{64, 50}, {24, 60}, {240, 200}});
  CHECK(spilled >= 60 - 22);
  CHECK(spilled <= 60);
  CHECK(most[2] > 200);
  // The first part is bound by the entry.
  std::tie(spilled, most) = count(40, {{40, 60}, {240, 200}});
  CHECK(spilled >= 60 - 38);
  CHECK(spilled <= 60);
}

TEST_CASE("register limits: a value that lives across a dec lies below it") {
  ir::Function f;
  f.name = "k";
  f.entry_registers = 64;
  test::Builder b(f);
  const auto a = b.pair();
  std::vector<std::uint32_t> values;
  b.block();
  b.parameter(a, 0);
  for (unsigned n = 0; n < 40; ++n) {
    values.push_back(b.single());
    b.load({values.back()}, a, 4 * n);
  }
  f.blocks.back().instructions.push_back(set_registers(false, 24));
  f.blocks.back().instructions.push_back(set_registers(true, 96));
  for (unsigned n = 0; n < 40; ++n) b.store(a, {values[n]}, 4096 + 4 * n);
  b.exit();
  ir::Function plain = f;
  ir::build_edges(plain);
  const passes::AllocationResult r = passes::allocate_registers(f);
  CHECK(r.spilled_registers >= 40 - 22);
  // The interpreter puts other numbers into what a dec takes away.
  CHECK(test::interpret(plain, 100) == test::interpret(f, 100));
}

TEST_CASE("register limits: where ways meet, the least holds") {
  // Block 0 branches to 1 (dec 24) and 2 (inc 240), which meet in 3.
  ir::Function f;
  f.name = "k";
  f.entry_registers = 168;
  test::Builder b(f);
  const auto a = b.pair(), x = b.single();
  const auto p = b.predicate();
  b.block();
  b.parameter(a, 0);
  b.parameter(x, 8);
  b.emit(Opcode::setp, ir::Type::u32, {b.operand(p)}, {b.operand(x), ir::Operand::immediate(1)}).mod.compare =
      ir::Compare::eq;
  ir::Instruction& branch = b.branch(2);
  branch.guarded = true;
  branch.guard = p;
  b.block();
  f.blocks.back().instructions.push_back(set_registers(false, 24));
  b.branch(3);
  b.block();
  f.blocks.back().instructions.push_back(set_registers(true, 240));
  b.block();
  std::vector<std::uint32_t> values;
  for (unsigned n = 0; n < 100; ++n) {
    values.push_back(b.single());
    b.load({values.back()}, a, 4 * n);
  }
  b.emit(Opcode::bar, ir::Type::none, {}, {ir::Operand::immediate(0)});
  for (unsigned n = 0; n < 100; ++n) b.store(a, {values[n]}, 4096 + 4 * n);
  b.exit();
  ir::Function plain = f;
  ir::build_edges(plain);
  passes::allocate_registers(f);
  CHECK(f.registers_used <= 24);
  CHECK(test::interpret(plain, 100) == test::interpret(f, 100));
}

TEST_CASE("register limits: random programs compute the same, whatever the registers of their parts") {
  std::mt19937 random(77);
  unsigned spilled = 0, beyond = 0;
  for (unsigned round = 0; round < 300; ++round) {
    test::Shape shape;
    shape.blocks = 1 + round % 9;
    shape.instructions = 6 + round % 20;
    shape.singles = 8 + round % 50;
    shape.pairs = 2 + round % 14;
    shape.predicates = 1 + round % 9;
    shape.ordered = round % 3 == 0;
    shape.addresses = round % 3 == 1;
    ir::Function f = test::random_program(random, shape);
    f.entry_registers = 24 + 8 * (random() % 20);
    for (unsigned n = 1 + random() % 4; n > 0; --n) {
      auto& code = f.blocks[random() % f.blocks.size()].instructions;
      const std::size_t last = code.size() - 1;  // before what ends the block
      const unsigned budget = 24 + 8 * (random() % 28);
      code.insert(code.begin() + std::ptrdiff_t(random() % (last + 1)), set_registers(random() % 2 == 0, budget));
    }
    ir::Function plain = f;
    ir::build_edges(plain);
    const test::Run expected = test::interpret(plain, 200);
    passes::AllocationOptions options;
    options.coalesce = round % 5 != 0;
    options.banks = round % 3 == 0 ? 1 : 8;
    options.cleanup = round % 2 == 0;
    options.schedule = round % 4 < 2;
    options.keep_before = true;
    const passes::AllocationResult result = passes::allocate_registers(f, options);
    passes::verify_allocation(result, f);
    INFO("round " << round);
    // Each register a place of the code names is one that every way to it leaves: the interpreter checks its own way.
    REQUIRE(expected == test::interpret(f, 200));
    spilled += result.spilled_registers != 0;
    beyond += f.registers_used > f.entry_registers;
  }
  CHECK(spilled > 20);
  CHECK(beyond > 20);
}

TEST_CASE("register limits: the entry of a kernel with setmaxnreg is that of ptxas") {
  struct Case {
    std::uint32_t threads, ctas, maxnreg;
    std::vector<std::pair<bool, unsigned>> changes;  ///< inc?, registers
    unsigned max_registers, entry, most;             ///< entry 0: ignored
  };
  // nvcc 13.0, -arch=sm_90a, REGCOUNT of the cubin.
  const Case cases[] = {
      {384, 1, 0, {{false, 24}, {true, 240}}, 255, 168, 240},
      {256, 1, 0, {{false, 24}, {true, 232}}, 255, 232, 232},
      {256, 1, 0, {{false, 40}, {true, 200}}, 255, 200, 200},
      {256, 1, 0, {{true, 200}}, 255, 200, 200},
      {256, 1, 0, {{false, 40}}, 255, 255, 255},
      {0, 0, 96, {{false, 24}, {true, 240}}, 255, 96, 240},
      {0, 0, 100, {{false, 24}, {true, 240}}, 255, 100, 240},
      {384, 1, 0, {{true, 24}}, 255, 24, 24},
      {384, 1, 0, {{true, 40}, {true, 240}}, 255, 168, 240},
      {384, 0, 0, {{false, 40}, {true, 232}}, 255, 0, 168},
      {0, 0, 0, {{false, 24}, {true, 240}}, 255, 0, 255},
      {0, 0, 0, {{false, 24}, {true, 240}}, 96, 96, 240},
      {384, 1, 0, {{false, 24}, {true, 256}}, 255, 168, 255},
      {384, 1, 0, {{false, 24}, {true, 240}}, 96, 168, 240},
  };
  for (const Case& c : cases) {
    ir::Function f;
    f.name = "k";
    f.ptx_file = "k.ptx";
    f.target = 90;
    f.bounds.block = {c.threads, c.threads != 0 ? 1u : 0u, c.threads != 0 ? 1u : 0u};
    f.bounds.min_ctas = c.ctas;
    f.bounds.max_registers = c.maxnreg;
    f.blocks.emplace_back();
    // Each behind a branch of its own, as in warps of different roles.
    for (const auto& [raises, count] : c.changes) f.blocks.back().instructions.push_back(set_registers(raises, count));
    const passes::RegisterBudget budget = passes::register_budget(f, c.max_registers);
    INFO(c.threads << " threads, .minnctapersm " << c.ctas << ", .maxnreg " << c.maxnreg);
    CHECK(budget.entry == c.entry);
    CHECK(budget.registers == c.most);
    CHECK(budget.warnings.size() == (c.entry == 0 ? 1 : 0));
    passes::apply_budget(f, budget);
    CHECK(f.entry_registers == c.entry);
    CHECK(f.blocks[0].instructions.size() == (c.entry == 0 ? 0 : c.changes.size()));
    if (c.entry == 0) {
      CHECK(budget.warnings[0] ==
            "k.ptx:7:3: warning: kernel 'k': setmaxnreg is ignored: the registers at the kernel's entry are not known, "
            "expected .maxnreg, .minnctapersm with .maxntid or .reqntid, or --max-registers");
    }
  }
}

TEST_CASE("register limits: a dec to more registers than a warp can have is refused") {
  ir::Function f;
  f.name = "k";
  f.ptx_file = "k.ptx";
  f.bounds.max_registers = 168;
  f.blocks.emplace_back();
  f.blocks.back().instructions.push_back(set_registers(false, 200));
  ir::Instruction exit;
  exit.op = Opcode::exit;
  f.blocks.back().instructions.push_back(exit);
  const passes::RegisterBudget budget = passes::register_budget(f, 255);
  CHECK_THROWS_WITH(passes::apply_budget(f, budget),
                    "k.ptx:7:3: error: kernel 'k': setmaxnreg.dec to 200 registers, expected at most the 168 that its "
                    "warps have there");
}

TEST_CASE("register limits: other budgets than a kernel's own") {
  const passes::BudgetOverride both = passes::budget_override("168:24,240", "--registers");
  CHECK(both.entry == 168);
  CHECK(both.groups == std::vector<unsigned>{24, 240});
  CHECK(passes::budget_override("40", "--registers").groups.empty());
  ir::Function f;
  f.name = "k";
  f.bounds.max_registers = 96;
  f.blocks.emplace_back();
  f.blocks.back().instructions = {set_registers(true, 232), set_registers(false, 40)};
  f.blocks.back().instructions[1].where.line = 6;  // the earlier one in the PTX
  passes::override_groups(f, both);
  CHECK(f.blocks[0].instructions[0].sources[0].value == 240);
  CHECK(f.blocks[0].instructions[1].sources[0].value == 24);
  const passes::RegisterBudget budget = passes::register_budget(f, 255, &both);
  CHECK(budget.entry == 168);
  CHECK(budget.set_by == "--registers");
  f.blocks.back().instructions.pop_back();
  CHECK_THROWS_WITH(passes::override_groups(f, both),
                    "error: --registers has the numbers of 2 setmaxnreg, kernel 'k' has 1");
  const auto error = [](const char* text) {
    try {
      passes::budget_override(text, "--registers");
    } catch (const trace::InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(error("8") == "error: --registers 8: found '8', expected 16 to 255 registers at the entry");
  CHECK(error("x") == "error: --registers x: found 'x', expected 16 to 255 registers at the entry");
  CHECK(error("") == "error: --registers : found '', expected 16 to 255 registers at the entry");
  CHECK(error("40:") == "error: --registers 40:: found '', expected a multiple of 8 from 24 to 256 for a setmaxnreg");
  CHECK(error("40:24,41") ==
        "error: --registers 40:24,41: found '41', expected a multiple of 8 from 24 to 256 for a setmaxnreg");
}
