// SPDX-License-Identifier: Apache-2.0
//
// regatta-annotate: PTX and a launch file in, an annotated trace out.
#include <regatta/tool/command_line.h>

#include <regatta/base/arguments.h>
#include <regatta/base/shell_words.h>
#include <regatta/base/suggestion.h>
#include <regatta/base/threads.h>
#include <regatta/ptx/ptx.h>
#include <regatta/trace/file_kind.h>
#include <regatta/trace/scheme_code.h>
#include <regatta/trace/types.h>

#include <boost/program_options.hpp>

#include <algorithm>
#include <charconv>
#include <istream>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace regatta::tool {

namespace {

namespace po = boost::program_options;
using trace::InputError;

constexpr const char* intro =
    "regatta-annotate " REGATTA_VERSION
    ": executes the PTX of CUDA kernels and writes their execution, with all values, as a trace.\n\n"
    "  regatta-annotate --launch launch.toml --out kernel.rgt\n"
    "      compile the kernels that the launch file names, run them, write the trace\n"
    "  regatta-annotate --launch launch.toml --dump-buffer c=c.bin\n"
    "      run without a trace and save a result buffer\n"
    "  regatta-annotate --launch launch.toml --out kernel.rgt --for finereg,rc\n"
    "      with the code of schemes that need another one: a trace for these schemes too (--for all: for every "
    "scheme)\n"
    "  regatta-annotate --trace kernel.rgt --for rfv --out new.rgt\n"
    "      add annotations to a trace that exists; the program is compiled again and not executed\n"
    "  regatta-annotate --trace imported.rgt --out annotated.rgt\n"
    "      the same for a trace of another program (regatta-import): all annotations that its code can have\n"
    "  regatta-annotate --ptx kernel.ptx --check --report report.json --listing kernel.txt\n"
    "      compile every entry without running it; report what was accepted and what it needs\n\n"
    "A launch file has the PTX file, grid, block and parameters of one kernel, or buffers, launches and steps of\n"
    "a whole program (compiler/launch/README.md). Exit status: 0 done, 1 internal error, 2 bad input or usage, 3 a "
    "buffer\n"
    "is not what the launch file expects, or --check-races found one.\n\nOptions";

/// A whole number as a user writes it: digits alone, so that "-1" is refused and not taken for 4294967295.
template <class Integer>
struct Whole {
  Integer value = 0;
};
template <class Integer>
std::istream& operator>>(std::istream& in, Whole<Integer>& whole) {
  std::string text;
  in >> text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole.value);
  if (text.empty() || text[0] == '-' || error != std::errc() || end != text.data() + text.size()) {
    in.setstate(std::ios::failbit);
  }
  return in;
}
template <class Integer>
std::ostream& operator<<(std::ostream& out, const Whole<Integer>& whole) {
  return out << whole.value;
}

/// An option that is a whole number and goes to `target`.
template <class Integer>
po::typed_value<Whole<Integer>>* whole(Integer& target, const char* placeholder) {
  return po::value<Whole<Integer>>()
      ->value_name(placeholder)
      ->default_value({target})
      ->notifier([&target](const Whole<Integer>& given) { target = given.value; });
}

void parse_ctas(const std::string& text, AnnotateOptions& o) {
  const std::size_t colon = text.find(':');
  const auto number = [&](const std::string& part) {
    if (part.empty() || part.size() > 18 || part.find_first_not_of("0123456789") != std::string::npos) {
      throw InputError("error: --ctas '" + text + "', expected FIRST:COUNT, two whole numbers");
    }
    return std::stoull(part);
  };
  if (colon == std::string::npos) throw InputError("error: --ctas '" + text + "', expected FIRST:COUNT");
  o.first_cta = number(text.substr(0, colon));
  o.cta_count = number(text.substr(colon + 1));
  if (o.cta_count == 0) throw InputError("error: --ctas '" + text + "' traces no CTA, expected a COUNT of at least 1");
}

void parse_dumps(const std::vector<std::string>& texts, AnnotateOptions& o) {
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
      throw InputError("error: --dump-buffer '" + text + "', expected NAME=FILE");
    }
    o.dumps.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
}

