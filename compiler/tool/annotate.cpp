// SPDX-License-Identifier: Apache-2.0
#include <regatta/tool/annotate.h>

#include "compile.h"
#include "host.h"

#include <regatta/launch/launch_file.h>
#include <regatta/launch/suggestion.h>
#include <regatta/ptx/ptx.h>
#include <regatta/trace/file.h>

#include <chrono>
#include <set>

namespace regatta::tool {

namespace {

std::string read_text(const std::string& path, const std::string& prefix) {
  const std::vector<std::uint8_t> bytes = launch::read_file(path, prefix);
  return std::string(bytes.begin(), bytes.end());
}

std::string entry_names(const ptx::ModuleResult& module) {
  std::string names;
  for (const ptx::EntryResult& e : module.entries) names += (names.empty() ? "" : ", ") + e.name;
  return names.empty() ? "it has none" : "it has " + names;
}

ptx::EntryResult& find_entry(ptx::ModuleResult& module, const std::string& name, const std::string& prefix) {
  for (ptx::EntryResult& e : module.entries) {
    if (e.name == name) return e;
  }
  std::vector<std::string> names;
  for (const ptx::EntryResult& e : module.entries) names.push_back(e.name);
  throw trace::InputError(prefix + "'" + module.file + "' has no entry '" + name + "'; " + entry_names(module) +
                          launch::suggestion(name, names));
}

CompileOptions compile_options(const AnnotateOptions& options) {
  CompileOptions o;
  o.allocation.max_registers = options.max_registers;
  o.allocation.schedule = options.schedule;
  o.regions.max_registers = options.region_registers;
  o.regions.lines_per_bank = options.region_bank_lines;
  o.regions.lanes = options.region_lanes;
  o.power.threshold = options.power_threshold;
  o.warp_size = options.warp_size;
  return o;
}

/// What is left to write once everything has succeeded.
void write_texts(const AnnotateOptions& options, const AnnotateResult& result, const std::string& listing) {
  if (!options.listing.empty()) write_file(options.listing, listing);
  if (!options.report.empty()) write_file(options.report, report_json(result));
}

void check(const AnnotateOptions& options, AnnotateResult& result) {
  std::string path = options.ptx;
  if (path.empty()) path = launch::read_launch_file(options.launch).ptx;
  ptx::ModuleResult module = ptx::parse_entries(read_text(path, "error: "), path);
  if (!options.entry.empty()) find_entry(module, options.entry, "error: ");
  std::string listing;
  for (ptx::EntryResult& e : module.entries) {
    if (!options.entry.empty() && e.name != options.entry) continue;
    EntryReport report;
    report.name = e.name;
    report.message = e.message;
    if (e.accepted) {
      try {
        CompiledKernel kernel = compile(std::move(e.function), compile_options(options));
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
  write_texts(options, result, listing);
}

void run(const AnnotateOptions& options, AnnotateResult& result) {
  launch::LaunchFile file = launch::read_launch_file(options.launch);
  if (!options.ptx.empty()) file.ptx = options.ptx;
  ptx::ModuleResult module = ptx::parse_entries(read_text(file.ptx, file.file + ": error: "), file.ptx);
  ir::Module variables;
  variables.file = module.file;
  variables.variables = module.variables;

  std::unique_ptr<trace::Writer> writer;
  if (!options.out.empty()) {
    writer = std::make_unique<trace::Writer>(options.out);
    writer->set_producer(options.producer);
  }
  Host host(file, variables, options, writer.get(), result);
  host.check_dumps();
  std::set<std::string> compiled;
  std::string listing;
  for (const launch::Launch& l : file.launches) {
    if (!compiled.insert(l.entry).second) continue;
    const std::string prefix =
        file.file + ":" + std::to_string(l.entry_where.line) + ":" + std::to_string(l.entry_where.column) + ": error: ";
    ptx::EntryResult& entry = find_entry(module, l.entry, prefix);
    if (!entry.accepted) throw trace::InputError(entry.message);
    CompiledKernel kernel = compile(std::move(entry.function), compile_options(options));
    result.entries.push_back(report_of(kernel));
    if (!options.listing.empty()) listing += (listing.empty() ? "" : "\n") + listing_of(kernel);
    host.add_kernel(std::move(kernel));
  }
  const auto start = std::chrono::steady_clock::now();
  host.run();
  if (writer) writer->finish();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  host.collect_races();
  host.check_expectations();
  host.dump();
  write_texts(options, result, listing);
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
  passes::check(compile_options(options).regions);
  passes::check(compile_options(options).power);
  AnnotateResult result;
  if (options.check) {
    if (options.ptx.empty() && options.launch.empty())
      throw trace::InputError("error: --check needs --ptx or --launch");
    check(options, result);
  } else {
    if (options.launch.empty()) throw trace::InputError("error: --launch is missing (or --ptx with --check)");
    run(options, result);
    if (!options.out.empty() && !result.racy_kernels.empty()) {
      // A trace says which of its kernels race, in its static part, which comes first: once more, now that it is known.
      AnnotateOptions known = options;
      known.racy_kernels = result.racy_kernels;
      result = AnnotateResult{};
      run(known, result);
    }
  }
  return result;
}

}  // namespace regatta::tool
