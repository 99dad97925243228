// SPDX-License-Identifier: Apache-2.0
#include <regatta/tool/compile.h>

#include <regatta/analysis/shared_accesses.h>
#include <regatta/passes/renumber.h>
#include <regatta/passes/reorder.h>
#include <regatta/trace/types.h>

#include <algorithm>

namespace regatta::tool {

namespace {

/// The static form, with the registers that were asked for.
trace::Kernel to_kernel(const CompiledKernel& k, const CompileOptions& options) {
  trace::Kernel kernel = ir::to_trace(*k.function, k.reconvergence, options.warp_size);
  kernel.registers_per_thread = std::max(kernel.registers_per_thread, options.least_registers);
  kernel.shared_values = options.shared_values;
  if (kernel.shared_values && trace::is_asynchronous(kernel)) {
    throw trace::InputError("error: kernel '" + kernel.name +
                            "' has asynchronous copies: --shared-values does not hold what they write");
  }
  return kernel;
}

/// Spreads the registers over banks as the passes want them. Analyses and the static form are made anew.
void renumber(CompiledKernel& k, const CompileOptions& options) {
  // Each number is allowed at some places of the code, and not at others.
  if (k.function->entry_registers != 0) return;
  std::vector<passes::RegisterGroup> groups;
  for (const auto& pass : k.passes) {
    for (passes::RegisterGroup& group : pass->register_groups(k.trace_kernel, *k.analyses))
      groups.push_back(std::move(group));
  }
  passes::RenumberOptions banks;
  if (const unsigned own = options.allocation.target->register_banks; own != 0) banks.file_banks = own;
  passes::renumber_registers(*k.function, groups, banks);
  k.analyses->invalidate();
  k.trace_kernel = to_kernel(k, options);
}

/// Numbers the registers by first use, if a pass wants that.
void reorder(CompiledKernel& k, const CompileOptions& options) {
  if (std::none_of(k.passes.begin(), k.passes.end(), [](const auto& pass) { return pass->orders_registers(); })) return;
  if (k.function->entry_registers != 0) {
    throw trace::InputError("error: kernel '" + k.function->name +
                            "': its registers cannot be numbered in the order of first use, because setmaxnreg limits "
                            "the numbers that a place of the code may use");
  }
  passes::reorder_registers(*k.function);
  k.analyses->invalidate();
  k.trace_kernel = to_kernel(k, options);
}

/// Allocates, and makes analyses and the static form.
CompiledKernel allocate(ir::Function function, const CompileOptions& options) {
  CompiledKernel k;
  k.function = std::make_unique<ir::Function>(std::move(function));
  const passes::BudgetOverride* const registers = options.registers ? &*options.registers : nullptr;
  if (registers != nullptr) passes::override_groups(*k.function, *registers);
  k.budget = passes::register_budget(*k.function, options.allocation.max_registers, registers);
  passes::apply_budget(*k.function, k.budget);
  passes::AllocationOptions allowed = options.allocation;
  allowed.max_registers = k.budget.registers;
  if (allowed.target->register_banks != 0) allowed.banks = allowed.target->register_banks;
  const passes::AllocationResult allocation = passes::allocate_registers(*k.function, allowed);
  ir::remove_empty_blocks(*k.function);  // whose copies became identities
  ir::build_edges(*k.function);
  k.analyses = std::make_unique<analysis::FunctionAnalyses>(*k.function);
  k.reconvergence = k.analyses->reconvergence().immediate();
  k.allocation_note = "register pressure " + std::to_string(allocation.pressure) + ", " +
                      std::to_string(allocation.spilled_registers) + " spilled to " +
                      std::to_string(allocation.spill_bytes) + " bytes of local memory, " +
                      std::to_string(allocation.rematerialized) + " rematerialized, " +
                      std::to_string(allocation.removed_copies) + " copies removed";
  k.trace_kernel = to_kernel(k, options);
  return k;
}

/// Moves the shared variables of a function that is not allocated yet, if a pass wants that. Its choice depends on the
/// machine code, which a first allocation gives.
void place_shared_variables(ir::Function& function, const passes::PassList& passes, const CompileOptions& options) {
  for (const auto& pass : passes) {
    if (!pass->places_shared_variables()) continue;
    analysis::mark_shared_accesses(function);
    const CompiledKernel first = allocate(function, options);
    const ir::SharedPlacement placement =
        pass->shared_placement(first.trace_kernel, *first.analyses, options.dynamic_shared_bytes);
    ir::move_shared_variables(function, placement);
  }
}

/// Runs the passes. A kernel is left without an annotation that nobody asked for and that it cannot have.
void annotate(CompiledKernel& k, const CompileOptions& options) {
  for (const auto& pass : k.passes) {
    std::string& left_out = k.left_out.emplace_back();
    const bool is_refused = options.lanes_apart && pass->needs_stack_order();
    const std::string refusal = "kernel '" + k.function->name + "': " + lanes_apart_text;
    if (is_refused && pass->by_default()) {
      left_out = refusal;
      continue;
    }
    const std::size_t had = k.trace_kernel.annotations.size() + k.trace_kernel.inserted.size();
    try {
      pass->run(k.trace_kernel, *k.analyses);
    } catch (const trace::InputError& e) {
      if (pass->is_required()) throw;
      const std::string prefix = "error: ", text = e.what();
      left_out = text.rfind(prefix, 0) == 0 ? text.substr(prefix.size()) : text;
    }
    // Others write what an option has asked for.
    if (is_refused && k.trace_kernel.annotations.size() + k.trace_kernel.inserted.size() != had) {
      throw trace::InputError("error: " + refusal);
    }
  }
}

}  // namespace

const char* const lanes_apart_text =
    "the lanes of a warp do not go in the order of a SIMT stack, on which the annotation relies (--divergence "
    "barriers)";

CompiledKernel compile(ir::Function function, const CompileOptions& options) {
  function.ordered_exchanges = options.ordered_exchanges;
  passes::PassList passes = options.make_passes();
  place_shared_variables(function, passes, options);
  CompiledKernel k = allocate(std::move(function), options);
  k.passes = std::move(passes);
  if (options.renumber) renumber(k, options);
  reorder(k, options);
  annotate(k, options);
  return k;
}

std::vector<std::uint32_t> live_registers(CompiledKernel& kernel) {
  const ir::Function& f = *kernel.function;
  std::vector<std::uint32_t> counts(f.instruction_count());
  const analysis::WarpLiveness& liveness = kernel.analyses->warp_liveness();
  analysis::LivenessWalker walker(liveness.running());
  std::size_t first = 0;
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    for (walker.start(static_cast<std::uint32_t>(b)); walker.more(); walker.step()) {
      std::uint32_t& count = counts[first + walker.index()];
      analysis::BitSet live = walker.live();
      live.merge(liveness.waiting(static_cast<std::uint32_t>(b)));
      live.for_each([&](std::uint32_t v) { count += v < analysis::Variables::first_physical_predicate ? 1 : 0; });
    }
    first += f.blocks[b].instructions.size();
  }
  return counts;
}