/// The words of the checks that --check-races knows.
void parse_race_rule(const std::string& text, AnnotateOptions& o) {
  using emulator::RaceRule;
  o.check_races = true;
  if (text == "target") return;
  if (text != "independent" && text != "lockstep") {
    throw InputError("error: --check-races '" + text + "', expected target, independent or lockstep" +
                     base::suggestion(text, {"target", "independent", "lockstep"}));
  }
  o.race_rule = text == "lockstep" ? RaceRule::lockstep : RaceRule::independent;
}

void parse_out_of_bounds(const std::string& text, AnnotateOptions& o) {
  if (text == "error") return;
  if (text != "warn" && text != "zero") {
    throw InputError("error: --out-of-bounds '" + text + "', expected error, warn or zero" +
                     base::suggestion(text, {"error", "warn", "zero"}));
  }
  o.out_of_bounds = text == "warn" ? OutOfBounds::warn : OutOfBounds::zero;
}

void parse_undefined(const std::string& text, AnnotateOptions& o) {
  if (text != "error" && text != "zero") {
    throw InputError("error: --undefined '" + text + "', expected error or zero" +
                     base::suggestion(text, {"error", "zero"}));
  }
  o.undefined_zero = text == "zero";
}

void parse_concurrent_ctas(const std::string& text, AnnotateOptions& o) {
  if (text == "fit") {
    o.concurrent_ctas = 0;
    return;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), o.concurrent_ctas);
  if (error != std::errc() || end != text.data() + text.size() || text[0] == '-' || o.concurrent_ctas == 0) {
    throw InputError("error: --concurrent-ctas '" + text + "', expected fit or a whole number of at least 1");
  }
}

void parse_divergence(const std::string& text, AnnotateOptions& o) {
  if (text == "stack") return;
  if (text != "barriers") {
    throw InputError("error: --divergence '" + text + "', expected stack or barriers" +
                     base::suggestion(text, {"stack", "barriers"}));
  }
  o.divergence = emulator::Divergence::barriers;
}

/// The options' names, to suggest one.
std::vector<std::string> names_of(const po::options_description& options) {
  std::vector<std::string> names;
  for (const auto& o : options.options()) names.push_back(o->long_name());
  return names;
}

/// An option whose text is empty was meant to say something: a script's variable that is not set, mostly.
void refuse_empty(const po::variables_map& values) {
  constexpr std::pair<const char*, const char*> texts[] = {
      {"trace", "the name of a file"},    {"launch", "the name of a file"},
      {"out", "the name of a file"},      {"ptx", "the name of a file"},
      {"report", "the name of a file"},   {"listing", "the name of a file"},
      {"entry", "the name of an entry"},  {"ctas", "FIRST:COUNT"},
      {"for", "all or names of schemes"}, {"annotations", "all, none or names of annotations"}};
  for (const auto& [option, expected] : texts) {
    if (values.count(option) == 0 || !values[option].as<std::string>().empty()) continue;
    throw InputError(std::string("error: --") + option + ": found an empty text, expected " + expected);
  }
}

/// Options that are more than a value: they are taken apart when all are known.
struct Texts {
  std::string ctas, race_rule, out_of_bounds = "error", undefined = "error", annotations = "all", schemes, registers,
                               concurrent_ctas = "1", divergence = "stack", approximations = "rounded";
  std::vector<std::string> dumps;
};

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Schemes, or "all"; "a+b" stands for both.
void parse_schemes(const std::string& text, AnnotateOptions& o) {
  const std::vector<std::string> known = trace::schemes_with_code();
  if (text == "all") {
    o.all_schemes = true;
    o.schemes = known;
    return;
  }
  for (std::string word : base::words_of_list(text)) {
    std::replace(word.begin(), word.end(), '+', ',');
    for (const std::string& scheme : base::words_of_list(word)) {
      if (std::find(known.begin(), known.end(), scheme) == known.end()) {
        throw InputError("error: --for '" + scheme + "', expected all or schemes of regatta-sim: " + joined(known) +
                         base::suggestion(scheme, known));
      }
      o.schemes.push_back(scheme);
    }
  }
}

