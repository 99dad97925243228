// SPDX-License-Identifier: Apache-2.0
#include <regatta/tool/annotate.h>

#include <regatta/tool/compile.h>
#include "host.h"
#include "outputs.h"
#include "program.h"
#include "reannotate.h"
#include "scheme_codes.h"

#include <regatta/launch/entry_names.h>
#include <regatta/launch/launch_file.h>
#include <regatta/ptx/ptx.h>
#include <regatta/trace/file.h>
#include <regatta/trace/scheme_code.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace regatta::tool {

namespace {

void commit(base::OutputFile* file, const std::string& bytes) {
  if (file == nullptr) return;
  file->write(bytes);
  file->commit();
}

void check(const AnnotateOptions& options, AnnotateResult& result) {
  std::vector<std::string> paths{options.ptx};
  if (options.ptx.empty()) paths = launch::read_launch_file(options.launch).ptx;
  std::vector<ptx::ModuleResult> modules = read_modules(paths, "error: ", options);
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

/// What earlier runs have found, and the static part of the trace, which comes first, must say.
struct Findings {
  std::map<std::string, std::set<KernelName>> racy, apart;  ///< by variant
  std::map<std::string, std::string> impossible;            ///< variants that the program cannot have, with the reason
};

/// A variant that cannot be had; `what()` says why.
class VariantError : public trace::InputError {
 public:
  VariantError(std::string variant, const std::string& what) : trace::InputError(what), variant_(std::move(variant)) {}
  const std::string& variant() const { return variant_; }

 private:
  std::string variant_;
};

/// Does `work` for a code. What the code is refused for is said with the name of the variant.
template <class Work>
void for_code(const trace::Variant& variant, Work work) {
  if (variant.name == trace::plain_variant) return work();
  try {
    work();
  } catch (const trace::InputError& e) {
    throw VariantError(variant.name, std::string(e.what()) + " (in the variant " + variant.name + ", " +
                                         variant.options + ", for " + scheme_list(variant) + ")");
  }
}

/// The first code, then those that the schemes need and that are none of the codes before them.
std::vector<Code> compile_codes(const AnnotateOptions& options, const Findings& known, const Program& program,
                                AnnotateResult& result) {
  std::vector<Code> codes;
  const auto with_known = [&](const std::string& variant, AnnotateOptions its_options) {
    const auto apart = known.apart.find(variant);
    if (apart != known.apart.end()) its_options.apart_kernels = apart->second;
    return its_options;
  };
  codes.push_back(
      compile_code({{trace::plain_variant, {}, ""}, with_known(trace::plain_variant, options), {}}, program));
  for (const trace::SchemeCode& code : codes_for(options.schemes)) {
    const std::vector<trace::CodeOption> its_options = code.options_for(uses_shared_memory(program));
    Code more{{code.name, code.schemes, ""}, with_known(code.name, with_code(options, its_options)), {}};
    more.variant.options = options_text(more.options, its_options);
    const auto without = [&](const std::string& why) {
      result.without_variant.push_back(scheme_list(more.variant) + ": " + why);
    };
    const auto impossible = known.impossible.find(code.name);
    if (impossible != known.impossible.end()) {
      without("no variant " + code.name + ": " + impossible->second);
      continue;
    }
    const trace::Variant variant = more.variant;  // compile_code() takes the other one, and may throw
    for_code(variant, [&] { more = compile_code(std::move(more), program); });
    const auto same = std::find_if(codes.begin(), codes.end(), [&](const Code& c) { return is_same(c, more); });
    if (same == codes.end()) {
      codes.push_back(std::move(more));
      continue;
    }
    without("their code (" + more.variant.options + ") is the one of variant " + same->variant.name);
    if (same == codes.begin()) continue;
    same->variant.schemes.insert(same->variant.schemes.end(), code.schemes.begin(), code.schemes.end());
  }
  return codes;
}

/// Schemes that were asked for, and whose code cannot have the annotation that they read: refused by name, otherwise
/// told.
void check_annotations(const AnnotateOptions& options, const std::vector<Code>& codes, AnnotateResult& result) {
  for (const std::string& scheme : options.schemes) {
    const std::optional<std::string> section = trace::annotation_of_scheme(scheme);
    if (!section) continue;
    const auto own = std::find_if(codes.begin(), codes.end(), [&](const Code& c) {
      return std::find(c.variant.schemes.begin(), c.variant.schemes.end(), scheme) != c.variant.schemes.end();
    });
    for (const auto& [module, kernel] : (own == codes.end() ? codes.front() : *own).kernels) {
      for (std::size_t p = 0; p < kernel.passes.size(); ++p) {
        if (kernel.passes[p]->name() != *section || kernel.left_out[p].empty()) continue;
        if (!options.all_schemes) throw trace::InputError("error: --for " + scheme + ": " + kernel.left_out[p]);
        result.without_variant.push_back(scheme + ": no annotation '" + *section + "': " + kernel.left_out[p]);
      }
    }
  }
}

std::uint32_t version_needed(const std::vector<Code>& codes) {
  std::uint32_t version = trace::plain_format_version;
  for (const Code& code : codes) {
    for (const auto& [module, kernel] : code.kernels)
      version = std::max(version, trace::version_needed(kernel.trace_kernel));
  }
  return version;
}

/// Executes one code; `outputs` has what it writes.
void run_code(Code& code, const Program& program, Run& run, CodeResult& result) {
  const AnnotateOptions& options = code.options;
  const bool is_plain = code.variant.name == trace::plain_variant;
  trace::Writer* const writer = run.outputs.trace.get();
  if (writer != nullptr && !is_plain) writer->begin_variant(code.variant);
  if (!options.listing.empty() && !is_plain) {
    run.listing +=
        "\n// variant " + code.variant.name + ", " + code.variant.options + ", for " + scheme_list(code.variant) + "\n";
  }
  Host host(program.file, program.variables, options, program.below_4_gb, writer, result);
  if (is_plain) host.check_dumps();
  for (auto& [module, kernel] : code.kernels) {
    result.entries.push_back(report_of(kernel));
    if (!options.listing.empty()) run.listing += (run.listing.empty() ? "" : "\n") + listing_of(kernel);
    host.add_kernel(module, std::move(kernel));
  }
  const auto start = std::chrono::steady_clock::now();
  host.run();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  host.collect_findings();
  host.note_buffers();
  if (writer != nullptr) {
    std::uint64_t traced = 0;
    for (const LaunchReport& l : result.launches) traced += l.traced_ctas;
    // A grid that is large enough need not have been launched.
    if (traced == 0) throw trace::InputError("error: no launch that ran has a CTA of --ctas: the trace would be empty");
  }
  for (std::size_t i = 0; is_plain && i < run.outputs.dumps.size(); ++i) {
    run.outputs.dumps[i]->write(host.contents(options.dumps[i].first));
  }
  host.check_expectations();
}

std::unique_ptr<Run> run(const AnnotateOptions& options, const Findings& known, AnnotateResult& result) {
  const Program program = read_program(options);
  auto run = std::make_unique<Run>(options);
  if (run->outputs.trace) run->outputs.trace->set_producer(options.producer);
  std::vector<Code> codes = compile_codes(options, known, program, result);
  check_annotations(options, codes, result);
  if (run->outputs.trace && codes.size() > 1) run->outputs.trace->announce_variants();
  if (run->outputs.trace) run->outputs.trace->announce_version(version_needed(codes));
  for (Code& code : codes) {
    const auto racy = known.racy.find(code.variant.name);
    if (racy != known.racy.end()) code.options.racy_kernels = racy->second;
    if (&code == &codes.front()) {
      run_code(code, program, *run, result);
      continue;
    }
    VariantResult of_variant;
    of_variant.variant = code.variant;
    for_code(code.variant, [&] { run_code(code, program, *run, of_variant); });
    result.variants.push_back(std::move(of_variant));
  }
  return run;
}

/// Runs until the run fits what it finds: a trace says in its static part, which comes first, which kernels race.
std::unique_ptr<Run> run_until_known(const AnnotateOptions& options, Findings& known, AnnotateResult& result) {
  for (;;) {
    result = AnnotateResult{};
    std::unique_ptr<Run> done;
    try {
      done = run(options, known, result);
    } catch (const VariantError& e) {
      if (!options.all_schemes) throw;
      known.impossible[e.variant()] = e.what();
      continue;
    }
    std::map<std::string, std::set<KernelName>> racy, apart = known.apart;
    if (!result.racy_kernels.empty()) racy[trace::plain_variant] = result.racy_kernels;
    apart[trace::plain_variant].insert(result.apart_kernels.begin(), result.apart_kernels.end());
    for (const VariantResult& v : result.variants) {
      if (!v.racy_kernels.empty()) racy[v.variant.name] = v.racy_kernels;
      apart[v.variant.name].insert(v.apart_kernels.begin(), v.apart_kernels.end());
    }
    for (auto of = apart.begin(); of != apart.end();) of = of->second.empty() ? apart.erase(of) : std::next(of);
    const bool is_known = options.out.empty() || (racy == known.racy && apart == known.apart);
    known.racy = std::move(racy);
    known.apart = std::move(apart);
    if (is_known) return done;
  }
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
  wide.schemes.clear();
  AnnotateResult unused;
  run(wide, {}, unused);
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
  options.passes.make(options.pass_options,
                      options.annotations);  // refuses options that do not fit before a file is read
  AnnotateResult result;
  if (!options.trace.empty()) {
    result = add_annotations(options);
  } else if (options.check) {
    if (options.ptx.empty() && options.launch.empty())
      throw trace::InputError("error: --check needs --ptx or --launch");
    check(options, result);
  } else {
    if (options.launch.empty()) throw trace::InputError("error: --launch is missing (or --ptx with --check)");
    if (options.addresses == 32) check_wide_addresses(options);
    AnnotateOptions known = options;
    known.races_known = options.check_races;
    if (known.annotations) {
      for (const std::string& scheme : options.schemes) {
        if (const auto section = trace::annotation_of_scheme(scheme)) known.annotations->insert(*section);
      }
    }
    // A file whose guess was wrong is written again; a pipe cannot be.
    Findings findings;
    const bool apart = options.divergence == emulator::Divergence::barriers;
    if ((options.check_races || options.all_schemes || apart) && is_written_directly(options.out)) {
      AnnotateOptions search = known;
      search.out.clear();
      run_until_known(search, findings, result);
    }
    const std::unique_ptr<Run> done = run_until_known(known, findings, result);
    finish(*done, result);
  }
  return result;
}

}  // namespace regatta::tool
