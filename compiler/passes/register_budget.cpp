// SPDX-License-Identifier: Apache-2.0
#include "register_limits.h"

#include <regatta/passes/register_budget.h>

#include <regatta/trace/types.h>

#include <algorithm>

namespace regatta::passes {

namespace {

constexpr std::uint64_t warp_size = 32;
constexpr std::uint64_t register_file = 65536 / warp_size;  ///< warp registers of an SM
constexpr std::uint64_t warp_granularity = 4;               ///< warps: one for each sub-core
constexpr std::uint64_t register_granularity = 8;           ///< warp registers of a warp
constexpr unsigned least_maxnreg = 24;                      ///< to which ptxas raises a smaller .maxnreg

/// Threads and CTAs that an SM can hold, beyond which ptxas ignores a bound.
struct SmSize {
  std::uint32_t target;  ///< first with this size
  std::uint64_t threads, ctas;
};
/// ptxas 13 for sm_75 and later; CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", before.
constexpr SmSize sm_sizes[] = {{0, 2048, 32},  {20, 1536, 8},  {30, 2048, 16}, {50, 2048, 32}, {75, 1024, 16},
                               {80, 2048, 32}, {86, 1536, 16}, {89, 1536, 24}, {90, 2048, 32}, {110, 1536, 24}};

SmSize size_of_sm(std::uint32_t target) {
  const auto after = std::upper_bound(std::begin(sm_sizes), std::end(sm_sizes), target,
                                      [](std::uint32_t t, const SmSize& s) { return t < s.target; });
  return *(after - 1);
}

std::uint64_t warps_of(std::uint64_t threads) { return (threads + warp_size - 1) / warp_size; }

}  // namespace

unsigned registers_for(std::uint64_t threads, std::uint64_t ctas) {
  const std::uint64_t warps = (warps_of(threads) * ctas + warp_granularity - 1) / warp_granularity * warp_granularity;
  const std::uint64_t registers = register_file / warps / register_granularity * register_granularity;
  return static_cast<unsigned>(std::min<std::uint64_t>(registers, trace::max_general_registers));
}

namespace {

RegisterBudget launch_budget(const ir::Function& f, unsigned max_registers) {
  const ir::LaunchBounds& b = f.bounds;
  RegisterBudget budget;
  const auto warn = [&](const std::string& what) {
    budget.warnings.push_back(f.ptx_file + ":" + std::to_string(b.where.line) + ":" + std::to_string(b.where.column) +
                              ": warning: kernel '" + f.name + "': " + what);
  };
  budget.registers = max_registers;
  budget.set_by = "--max-registers";
  budget.is_promised = max_registers < trace::max_general_registers;
  const auto bound = [&](unsigned registers, const std::string& by) {
    if (registers >= budget.registers) return;
    budget.registers = registers;
    budget.set_by = by;
  };

  bool has_limit = b.max_registers != 0;
  if (b.max_registers > trace::max_general_registers) {
    warn(".maxnreg " + std::to_string(b.max_registers) + " is ignored, expected at most " +
         std::to_string(trace::max_general_registers));
    has_limit = false;
  } else if (has_limit) {
    const unsigned registers = std::max(b.max_registers, least_maxnreg);
    if (registers != b.max_registers) {
      warn(".maxnreg " + std::to_string(b.max_registers) + " counts as " + std::to_string(registers) +
           ", the least that ptxas allocates by");
    }
    budget.is_promised = true;
    bound(registers, ".maxnreg " + std::to_string(b.max_registers));
  }

  const SmSize sm = size_of_sm(f.target);
  const std::uint64_t threads = b.threads(), warp_threads = warps_of(threads) * warp_size;
  const std::string ntid = std::string(b.exact ? ".reqntid " : ".maxntid ") + std::to_string(threads);
  const std::string of_sm = " of .target sm_" + std::to_string(f.target);
  if (threads == 0) {
    if (b.min_ctas != 0) warn(".minnctapersm is ignored without .maxntid or .reqntid");
    return budget;
  }
  if (warp_threads > sm.threads) {
    warn(ntid + " is ignored: an SM" + of_sm + " has " + std::to_string(sm.threads) + " threads");
    return budget;
  }
  if (b.min_ctas > sm.ctas || b.min_ctas * warp_threads > sm.threads) {
    warn(".minnctapersm " + std::to_string(b.min_ctas) + " with " + ntid + " is ignored: an SM" + of_sm + " has " +
         std::to_string(sm.threads) + " threads and " + std::to_string(sm.ctas) + " CTAs");
  } else if (b.min_ctas != 0) {
    budget.is_promised = true;
    bound(registers_for(threads, b.min_ctas), ntid + " with .minnctapersm " + std::to_string(b.min_ctas));
    return budget;
  }
  if (!has_limit) bound(registers_for(threads, 1), ntid);
  return budget;
}

std::string position_of(const ir::Function& f, const ir::Location& where) {
  return f.ptx_file + ":" + std::to_string(where.line) + ":" + std::to_string(where.column) + ": ";
}

/// Refuses a dec that would give its warps more registers than any way to it leaves them.
void check_decs(const ir::Function& f) {
  const RegisterLimits limits(f);
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b) {
    const auto& code = f.blocks[b].instructions;
    for (std::size_t n = 0; n < code.size(); ++n) {
      if (code[n].op != ir::Opcode::set_registers || code[n].mod.raises) continue;
      const unsigned most = limits.most_before(b, n);
      if (code[n].sources[0].value <= most) continue;
      throw trace::InputError(position_of(f, code[n].where) + "error: kernel '" + f.name + "': setmaxnreg.dec to " +
                              std::to_string(code[n].sources[0].value) + " registers, expected at most the " +
                              std::to_string(most) + " that its warps have there");
    }
  }
}

}  // namespace

