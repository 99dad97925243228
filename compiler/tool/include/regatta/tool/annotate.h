// SPDX-License-Identifier: Apache-2.0
//
// The annotation pipeline: read, parse, allocate, analyse, emulate, write. The regatta-annotate program is a command
// line around it.
#pragma once

#include <regatta/emulator/approximations.h>
#include <regatta/emulator/device_memory.h>
#include <regatta/emulator/divergence.h>
#include <regatta/emulator/races.h>
#include <regatta/emulator/stray_reads.h>
#include <regatta/ir/ir.h>
#include <regatta/passes/pass_registry.h>
#include <regatta/passes/register_budget.h>
#include <regatta/trace/file.h>
#include <regatta/trace/section_registry.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regatta::tool {

/// Index of a launch file's PTX file, and the entry's name there: two files may have entries of one name.
using KernelName = std::pair<std::size_t, std::string>;

/// What becomes of a read of global memory that hits no buffer, where a GPU has mapped memory all the same
/// (emulator::DeviceMemory::is_mapped()). Others, and all writes and atomics outside of buffers, are errors always.
enum class OutOfBounds : std::uint8_t {
  error,
  warn,  ///< it gives zero; the result names each instruction
  zero,  ///< it gives zero
};

struct AnnotateOptions {
  std::string launch;  ///< launch file; empty only with `check`
  std::string out;     ///< trace to write; empty: run without one
  std::string trace;   ///< instead of `launch`: a trace that gets the annotations of `schemes`
  std::string ptx;     ///< overrides the launch file's; with `check`, the file to check
  std::string entry;   ///< with `check`: this entry alone
  bool check = false;  ///< static work only
  std::optional<passes::BudgetOverride> registers;  ///< --registers
  unsigned max_registers = 255;                     ///< launch bounds of a kernel may allow it fewer
  unsigned min_registers = 0;  ///< every kernel's allocation has at least so many, as if it needed them
  /// 32: 64-bit addresses are narrowed (passes/narrow_addresses.h), after a run with wide ones that finds addresses out
  /// of bounds.
  unsigned addresses = 64;
  std::string target = "generic";  ///< passes::Target::names()
  bool schedule = true;            ///< reorder instructions within blocks before allocation
  /// The annotation passes, their options, and the formats by which the trace's writer checks their sections.
  passes::PassRegistry passes = passes::PassRegistry::with_builtin();
  passes::PassOptionValues pass_options;
  /// Names of the passes that annotate without an option; none: all of them. A pass with an option in `pass_options`
  /// runs in any case.
  std::optional<std::set<std::string>> annotations;
  trace::SectionRegistry sections = trace::SectionRegistry::with_builtin();
  unsigned warp_size = 32;
  std::uint64_t first_cta = 0;                              ///< traced range of every launch, linear CTA indices
  std::uint64_t cta_count = UINT64_MAX;                     ///< all CTAs execute, these are traced
  std::uint64_t max_instructions = std::uint64_t{1} << 31;  ///< per warp
  std::uint64_t concurrent_ctas = 1;                        ///< emulator::EmulatorOptions::concurrent_ctas
  unsigned threads = 0;                                     ///< that run launches without a trace; 0: base::threads()
  emulator::Divergence divergence = emulator::Divergence::stack;
  std::uint32_t stack_bytes = ir::default_stack_bytes;                    ///< ptx::LoweringOptions
  std::uint64_t heap_bytes = emulator::DeviceMemory::default_heap_bytes;  ///< of the kernels' malloc()
  /// Schemes for which the trace is to have a code of its own, if they need one (trace/scheme_code.h): variants.
  std::vector<std::string> schemes;
  /// All schemes: a code that the program cannot have is left out, and the result says why.
  bool all_schemes = false;
  bool shared_values = false;  ///< the trace also holds what each write of shared memory leaves there
  OutOfBounds out_of_bounds = OutOfBounds::error;
  bool undefined_zero = false;  ///< emulator::EmulatorOptions::undefined_zero
  emulator::Approximations approximations = emulator::Approximations::rounded;
  bool check_races = false;
  emulator::RaceRule race_rule = emulator::RaceRule::off;  ///< with `check_races`; off: the one of the PTX's .target
  /// The detector has run: kernels of `racy_kernels` get the section `races` in the trace, the others `race_free`. Set
  /// by annotate() itself.
  bool races_known = false;
  std::set<KernelName> racy_kernels;
  /// Those whose lanes are known to leave the order of a SIMT stack. Set by annotate() itself.
  std::set<KernelName> apart_kernels;
  // Set by annotate() itself, for the run that only looks at addresses.
  bool memory_below_4_gb = false;
  // Set by regatta-capture.
  bool heap_initialised = false;  ///< reading what nobody has written to a block of malloc() gives zero
  bool print_nothing = false;
  std::string report;                                      ///< JSON report to write
  std::string listing;                                     ///< annotated assembly to write
  std::vector<std::pair<std::string, std::string>> dumps;  ///< buffer or variable name, file: written after the run
  std::string producer = "regatta-annotate";               ///< recorded in the trace
  bool progress = false;  ///< a line on standard error, once a run takes longer than two seconds
};

