// SPDX-License-Identifier: Apache-2.0
// regatta-trace: shows, prints and checks a trace.
#include <regatta/tool/trace_tool.h>

#include <regatta/base/arguments.h>
#include <regatta/base/suggestion.h>
#include <regatta/base/tool.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cstdio>
#include <iostream>
#include <sstream>

#include "commands.h"
#include "text.h"

namespace po = boost::program_options;

namespace regatta::tool {

namespace {

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

constexpr const char* help_text = R"(usage: regatta-trace info   FILE [--variant NAME] [--json]
       regatta-trace dump   FILE [--variant NAME] [--cta N] [--warp N] [--limit N]
       regatta-trace verify FILE [--program]
       regatta-trace signatures FILE [--variant NAME]

Shows, prints and checks a regatta trace (.rgt), as regatta-annotate writes it.

  info     what the trace holds: kernels with their registers and shared memory, launches with their
           grids, instruction counts, and what the file costs per warp instruction; with --json the
           same for programs, and the instructions of each kernel
  dump     what each warp did, in program order: position in the warp, static index, SIMT mask, active
           lanes (SIMT mask less the guard), instruction; below it addresses, results, predicates and
           SIMT stack events. "0x10 +4 per lane" is lane 0's value and the step from lane to lane; a
           list in brackets has one value per lane, "-" for lanes that are not active
  verify   reads every frame and decodes every column of every warp; prints "ok: ..." or what is wrong.
           With --program also whether a program can have run that way: control flow, lanes, barriers,
           bounds of shared memory, results. regatta-sim looks for that when a run fails
  signatures
           JSON: for each launch its grid, registers, instructions by class, register results by value
           kind, and lines of global memory; for regatta-sample. Older traces are read through for it

A trace can hold several codes of its program (regatta-annotate --for): info lists these variants. verify
checks all of them, the other commands show the first one, or the one that --variant names.
)";

constexpr const char* help_end = R"(
Counts of CTAs, warps and instructions start at 0. A warp instruction is one instruction of a warp,
whatever its lanes; thread instructions count the active lanes.

  regatta-trace dump K.rgt --cta 0 --warp 0 --limit 20     the first 20 instructions of the first warp
  regatta-trace verify K.rgt && regatta-sim K.rgt          simulate only what is whole

Exit status: 0 done; 1 internal error; 2 bad input or usage.
)";

std::uint64_t to_number(const std::string& option, const std::string& text) {
  try {
    if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) throw std::invalid_argument(text);
    return std::stoull(text);
  } catch (const std::exception&) {
    throw UsageError("--" + option + " '" + text + "': expected a whole number, 0 or more");
  }
}

int run(int argc, char** argv, trace::SectionRegistry sections) {
  po::options_description shown("Options");
  shown.add_options()                   //
      ("help,h", "print this text")     //
      ("version", "print the version")  //
      ("variant", po::value<std::string>()->value_name("NAME"),
       "all but verify: the variant to show, instead of the first")                              //
      ("json", "info: as JSON")                                                                  //
      ("program", "verify: also that warps do what the kernel has them do")                      //
      ("cta", po::value<std::string>()->value_name("N"), "dump: only the N-th CTA of the file")  //
      ("warp", po::value<std::string>()->value_name("N"), "dump: only warp N of each CTA")       //
      ("limit", po::value<std::string>()->value_name("N"), "dump: at most N instructions per warp; 0: all");
  po::options_description all;
  all.add(shown).add_options()("words", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("words", -1);

  // No guessing: "--c" must not become "--cta" today and be ambiguous tomorrow.
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  po::variables_map given;
  try {
    base::refuse_option_as_value({argv + 1, argv + argc}, [&](const std::string& option) {
      const po::option_description* known =
          shown.find_nothrow(option.substr(std::min<std::size_t>(2, option.size())), false);
      return known != nullptr && known->semantic()->min_tokens() != 0;
    });
    po::store(po::command_line_parser(argc, argv).options(all).positional(positional).style(style).run(), given);
    po::notify(given);
  } catch (const po::ambiguous_option&) {
    throw UsageError("unknown option of one letter, expected options written --name");  // "-c" does not begin "--cta"
  } catch (const po::unknown_option& e) {
    std::string name = e.get_option_name();
    name.erase(0, name.find_first_not_of('-'));
    const std::string near =
        base::nearest(name, {"help", "version", "variant", "json", "program", "cta", "warp", "limit"});
    throw UsageError("unknown option '" + e.get_option_name() + "'" +
                     (near.empty() ? "" : base::did_you_mean({"--" + near})));
  } catch (const po::error& e) {
    throw UsageError(e.what());
  }

  if (given.count("help")) {
    std::ostringstream options;
    options << shown;
    std::printf("%s\n%s%s", help_text, options.str().c_str(), help_end);
    return 0;
  }
  if (given.count("version")) {
    std::printf("regatta-trace %s\n", REGATTA_VERSION);
    return 0;
  }

  const auto words = given.count("words") ? given["words"].as<std::vector<std::string>>() : std::vector<std::string>();
  if (words.empty()) throw UsageError("a command is missing: info, dump, verify or signatures");
  const std::string& command = words[0];
  const std::vector<std::string> commands{"info", "dump", "verify", "signatures"};
  if (std::find(commands.begin(), commands.end(), command) == commands.end()) {
    throw UsageError("unknown command '" + command + "'" + base::suggestion(command, commands));
  }
  if (words.size() < 2) throw UsageError(command + ": the trace FILE is missing");
  if (words[1].empty()) throw UsageError(command + ": found an empty text, expected the name of a trace FILE");
  if (words.size() > 2) throw UsageError(command + ": one FILE is expected, '" + words[2] + "' is one more");

  const bool json = given.count("json") != 0;
  if (json && command != "info") throw UsageError("--json belongs to info, not to " + command);
  const bool program = given.count("program") != 0;
  if (program && command != "verify") throw UsageError("--program belongs to verify, not to " + command);
  Selection selection;
  for (const char* option : {"cta", "warp", "limit"}) {
    if (!given.count(option)) continue;
    if (command != "dump") throw UsageError("--" + std::string(option) + " belongs to dump, not to " + command);
    const std::uint64_t number = to_number(option, given[option].as<std::string>());
    if (option == std::string("cta")) {
      selection.cta = number;
    } else if (option == std::string("warp")) {
      selection.warp = number;
    } else {
      selection.limit = number;
    }
  }

  std::string variant = trace::plain_variant;
  if (given.count("variant")) {
    if (command == "verify") throw UsageError("--variant does not belong to verify, which checks all of them");
    variant = given["variant"].as<std::string>();
  }
  const trace::Reader reader(words[1], std::move(sections), variant);
  if (command == "info") json ? info_json(reader) : info(reader);
  if (command == "dump") dump(reader, selection);
  if (command == "verify") verify_file(reader, program ? trace::VerifyDepth::program : trace::VerifyDepth::columns);
  if (command == "signatures") signatures(reader);
  return 0;
}

}  // namespace

int run_trace_tool(int argc, char** argv, trace::SectionRegistry sections) {
  const base::ToolSettings settings{"regatta-trace", "show less of it (--cta N), or raise the limit",
                                    "regatta-trace: "};
  return base::run_tool(settings, [&] {
    try {
      return run(argc, argv, std::move(sections));
    } catch (const UsageError& e) {
      throw base::InputError(printable(e.what()) + " (regatta-trace --help)");
    } catch (const base::InputError& e) {
      throw base::InputError(printable(e.what()));
    }
  });
}

}  // namespace regatta::tool
