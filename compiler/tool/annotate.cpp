// SPDX-License-Identifier: Apache-2.0
#include <regatta/tool/annotate.h>

#include "compile.h"
#include "host.h"
#include "outputs.h"

#include <regatta/base/input_file.h>
#include <regatta/launch/entry_names.h>
#include <regatta/launch/launch_file.h>
#include <regatta/ptx/ptx.h>
#include <regatta/trace/file.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>

namespace regatta::tool {

namespace {

/// The module in the file `path`. What cannot be read is said with `prefix`, the place that names the file.
ptx::ModuleResult read_module(const std::string& path, const std::string& prefix) {
  std::string text;
  try {
    text = base::read_text(path);
  } catch (const base::InputError& e) {
    throw trace::InputError(prefix + e.what());
  }
  return ptx::parse_entries(text, path);
}

std::vector<ptx::ModuleResult> read_modules(const std::vector<std::string>& paths, const std::string& prefix) {
  std::vector<ptx::ModuleResult> modules;
  for (const std::string& path : paths) modules.push_back(read_module(path, prefix));
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

/// The PTX files of a launch file, or the one that replaces its file.
void replace_ptx(launch::LaunchFile& file, const std::string& path) {
  if (path.empty()) return;
  if (file.ptx.size() != 1) {
    throw trace::InputError("error: --ptx replaces one PTX file, '" + file.file + "' has " +
                            std::to_string(file.ptx.size()) + ": name the other one there");
  }
  file.ptx = {path};
}

CompileOptions compile_options(const AnnotateOptions& options) {
  CompileOptions o;
  o.allocation.max_registers = options.max_registers;
  o.least_registers = options.min_registers;
  o.shared_values = options.shared_values;
  o.allocation.schedule = options.schedule;
  o.allocation.narrow = options.addresses == 32;
  o.passes = options.passes;
  o.pass_options = options.pass_options;
  o.warp_size = options.warp_size;
  return o;
}

void commit(base::OutputFile* file, const std::string& bytes) {
  if (file == nullptr) return;
  file->write(bytes);
  file->commit();
}

void check(const AnnotateOptions& options, AnnotateResult& result) {
  std::vector<std::string> paths{options.ptx};
  if (options.ptx.empty()) paths = launch::read_launch_file(options.launch).ptx;
  std::vector<ptx::ModuleResult> modules = read_modules(paths, "error: ");
  for (const ptx::ModuleResult& m : modules) {
    if (m.entries.empty()) throw trace::InputError("error: '" + m.file + "' has no entry, expected at least one");
  }
  std::vector<ptx::EntryResult*> entries;
  if (options.entry.empty()) {
    for (ptx::ModuleResult& m : modules) {
      for (ptx::EntryResult& e : m.entries) entries.push_back(&e);
    }
  } else {
    const launch::EntryPlace place = launch::find_entry(entry_names(modules), options.entry, std::nullopt, "error: ");
    entries.push_back(&modules[place.module].entries[place.entry]);
  }
  refuse_clashes(options, nullptr, modules);
  const Outputs outputs(options);
  std::string listing;
  for (ptx::EntryResult* const entry : entries) {
    ptx::EntryResult& e = *entry;
    const CompileOptions compilation = compile_options(options);
    EntryReport report = refusal_of(e.name, e.message, compilation);
    if (e.accepted) {
      try {
        CompiledKernel kernel = compile(std::move(e.function), compilation);
        report = report_of(kernel);
        if (!options.listing.empty()) listing += (listing.empty() ? "" : "\n") + listing_of(kernel);
      } catch (const trace::InputError& error) {
        report.message = error.what();
      }
    }
    // A single entry that was asked for and is refused is bad input; a survey goes on.
    if (!report.accepted && !options.entry.empty()) throw trace::InputError(report.message);
    result.entries.push_back(std::move(report));
  }
  commit(outputs.listing.get(), listing);
  commit(outputs.report.get(), report_json(result));
}

/// Refuses --ctas FIRST:COUNT that would leave the trace empty.
void check_ctas(const AnnotateOptions& options, const launch::LaunchFile& file) {
  std::uint64_t most = 0;
  for (const launch::Launch& l : file.launches) {
    most = std::max(most, std::uint64_t{l.grid[0]} * l.grid[1] * l.grid[2]);
  }
  if (options.first_cta < most) return;
  throw trace::InputError("error: --ctas " + std::to_string(options.first_cta) + ":" +
                          std::to_string(options.cta_count) + " traces nothing: the largest grid of '" + file.file +
                          "' has " + std::to_string(most) + " CTAs, expected FIRST below that");
}

/// What resolve_entries() found.
ptx::EntryResult& entry_of(const launch::Launch& l, std::vector<ptx::ModuleResult>& modules) {
  std::vector<ptx::EntryResult>& entries = modules[*l.module].entries;
  return *std::find_if(entries.begin(), entries.end(), [&](const ptx::EntryResult& e) { return e.name == l.entry; });
}

/// A run that has succeeded, and whose files have no names yet.
struct Run {
  explicit Run(const AnnotateOptions& options) : outputs(options) {}

  Outputs outputs;
  std::string listing;
};

/// Gives all files their names: the trace first, which took the time.
void finish(Run& run, const AnnotateResult& result) {
  if (run.outputs.trace) run.outputs.trace->finish();
  for (const auto& dump : run.outputs.dumps) dump->commit();
  commit(run.outputs.listing.get(), run.listing);
  commit(run.outputs.report.get(), report_json(result));
}

std::unique_ptr<Run> run(const AnnotateOptions& options, AnnotateResult& result) {
  launch::LaunchFile file = launch::read_launch_file(options.launch);
  replace_ptx(file, options.ptx);
  check_ctas(options, file);
  std::vector<ptx::ModuleResult> modules = read_modules(file.ptx, file.file + ": error: ");
  refuse_clashes(options, &file, modules);
  launch::resolve_entries(file, entry_names(modules));
  bool below_4_gb = options.addresses == 32 || options.memory_below_4_gb;
  std::vector<ir::Module> variables;
  for (const ptx::ModuleResult& m : modules) {
    below_4_gb |= m.address_bits == 32;
    variables.emplace_back();
    variables.back().file = m.file;
    variables.back().variables = m.variables;
  }

  auto run = std::make_unique<Run>(options);
  Outputs& outputs = run->outputs;
  if (outputs.trace) outputs.trace->set_producer(options.producer);
  Host host(file, variables, options, below_4_gb, outputs.trace.get(), result);
  host.check_dumps();
  std::set<KernelName> compiled;
  for (const launch::Launch& l : file.launches) {
    if (!compiled.insert(kernel_name(l)).second) continue;
    ptx::EntryResult& entry = entry_of(l, modules);
    if (!entry.accepted) throw trace::InputError(entry.message);
    CompileOptions compilation = compile_options(options);
    compilation.dynamic_shared_bytes = static_cast<std::uint32_t>(l.dynamic_shared);
    for (const launch::Launch& same : file.launches) {
      if (kernel_name(same) != kernel_name(l)) continue;
      compilation.least_registers = std::max(compilation.least_registers, same.registers);
      compilation.dynamic_shared_bytes =
          std::min(compilation.dynamic_shared_bytes, static_cast<std::uint32_t>(same.dynamic_shared));
    }
    CompiledKernel kernel = compile(std::move(entry.function), compilation);
    result.entries.push_back(report_of(kernel));
    if (!options.listing.empty()) run->listing += (run->listing.empty() ? "" : "\n") + listing_of(kernel);
    host.add_kernel(*l.module, std::move(kernel));
  }
  const auto start = std::chrono::steady_clock::now();
  host.run();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  host.collect_findings();
  if (outputs.trace) {
    std::uint64_t traced = 0;
    for (const LaunchReport& l : result.launches) traced += l.traced_ctas;
    // A grid that is large enough need not have been launched.
    if (traced == 0) throw trace::InputError("error: no launch that ran has a CTA of --ctas: the trace would be empty");
  }
  for (std::size_t i = 0; i < outputs.dumps.size(); ++i) outputs.dumps[i]->write(host.contents(options.dumps[i].first));
  host.check_expectations();
  return run;
}

/// Runs the program with wide addresses and without output: one that is out of bounds by 4 GB or more would go
/// unnoticed in its lower half.
void check_wide_addresses(const AnnotateOptions& options) {
  AnnotateOptions wide = options;
  wide.addresses = 64;
  wide.memory_below_4_gb = true;
  wide.check_races = false;
  wide.print_nothing = true;
  wide.out.clear();
  wide.report.clear();
  wide.listing.clear();
  wide.dumps.clear();
  AnnotateResult unused;
  run(wide, unused);
}

}  // namespace

AnnotateResult annotate(const AnnotateOptions& options) {
  if (options.warp_size != 32 && options.warp_size != 64) {
    throw trace::InputError("error: --warp-size is " + std::to_string(options.warp_size) + ", expected 32 or 64");
  }
  if (options.max_registers < trace::min_register_budget || options.max_registers > trace::max_general_registers) {
    throw trace::InputError("error: --max-registers is " + std::to_string(options.max_registers) + ", expected " +
                            std::to_string(trace::min_register_budget) + " to " +
                            std::to_string(trace::max_general_registers));
  }
  if (options.addresses != 32 && options.addresses != 64) {
    throw trace::InputError("error: --addresses is " + std::to_string(options.addresses) + ", expected 32 or 64");
  }
  if (options.min_registers > trace::max_general_registers) {
    throw trace::InputError("error: --min-registers is " + std::to_string(options.min_registers) + ", expected 0 to " +
                            std::to_string(trace::max_general_registers));
  }
  options.passes.make(options.pass_options);  // refuses options that do not fit before a file is read
  AnnotateResult result;
  if (options.check) {
    if (options.ptx.empty() && options.launch.empty())
      throw trace::InputError("error: --check needs --ptx or --launch");
    check(options, result);
  } else {
    if (options.launch.empty()) throw trace::InputError("error: --launch is missing (or --ptx with --check)");
    if (options.addresses == 32) check_wide_addresses(options);
    // A trace says which of its kernels race, in its static part, which comes first. A file whose guess was wrong is
    // written again; a pipe cannot be.
    AnnotateOptions known = options;
    known.races_known = options.check_races;
    if (options.check_races && is_written_directly(options.out)) {
      AnnotateOptions search = options;
      search.out.clear();
      run(search, result);
      known.racy_kernels = std::move(result.racy_kernels);
      result = AnnotateResult{};
    }
    std::unique_ptr<Run> done = run(known, result);
    if (!options.out.empty() && result.racy_kernels != known.racy_kernels) {
      known.racy_kernels = result.racy_kernels;
      done.reset();
      result = AnnotateResult{};
      done = run(known, result);
    }
    finish(*done, result);
  }
  return result;
}

}  // namespace regatta::tool
