// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

#include <regatta/analysis/function_analyses.h>
#include <regatta/passes/register_allocation.h>
#include <regatta/passes/register_budget.h>
#include <regatta/ptx/ptx.h>
#include <regatta/trace/types.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace regatta::test {

namespace {

bool same_columns(const trace::WarpColumns& a, const trace::WarpColumns& b) {
  return a.run_start == b.run_start && a.run_length == b.run_length && a.mask_at == b.mask_at && a.mask == b.mask &&
         a.guard_mask == b.guard_mask && a.address_kind == b.address_kind && a.address_base == b.address_base &&
         a.address_delta == b.address_delta && a.value_kind == b.value_kind && a.value_data == b.value_data &&
         a.predicate == b.predicate && a.stack_at == b.stack_at && a.stack_event == b.stack_event &&
         a.stack_mask == b.stack_mask && a.warp_instructions == b.warp_instructions;
}

}  // namespace

bool same_traces(const std::vector<trace::Cta>& a, const std::vector<trace::Cta>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t c = 0; c < a.size(); ++c) {
    if (a[c].index != b[c].index || a[c].warps.size() != b[c].warps.size()) return false;
    for (std::size_t w = 0; w < a[c].warps.size(); ++w) {
      if (!same_columns(a[c].warps[w], b[c].warps[w])) return false;
    }
  }
  return true;
}

Machine::Machine(const std::string& ptx, unsigned warp_size, unsigned max_registers, const std::string& entry,
                 const passes::Target& target, bool ordered_exchanges)
    : module(ptx::parse_module(ptx, "k.ptx")), function(&module.functions.at(0)) {
  for (ir::Function& f : module.functions) {
    if (f.name == entry) function = &f;
  }
  function->ordered_exchanges = ordered_exchanges;
  options.warp_size = warp_size;
  passes::AllocationOptions allocation;
  allocation.max_registers = max_registers;
  allocation.target = &target;
  const passes::RegisterBudget budget = passes::register_budget(*function, max_registers);
  passes::apply_budget(*function, budget);
  if (budget.entry != 0) allocation.max_registers = budget.registers;
  passes::allocate_registers(*function, allocation);
  ir::build_edges(*function);
  analysis::FunctionAnalyses analyses(*function);
  reconvergence = analyses.reconvergence().immediate();
  image = std::make_unique<emulator::ModuleImage>(module, memory, &textures);
  options.textures = &textures;
  kernel = ir::to_trace(*function, reconvergence, warp_size);
}

emulator::RunCounts Machine::run(emulator::TraceSink* sink) {
  emulator::Emulator emulator(*function, reconvergence, memory, *image, options);
  const emulator::RunCounts counts = emulator.run(request, &kernel, sink);
  left_stack_order = emulator.left_stack_order();
  return counts;
}

std::string Machine::error() {
  try {
    run();
  } catch (const trace::InputError& e) {
    return e.what();
  }
  return "";
}

std::vector<emulator::Race> Machine::races() {
  emulator::Emulator emulator(*function, reconvergence, memory, *image, options);
  emulator.run(request);
  return emulator.races();
}

std::string module_text(const std::string& parameters, const std::string& body, const std::string& before,
                        const std::string& target) {
  return ".version 9.0\n.target " + target + "\n.address_size 64\n" + before + ".visible .entry k(" + parameters +
         ")\n{\n" + body + "}\n";
}

std::string sample(const std::string& name) {
  std::ifstream in(REGATTA_EMULATOR_SAMPLES "/" + name);
  std::stringstream text;
  text << in.rdbuf();
  if (text.str().empty()) throw std::runtime_error("no sample " + name);
  return text.str();
}

}  // namespace regatta::test
