// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include "host.h"
#include "outputs.h"

#include <regatta/base/input_file.h>
#include <regatta/trace/file.h>
#include <regatta/trace/file_kind.h>

#include <algorithm>
#include <set>

namespace regatta::tool {

namespace {

/// The module in the file `path`. What cannot be read is said with `prefix`, the place that names the file.
ptx::ModuleResult read_module(const std::string& path, const std::string& prefix,
                              const ptx::LoweringOptions& lowering) {
  std::string text;
  try {
    text = base::read_text(path);
  } catch (const base::InputError& e) {
    throw trace::InputError(prefix + e.what());
  }
  if (trace::file_kind(path) != trace::FileKind::source) return ptx::parse_entries(text, path, lowering);
  // What is PTX is taken, whatever its name.
  try {
    ptx::ModuleResult module = ptx::parse_entries(text, path, lowering);
    if (!module.entries.empty()) return module;
  } catch (const trace::InputError&) {
    // It is what its name says.
  }
  throw trace::InputError(prefix + path + " is " + trace::source_language(path) +
                          " source; expected PTX (nvcc -ptx, or clang: see compiler/launch/README.md)");
}

/// The PTX files of a launch file, or the one that replaces its file.
void replace_ptx(launch::LaunchFile& file, const std::string& path) {
  if (path.empty()) return;
  if (file.ptx.size() != 1) {
    throw trace::InputError("error: --ptx replaces one PTX file, '" + file.file + "' has " +
                            std::to_string(file.ptx.size()) + ": name the other one there");
  }
  file.ptx = {path};
}

/// Refuses --ctas FIRST:COUNT that would leave the trace empty.
void check_ctas(const AnnotateOptions& options, const launch::LaunchFile& file) {
  std::uint64_t most = 0;
  for (const launch::Launch& l : file.launches) {
    if (l.computes(launch::Computed::What::grid)) return;  // known when it runs
    most = std::max(most, std::uint64_t{l.grid[0]} * l.grid[1] * l.grid[2]);
  }
  if (options.first_cta < most) return;
  throw trace::InputError("error: --ctas " + std::to_string(options.first_cta) + ":" +
                          std::to_string(options.cta_count) + " traces nothing: the largest grid of '" + file.file +
                          "' has " + std::to_string(most) + " CTAs, expected FIRST below that");
}

}  // namespace

std::vector<ptx::ModuleResult> read_modules(const std::vector<std::string>& paths, const std::string& prefix,
                                            const AnnotateOptions& options) {
  std::vector<ptx::ModuleResult> modules;
  const ptx::LoweringOptions lowering{options.stack_bytes};
  for (const std::string& path : paths) modules.push_back(read_module(path, prefix, lowering));
  return modules;
}

std::vector<launch::EntryNames> entry_names(const std::vector<ptx::ModuleResult>& modules) {
  std::vector<launch::EntryNames> names;
  for (const ptx::ModuleResult& m : modules) {
    names.push_back({m.file, {}});
    for (const ptx::EntryResult& e : m.entries) names.back().entries.push_back(e.name);
  }
  return names;
}

CompileOptions compile_options(const AnnotateOptions& options) {
  CompileOptions o;
  o.allocation.max_registers = options.max_registers;
  o.registers = options.registers;
  o.least_registers = options.min_registers;
  o.shared_values = options.shared_values;
  o.allocation.schedule = options.schedule;
  o.allocation.target = &passes::Target::named(options.target);
  o.allocation.narrow = options.addresses == 32;
  o.passes = options.passes;
  o.pass_options = options.pass_options;
  o.annotations = options.annotations;
  o.warp_size = options.warp_size;
  o.ordered_exchanges = options.divergence == emulator::Divergence::barriers;
  return o;
}

const ptx::EntryResult& entry_of(const launch::Launch& l, const std::vector<ptx::ModuleResult>& modules) {
  const std::vector<ptx::EntryResult>& entries = modules[*l.module].entries;
  return *std::find_if(entries.begin(), entries.end(), [&](const ptx::EntryResult& e) { return e.name == l.entry; });
}

Program read_program(const AnnotateOptions& options) {
  Program p;
  p.file = launch::read_launch_file(options.launch);
  replace_ptx(p.file, options.ptx);
  check_ctas(options, p.file);
  p.modules = read_modules(p.file.ptx, p.file.file + ": error: ", options);
  refuse_clashes(options, &p.file, p.modules);
  launch::resolve_entries(p.file, entry_names(p.modules));
  // Where buffers have addresses, variables lie below them, as in the program that was captured.
  const auto has_address = [](const launch::Buffer& b) { return b.address.has_value(); };
  p.below_4_gb = options.addresses == 32 || options.memory_below_4_gb ||
                 std::any_of(p.file.buffers.begin(), p.file.buffers.end(), has_address);
  for (const ptx::ModuleResult& m : p.modules) {
    p.below_4_gb |= m.address_bits == 32;
    p.variables.emplace_back();
    p.variables.back().file = m.file;
    p.variables.back().variables = m.variables;
  }
  return p;
}

Code compile_code(Code code, const Program& program) {
  const AnnotateOptions& options = code.options;
  std::set<KernelName> compiled;
  for (const launch::Launch& l : program.file.launches) {
    if (!compiled.insert(kernel_name(l)).second) continue;
    const ptx::EntryResult& entry = entry_of(l, program.modules);
    if (!entry.accepted) throw trace::InputError(entry.message);
    CompileOptions compilation = compile_options(options);
    compilation.lanes_apart = options.apart_kernels.count(kernel_name(l)) != 0;
    compilation.dynamic_shared_bytes = static_cast<std::uint32_t>(l.dynamic_shared);
    for (const launch::Launch& same : program.file.launches) {
      if (kernel_name(same) != kernel_name(l)) continue;
      compilation.least_registers = std::max(compilation.least_registers, same.registers);
      compilation.dynamic_shared_bytes =
          std::min(compilation.dynamic_shared_bytes, static_cast<std::uint32_t>(same.dynamic_shared));
    }
    code.kernels.emplace_back(*l.module, compile(entry.function, compilation));
  }
  return code;
}

bool uses_shared_memory(const Program& program) {
  const auto uses = [&](const launch::Launch& l) {
    const ptx::EntryResult& entry = entry_of(l, program.modules);
    return l.dynamic_shared != 0 || l.computes(launch::Computed::What::dynamic_shared) ||
           entry.function.static_shared_bytes != 0;
  };
  return std::any_of(program.file.launches.begin(), program.file.launches.end(), uses);
}

bool is_same(const Code& a, const Code& b) {
  for (std::size_t k = 0; k < a.kernels.size(); ++k) {
    if (!trace::same_static_part(a.kernels[k].second.trace_kernel, b.kernels[k].second.trace_kernel)) return false;
  }
  return true;
}

std::string scheme_list(const trace::Variant& variant) {
  std::string list;
  for (const std::string& scheme : variant.schemes) list += (list.empty() ? "" : ", ") + scheme;
  return list;
}

}  // namespace regatta::tool