RegisterBudget register_budget(const ir::Function& f, unsigned max_registers, const BudgetOverride* registers) {
  RegisterBudget budget;
  if (registers != nullptr) {
    budget.registers = std::min(registers->entry, max_registers);
    budget.set_by = "--registers";
    budget.is_promised = true;
  } else {
    budget = launch_budget(f, max_registers);
  }
  const ir::Instruction* first = nullptr;
  std::uint64_t largest = 0;
  bool raises = false;
  for (const ir::Block& b : f.blocks)
    for (const ir::Instruction& i : b.instructions) {
      if (i.op != ir::Opcode::set_registers) continue;
      if (first == nullptr) first = &i;
      if (!i.mod.raises) continue;
      raises = true;
      largest = std::max(largest, i.sources[0].value);
    }
  if (first == nullptr) return budget;
  if (registers == nullptr) {
    // As ptxas: the kernel's own bounds say what its warps have to give, whatever --max-registers is.
    RegisterBudget own = launch_budget(f, trace::max_general_registers);
    if (own.is_promised) budget = std::move(own);
  }
  if (!budget.is_promised) {
    budget.warnings.push_back(position_of(f, first->where) + "warning: kernel '" + f.name +
                              "': setmaxnreg is ignored: the registers at the kernel's entry are not known, expected "
                              ".maxnreg, .minnctapersm with .maxntid or .reqntid, or --max-registers");
    return budget;
  }
  budget.entry = budget.registers;
  if (raises) budget.entry = static_cast<unsigned>(std::min<std::uint64_t>(budget.entry, largest));
  budget.registers = static_cast<unsigned>(
      std::min<std::uint64_t>(std::max<std::uint64_t>(budget.entry, largest), trace::max_general_registers));
  return budget;
}

BudgetOverride budget_override(const std::string& text, const std::string& option) {
  const auto refuse = [&](const std::string& found, const std::string& expected) {
    throw trace::InputError("error: " + option + " " + text + ": found " + found + ", expected " + expected);
  };
  const auto number = [&](const std::string& word, unsigned least, unsigned most, unsigned step) {
    const bool digits = !word.empty() && word.size() <= 4 && word.find_first_not_of("0123456789") == std::string::npos;
    const unsigned value = digits ? static_cast<unsigned>(std::stoul(word)) : 0;
    if (value < least || value > most || value % step != 0) {
      refuse("'" + word + "'", (step == 1 ? "" : "a multiple of " + std::to_string(step) + " from ") +
                                   std::to_string(least) + " to " + std::to_string(most) +
                                   (step == 1 ? " registers at the entry" : " for a setmaxnreg"));
    }
    return value;
  };
  BudgetOverride registers;
  const std::size_t colon = std::min(text.find(':'), text.size());
  registers.entry = number(text.substr(0, colon), trace::min_register_budget, trace::max_general_registers, 1);
  for (std::size_t at = colon; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at + 1), text.size());
    registers.groups.push_back(number(text.substr(at + 1, end - at - 1), 24, 256, register_granularity));
    at = end;
  }
  return registers;
}

void override_groups(ir::Function& f, const BudgetOverride& registers) {
  if (registers.groups.empty()) return;
  std::vector<ir::Instruction*> found;
  for (ir::Block& b : f.blocks)
    for (ir::Instruction& i : b.instructions)
      if (i.op == ir::Opcode::set_registers) found.push_back(&i);
  if (found.empty()) return;
  if (found.size() != registers.groups.size()) {
    throw trace::InputError("error: --registers has the numbers of " + std::to_string(registers.groups.size()) +
                            " setmaxnreg, kernel '" + f.name + "' has " + std::to_string(found.size()));
  }
  std::stable_sort(found.begin(), found.end(), [](const ir::Instruction* a, const ir::Instruction* b) {
    return std::make_pair(a->where.line, a->where.column) < std::make_pair(b->where.line, b->where.column);
  });
  for (std::size_t n = 0; n < found.size(); ++n) found[n]->sources = {ir::Operand::immediate(registers.groups[n])};
}

void apply_budget(ir::Function& f, const RegisterBudget& budget) {
  f.entry_registers = budget.entry;
  if (budget.entry != 0) {
    ir::build_edges(f);
    return check_decs(f);
  }
  for (ir::Block& b : f.blocks) {
    auto& code = b.instructions;
    code.erase(std::remove_if(code.begin(), code.end(),
                              [](const ir::Instruction& i) { return i.op == ir::Opcode::set_registers; }),
               code.end());
  }
}

}  // namespace regatta::passes