void parse_annotations(const std::string& text, AnnotateOptions& o) {
  if (text == "all") return;
  o.annotations.emplace();
  if (text == "none") return;
  for (const std::string& name : base::words_of_list(text)) o.annotations->insert(name);
}

/// The options of the annotation passes.
void add_pass_options(po::options_description& options, AnnotateOptions& o) {
  for (const passes::PassOption& option : o.passes.options()) {
    const auto store = [&values = o.pass_options, name = option.name](const std::string& text) { values[name] = text; };
    const po::value_semantic* value = nullptr;
    using Kind = passes::PassOption::Kind;
    if (option.kind == Kind::number) {
      auto* number =
          po::value<Whole<unsigned>>()->value_name(option.placeholder)->notifier([store](const Whole<unsigned>& given) {
            store(std::to_string(given.value));
          });
      if (!option.default_value.empty())
        number->default_value({static_cast<unsigned>(std::stoul(option.default_value))});
      value = number;
    } else if (option.kind == Kind::flag) {
      value = po::bool_switch()->notifier([store](bool given) {
        if (given) store("on");
      });
    } else {
      auto* text = po::value<std::string>()->value_name(option.placeholder)->notifier(store);
      if (!option.default_value.empty()) text->default_value(option.default_value);
      value = text;
    }
    options.add_options()(option.name.c_str(), value, option.help.c_str());
  }
}

