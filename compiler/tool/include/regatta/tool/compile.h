// SPDX-License-Identifier: Apache-2.0
//
// From one entry of a module to an allocated kernel with its analyses.
#pragma once

#include <regatta/analysis/function_analyses.h>
#include <regatta/ir/ir.h>
#include <regatta/passes/pass_registry.h>
#include <regatta/passes/register_allocation.h>
#include <regatta/passes/register_budget.h>
#include <regatta/tool/annotate.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regatta::tool {

struct CompiledKernel {
  std::unique_ptr<ir::Function> function;  ///< at a fixed address: the analyses refer to it
  std::unique_ptr<analysis::FunctionAnalyses> analyses;
  std::vector<std::int32_t> reconvergence;
  passes::RegisterBudget budget;
  std::string allocation_note;  ///< pressure and spills, for the listing
  passes::PassList passes;
  std::vector<std::string> left_out;  ///< by pass: why the kernel is without its annotation; empty: it has it
  trace::Kernel trace_kernel;         ///< the static form, all annotations in it
};

struct CompileOptions {
  passes::AllocationOptions allocation;             ///< the kernel's launch bounds may lower max_registers
  std::optional<passes::BudgetOverride> registers;  ///< in place of the kernel's launch bounds and setmaxnreg
  passes::PassRegistry passes = passes::PassRegistry::with_builtin();
  passes::PassOptionValues pass_options;
  std::optional<std::set<std::string>> annotations;  ///< of the passes that run without an option; none: all
  bool renumber = true;                              ///< spread registers over banks after allocation
  unsigned least_registers = 0;                      ///< per thread of the kernel, though it may need fewer
  unsigned warp_size = 32;
  std::uint32_t dynamic_shared_bytes = 0;  ///< the least of a launch of the kernel, 0 if none is known
  bool shared_values = false;              ///< the trace holds what is written to shared memory
  bool ordered_exchanges = false;          ///< ir::Function::ordered_exchanges
  bool lanes_apart = false;                ///< no annotation that AnnotationPass::needs_stack_order()

  passes::PassList make_passes() const { return passes.make(pass_options, annotations); }
};

/// What the options say on compilation. A launch file may say more: that a kernel has at least so many registers.
CompileOptions compile_options(const AnnotateOptions& options);
/// Schedules, allocates registers, runs the analyses and all annotation passes.
CompiledKernel compile(ir::Function function, const CompileOptions& options);
EntryReport report_of(CompiledKernel& kernel);
/// Of an entry that was refused, `message` saying why.
EntryReport refusal_of(const std::string& name, const std::string& message, const CompileOptions& options);
/// Why a kernel is without annotations that need the order of a SIMT stack.
extern const char* const lanes_apart_text;
/// General registers live just after each instruction, in program order; values that lanes on another path still need
/// count.
std::vector<std::uint32_t> live_registers(CompiledKernel& kernel);
/// Annotated assembly: a head with the resources, then every block with its predecessors, successors, loop depth,
/// reconvergence point, live-in and live-out registers and those of lanes that wait; every instruction with the
/// registers live after it, its PTX line and its source line, whose text stands above where the source file is found
/// (as named, or beside the PTX file).
std::string listing_of(CompiledKernel& kernel);
/// The JSON report; with `variants` if there are any.
std::string report_json(const AnnotateResult& result);
/// The paths under which the text of a kernel's source files is looked for: as each is named, and beside the PTX file.
std::vector<std::string> source_paths(const ir::Function& f);

}  // namespace regatta::tool