/// What became of one entry.
struct EntryReport {
  std::string name;
  bool accepted = false;
  std::string message;                 ///< why not
  std::uint32_t registers = 0;         ///< per thread of the allocation
  std::uint32_t registers_needed = 0;  ///< fewer where the launch file or min_registers states more
  std::uint32_t register_budget = 0;   ///< the most that it might have had
  std::uint32_t entry_registers = 0;   ///< those that it begins with, if it changes them (setmaxnreg); else 0
  std::string budget_set_by;           ///< "--max-registers", ".maxnreg 24" ...
  std::uint32_t spills = 0;            ///< virtual registers that live in local memory
  std::uint32_t spill_bytes = 0;       ///< of local memory per thread
  std::uint32_t live_registers = 0;    ///< most general registers live at once
  std::uint32_t shared_bytes = 0;      ///< static, per CTA
  std::uint32_t local_bytes = 0;       ///< per thread, spills included
  std::uint64_t instructions = 0;
  std::uint64_t blocks = 0;
  std::uint64_t loops = 0;
  std::vector<std::string> warnings;        ///< "file:line:column: warning: ..."
  std::vector<passes::PassSummary> passes;  ///< by pass; a refused entry has keys and headings only
};

/// One launch that ran, in order.
struct LaunchReport {
  std::string entry;
  std::uint64_t ctas = 0;
  std::uint64_t traced_ctas = 0;
  std::uint64_t warp_instructions = 0;  ///< executed, all CTAs
  std::uint64_t thread_instructions = 0;
};

/// A buffer at the end of the run.
struct PlacedBuffer {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

/// What became of one code of the program.
struct CodeResult {
  std::vector<EntryReport> entries;
  std::vector<LaunchReport> launches;
  std::vector<std::string> failed_expectations;  ///< messages; not empty means exit status 3
  std::vector<emulator::Race> races;             ///< likewise
  std::set<KernelName> racy_kernels;             ///< those with races
  std::set<KernelName> apart_kernels;            ///< those whose lanes left the order of a SIMT stack
  std::vector<emulator::StrayRead> stray_reads;  ///< with OutOfBounds::warn and zero
  std::vector<PlacedBuffer> buffers;             ///< those that exist at the end, by what their names mean then
  double seconds = 0;                            ///< of emulation and trace writing
};

/// A further code of the program.
struct VariantResult : CodeResult {
  trace::Variant variant;
};

/// What became of the first code, and of the others.
struct AnnotateResult : CodeResult {
  std::vector<VariantResult> variants;
  /// Lines on codes that were asked for and that the trace has not: the same as another, or not to be had. With
  /// AnnotateOptions::trace on annotations that a kernel is left without.
  std::vector<std::string> without_variant;
  std::string added;  ///< with AnnotateOptions::trace: a line on what was added
};

/// Runs the pipeline. Throws trace::InputError for anything wrong with the input; no output file is left half written.
/// With `check` and no `entry`, a refused entry is reported and the work goes on.
AnnotateResult annotate(const AnnotateOptions& options);

}  // namespace regatta::tool