/// All options. Their values go to `o` and `texts`, which must outlive the result.
po::options_description describe(AnnotateOptions& o, Texts& texts) {
  po::options_description options(intro, 110, 60);
  options.add_options()("help,h", "this text")("version", "version of the program")(
      "launch", po::value(&o.launch)->value_name("FILE"), "launch file (TOML)")(
      "out,o", po::value(&o.out)->value_name("FILE"), "trace to write (.rgt); without it the program is only executed")(
      "trace", po::value(&o.trace)->value_name("FILE"),
      "trace whose kernels get the annotations of --for, as a new trace --out; instead of --launch. Without --for all "
      "that it can have, if another program than regatta-annotate made it")(
      "ptx", po::value(&o.ptx)->value_name("FILE"), "PTX file that replaces the launch file's, or the file to --check")(
      "check", po::bool_switch(&o.check), "compile and report only, run nothing")(
      "entry", po::value(&o.entry)->value_name("NAME"), "with --check: only this entry; an error if it is rejected")(
      "max-registers", whole(o.max_registers, "N"),
      "most general registers per thread, 16 to 255 (63 for Fermi and Kepler). A kernel's launch bounds (.maxnreg, "
      ".maxntid or .reqntid, .minnctapersm) may allow it fewer, by the rules of ptxas for a register file of 65,536; "
      "the report says which bound set the budget")("registers", po::value(&texts.registers)->value_name("N[:M,...]"),
                                                    "what if: the registers per thread that every kernel is compiled "
                                                    "for, in place of its launch bounds, and those of each "
                                                    "of its setmaxnreg, in the order of the PTX: 168:24,240")(
      "min-registers", whole(o.min_registers, "N"),
      "every kernel's allocation has at least N registers per thread, though it may need fewer: for the occupancy that "
      "a paper states. A launch file may state it for a kernel (registers = N)");
  options.add_options()(
      "target", po::value(&o.target)->value_name("NAME")->default_value(o.target),
      "the machine code: generic, as the papers' machines have it, an instruction for each PTX "
      "operation; or sm_90, an NVIDIA Hopper: short branches predicated, loops unrolled, division and "
      "roots as sequences, operations of three inputs, parameters loaded into registers");
  options.add_options()("for", po::value(&texts.schemes)->value_name("SCHEME,..."),
                        "the trace also holds the code of these schemes of regatta-sim, if they need another one, as "
                        "variants; all: of every scheme");
  options.add_options()("annotations", po::value(&texts.annotations)->value_name("NAME,...")->default_value("all"),
                        ("annotations that leave the code as it is: all, none, or some of " +
                         joined(o.passes.default_names()) + "; one whose option is given is written in any case")
                            .c_str());
  add_pass_options(options, o);
  options.add_options()("addresses", whole(o.addresses, "BITS"),
                        "64 (as in the PTX file), or 32: an address takes one register, as in the code of Fermi's "
                        "compilers; memory then lies below 4 GB")(
      "no-schedule", po::bool_switch(), "keep the order of instructions of the PTX file within a block")(
      "warp-size", whole(o.warp_size, "LANES"), "32, or 64 for wavefronts")(
      "ctas", po::value(&texts.ctas)->value_name("FIRST:COUNT"),
      "trace only these CTAs of every launch; all CTAs are executed")(
      "concurrent-ctas", po::value(&texts.concurrent_ctas)->value_name("N")->default_value("1"),
      "CTAs of a launch that advance together, so that one may wait for another (chained scans, locks, queues); 1: one "
      "after another, each to its end; fit: as many as an H100 holds. Cooperative launches advance together in any "
      "case")(
      "divergence", po::value(&texts.divergence)->value_name("HOW")->default_value("stack"),
      "how lanes of a warp that part go on: stack; or barriers, as on sm_70 and later: a side that waits for lanes of "
      "its "
      "own warp (locks, shuffles and barriers on several paths) lets them go on. Kernels that need that are left "
      "without annotations that rely on the stack's order")(
      "shared-values", po::bool_switch(&o.shared_values),
      "the trace also holds what each store and atomic operation leaves in shared memory")(
      "report", po::value(&o.report)->value_name("FILE"), "write the static report as JSON")(
      "listing", po::value(&o.listing)->value_name("FILE"), "write the allocated code as annotated assembly")(
      "dump-buffer", po::value(&texts.dumps)->value_name("NAME=FILE"),
      "write the bytes of a buffer or module variable after the run; may be repeated")(
      "check-races", po::value(&texts.race_rule)->value_name("RULE")->implicit_value("target"),
      "report data races in shared and global memory; --check-races=RULE selects how lanes of a warp are ordered: "
      "independent (sm_70 and later), lockstep (before), target (by the PTX's .target; the default)")(
      "out-of-bounds", po::value(&texts.out_of_bounds)->value_name("HOW")->default_value("error"),
      "what becomes of a read of global memory outside of all buffers, within the pages of 2 MiB that CUDA would map "
      "for "
      "them: error; warn: it gives zero, and the end of the run names each such instruction; zero: it gives zero, and "
      "is "
      "counted. Reads further away and all writes outside of buffers are errors")(
      "undefined", po::value(&texts.undefined)->value_name("HOW")->default_value("error"),
      "what becomes of values that CUDA leaves undefined (registers, local and shared memory before they are written, "
      "shuffles from a lane that does not take part): error, once something depends on one; zero")(
      "threads", whole(o.threads, "N"),
      "threads that execute launches which are not traced; 0: as many as there are processors")(
      "approx", po::value(&texts.approximations)->value_name("HOW")->default_value("rounded"),
      "what approximate instructions of f32 compute (rcp, sqrt, div .approx and .full, rsqrt, ex2, lg2, sin, cos, "
      "tanh): "
      "rounded, the exact result, rounded once; or h100, the bits that an H100 gives")(
      "list-instructions", po::bool_switch(), "print the supported PTX as a table (compiler/ptx/SUPPORTED.md)")(
      "max-instructions", whole(o.max_instructions, "N"),
      "maximum instructions of a warp; more count as an endless loop")(
      "stack-bytes", whole(o.stack_bytes, "N"),
      "local memory per thread for the frames of recursive functions, in kernels that may call one (CUDA: "
      "cudaLimitStackSize)")("heap-bytes", whole(o.heap_bytes, "N"),
                             "memory that kernels share out with malloc() (CUDA: cudaLimitMallocHeapSize)");
  return options;
}