EntryReport report_of(CompiledKernel& kernel) {
  EntryReport r;
  const ir::Function& f = *kernel.function;
  r.name = f.name;
  r.accepted = true;
  r.registers = kernel.trace_kernel.registers_per_thread;
  r.registers_needed = f.registers_used;
  r.register_budget = kernel.budget.registers;
  r.entry_registers = kernel.budget.entry;
  r.budget_set_by = kernel.budget.set_by;
  r.warnings = kernel.budget.warnings;
  r.spills = f.spilled_registers;
  r.spill_bytes = f.spill_bytes;
  r.shared_bytes = f.static_shared_bytes;
  r.local_bytes = f.local_bytes;
  r.instructions = f.instruction_count();
  r.blocks = f.blocks.size();
  r.loops = kernel.analyses->loops().loops().size();
  for (std::size_t p = 0; p < kernel.passes.size(); ++p) {
    r.passes.push_back(kernel.passes[p]->summary(kernel.left_out[p].empty() ? kernel.trace_kernel : trace::Kernel{}));
    r.passes.back().name = kernel.passes[p]->name();
    r.passes.back().is_default = kernel.passes[p]->by_default();
    r.passes.back().left_out = kernel.left_out[p];
  }
  const std::vector<std::uint32_t> live = live_registers(kernel);
  r.live_registers = live.empty() ? 0 : *std::max_element(live.begin(), live.end());
  return r;
}

EntryReport refusal_of(const std::string& name, const std::string& message, const CompileOptions& options) {
  EntryReport r;
  r.name = name;
  r.message = message;
  for (const auto& pass : options.make_passes()) r.passes.push_back(pass->summary({}));
  return r;
}

}  // namespace regatta::tool