/// How an argument without an option was meant, by the ending of its name.
std::string option_for(const std::string& argument, bool has_launch) {
  const std::string file = base::shell_word(argument);
  switch (has_launch ? trace::FileKind::other : trace::file_kind(argument)) {
    case trace::FileKind::toml:
      return "; did you mean --launch " + file + "?";
    case trace::FileKind::ptx:
      return "; expected --launch FILE.toml, a launch file that names the PTX, or --ptx " + file + " --check";
    case trace::FileKind::source:
      return "; expected --launch FILE.toml, a launch file that names PTX made of it (compiler/launch/README.md)";
    case trace::FileKind::other:
      return " (--help shows the options)";
  }
  return "";
}

/// Reads the arguments; the values of po::value(&x) are set.
po::variables_map parse(int argc, char** argv, const po::options_description& options) {
  po::variables_map values;
  try {
    // An abbreviation that is guessed today is another option's name tomorrow.
    const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    base::refuse_option_as_value({argv + 1, argv + argc}, [&](const std::string& option) {
      const po::option_description* known = options.find_nothrow(option == "-o" ? "out" : option.substr(2), false);
      return known != nullptr && known->semantic()->min_tokens() != 0;
    });
    po::options_description all;
    all.add(options).add_options()("argument", po::value<std::vector<std::string>>());
    po::positional_options_description positional;
    positional.add("argument", -1);
    po::store(po::command_line_parser(argc, argv).options(all).positional(positional).style(style).run(), values);
    if (values.count("argument") != 0) {
      const std::string& argument = values["argument"].as<std::vector<std::string>>().front();
      throw InputError("error: unexpected argument '" + argument + "'" +
                       option_for(argument, values.count("launch") != 0));
    }
    po::notify(values);
  } catch (const po::unknown_option& e) {
    std::string name = e.get_option_name();
    name.erase(0, name.find_first_not_of('-'));
    const std::string near = base::nearest(name, names_of(options));
    throw InputError("error: unknown option '" + e.get_option_name() + "'" +
                     (near.empty() ? " (--help shows the options)" : base::did_you_mean({"--" + near})));
  } catch (const po::invalid_option_value& e) {
    throw InputError(std::string("error: ") + e.what() + ", expected a whole number");
  } catch (const po::error& e) {
    throw InputError(std::string("error: ") + e.what() + " (--help shows the options)");
  }
  return values;
}

/// Refuses options that do not go together.
void check_together(const AnnotateOptions& o, const Texts& texts) {
  if (!o.entry.empty() && !o.check)
    throw InputError("error: --entry goes with --check; the launch file names the entries to run");
  if (o.check && (!o.out.empty() || !o.schemes.empty() || !texts.dumps.empty() || !texts.ctas.empty() ||
                  o.check_races || o.shared_values)) {
    throw InputError(
        "error: --check runs nothing: --out, --for, --ctas, --shared-values, --dump-buffer and --check-races do not go "
        "with "
        "it");
  }
  if (!o.schemes.empty() && o.out.empty())
    throw InputError("error: --for says what the trace holds: it goes with --out");
  if (o.check && texts.concurrent_ctas != "1")
    throw InputError("error: --check runs nothing: --concurrent-ctas does not go with it");
  if (o.check && o.approximations != emulator::Approximations::rounded)
    throw InputError("error: --check runs nothing: --approx does not go with it");
  if (o.check && o.out_of_bounds != OutOfBounds::error)
    throw InputError("error: --check runs nothing: --out-of-bounds does not go with it");
  if (o.threads > base::max_threads) {
    throw InputError("error: --threads '" + std::to_string(o.threads) + "', expected at most " +
                     std::to_string(base::max_threads));
  }
  if (o.check && o.undefined_zero) throw InputError("error: --check runs nothing: --undefined does not go with it");
}

/// Refuses what does not go with --trace: all that is not of annotations.
void check_trace_options(const AnnotateOptions& o, const po::variables_map& values) {
  for (const auto& [name, value] : values) {
    const bool is_its_own = name == "trace" || name == "for" || name == "out" || o.pass_options.count(name) != 0;
    const bool is_given = !value.defaulted() && (value.value().type() != typeid(bool) || value.as<bool>());
    const bool changes_code = name == "reorder-registers" || name == "scratchpad-layout";
    if (!is_given || (is_its_own && !changes_code)) continue;
    throw InputError("error: --trace adds annotations to a trace: --" + name +
                     " does not go with it, expected --for, --out and options of annotations");
  }
  if (o.out.empty()) throw InputError("error: --trace needs --out FILE: the trace is not written over");
}

}  // namespace

emulator::Approximations approximations_named(const std::string& text) {
  if (text == "rounded") return emulator::Approximations::rounded;
  if (text == "h100") return emulator::Approximations::h100;
  throw InputError("error: --approx '" + text + "', expected rounded or h100" +
                   base::suggestion(text, {"rounded", "h100"}));
}

CommandLine read_command_line(int argc, char** argv, passes::PassRegistry passes, trace::SectionRegistry sections) {
  CommandLine asked;
  AnnotateOptions& o = asked.options;
  o.passes = std::move(passes);
  o.sections = std::move(sections);
  Texts texts;
  const po::options_description options = describe(o, texts);
  const po::variables_map values = parse(argc, argv, options);
  if (values.count("help") != 0) {
    std::ostringstream text;
    text << options;
    asked.answer = text.str();
    return asked;
  }
  if (values.count("version") != 0) {
    asked.answer = "regatta-annotate " REGATTA_VERSION "\n";
    return asked;
  }
  if (values["list-instructions"].as<bool>()) {
    asked.answer = ptx::supported_ptx();
    return asked;
  }
  refuse_empty(values);
  for (const passes::PassOption& option : o.passes.options()) {
    // A default is no wish.
    if (values.count(option.name) != 0 && values[option.name].defaulted()) o.pass_options.erase(option.name);
  }
  parse_annotations(texts.annotations, o);
  if (!texts.registers.empty()) o.registers = passes::budget_override(texts.registers, "--registers");
  if (!texts.schemes.empty()) parse_schemes(texts.schemes, o);
  if (o.max_instructions == 0) throw InputError("error: --max-instructions is 0, expected at least 1");
  o.schedule = !values["no-schedule"].as<bool>();
  if (!texts.ctas.empty()) parse_ctas(texts.ctas, o);
  parse_dumps(texts.dumps, o);
  if (!texts.race_rule.empty()) parse_race_rule(texts.race_rule, o);
  parse_out_of_bounds(texts.out_of_bounds, o);
  parse_undefined(texts.undefined, o);
  parse_concurrent_ctas(texts.concurrent_ctas, o);
  parse_divergence(texts.divergence, o);
  if (o.stack_bytes < ir::least_stack_bytes || o.stack_bytes > ir::most_stack_bytes) {
    throw InputError("error: --stack-bytes is " + std::to_string(o.stack_bytes) + ", expected " +
                     std::to_string(ir::least_stack_bytes) + " to " + std::to_string(ir::most_stack_bytes));
  }
  if (o.heap_bytes < emulator::DeviceMemory::least_heap_bytes) {
    throw InputError("error: --heap-bytes is " + std::to_string(o.heap_bytes) + ", expected at least " +
                     std::to_string(emulator::DeviceMemory::least_heap_bytes));
  }
  o.approximations = approximations_named(texts.approximations);
  if (!o.trace.empty()) check_trace_options(o, values);
  check_together(o, texts);
  o.producer = "regatta-annotate " REGATTA_VERSION;
  for (int i = 1; i < argc; ++i) o.producer += " " + base::shell_word(argv[i]);
  o.progress = true;
  return asked;
}

std::optional<unsigned> option_words(const std::string& option, passes::PassRegistry passes) {
  AnnotateOptions o;
  o.passes = std::move(passes);
  Texts texts;
  const po::options_description options = describe(o, texts);
  for (const auto& known : options.options()) {
    if (option == "--" + known->long_name() ||
        option == known->canonical_display_name(po::command_line_style::allow_dash_for_short)) {
      return known->semantic()->min_tokens() == 0 ? 0 : 1;
    }
  }
  return std::nullopt;
}

}  // namespace regatta::tool
