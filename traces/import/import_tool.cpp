// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/arguments.h>
#include <regatta/base/error.h>
#include <regatta/base/suggestion.h>
#include <regatta/base/tool.h>
#include <regatta/import/import.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cstdio>
#include <sstream>

#include "sass.h"

namespace po = boost::program_options;

namespace regatta::import {
namespace {

constexpr const char* help_text = R"(usage: regatta-import INPUT --out OUT.rgt [--strict]

Makes a regatta trace (.rgt) of traces that Accel-Sim's tracer wrote. INPUT is a list of launches
(kernelslist.g) or the trace of one kernel: .traceg, .traceg.xz, or the paged .tracez.

These traces have no values of registers. Each result becomes a version tag: a number that is different
for every lane and every write. So a lost, stale or swapped register is still found, and schemes that
look at values (wir, rc, wc, regless with its compressor ...) refuse the trace.

)";

constexpr const char* help_end = R"(
What is not as on the machine (an opcode that is not known, a texture without addresses) is a warning.

  regatta-import traces/kernelslist.g --out K.rgt       all launches of a program
  regatta-trace verify K.rgt --program                  check that a program can have run that way
  regatta-sim K.rgt --machine h100                      simulate it

Exit status: 0 done; 1 internal error; 2 bad input or usage.
)";

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string printable_text(const std::string& text) {
  std::string out;
  for (const char c : text) out += (c >= ' ' && c <= '~') || c == '\n' || (c & 0x80) != 0 ? c : '?';
  return out;
}

std::string grouped_number(std::uint64_t n) {
  std::string text = std::to_string(n);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

int run(int argc, char** argv) {
  po::options_description shown("Options");
  shown.add_options()                                                                //
      ("help,h", "print this text")                                                  //
      ("version", "print the version")                                               //
      ("opcodes", "print the opcodes that are known")                                //
      ("out,o", po::value<std::string>()->value_name("FILE"), "the trace to write")  //
      ("strict", "make each warning an error");
  po::options_description all;
  all.add(shown).add_options()("words", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("words", -1);
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  po::variables_map given;
  try {
    base::refuse_option_as_value({argv + 1, argv + argc},
                                 [&](const std::string& option) { return option == "--out" || option == "-o"; });
    po::store(po::command_line_parser(argc, argv).options(all).positional(positional).style(style).run(), given);
    po::notify(given);
  } catch (const po::unknown_option& e) {
    std::string name = e.get_option_name();
    name.erase(0, name.find_first_not_of('-'));
    const std::string near = base::nearest(name, {"help", "version", "opcodes", "out", "strict"});
    throw UsageError("unknown option '" + e.get_option_name() + "'" +
                     (near.empty() ? "" : base::did_you_mean({"--" + near})));
  } catch (const po::error& e) {
    throw UsageError(e.what());
  }
  if (given.count("help")) {
    std::ostringstream options;
    options << shown;
    std::printf("%s%s%s", help_text, options.str().c_str(), help_end);
    return 0;
  }
  if (given.count("version")) {
    std::printf("regatta-import %s\n", REGATTA_VERSION);
    return 0;
  }
  if (given.count("opcodes")) {
    for (const std::string& name : known_opcodes()) std::printf("%s\n", name.c_str());
    return 0;
  }
  const auto words = given.count("words") ? given["words"].as<std::vector<std::string>>() : std::vector<std::string>();
  if (words.empty()) throw UsageError("the INPUT is missing: a kernelslist.g, .traceg, .traceg.xz or .tracez");
  if (words[0].empty()) throw UsageError("found an empty text, expected the name of the INPUT");
  if (words.size() > 1) throw UsageError("one INPUT is expected, '" + words[1] + "' is one more");
  if (!given.count("out")) throw UsageError("--out FILE is missing, the trace to write");
  const ImportOptions options{words[0], given["out"].as<std::string>(), given.count("strict") != 0};
  if (options.out.empty()) throw UsageError("--out: found an empty text, expected the name of a file");
  const ImportResult result = import_trace(options);
  for (const std::string& remark : result.remarks) {
    std::fprintf(stderr, "regatta-import: warning: %s\n", printable_text(remark).c_str());
  }
  std::printf("%s: %s kernels, %s launches, %s CTAs, %s warp instructions; results are version tags\n",
              printable_text(options.out).c_str(), grouped_number(result.kernels).c_str(),
              grouped_number(result.launches).c_str(), grouped_number(result.ctas).c_str(),
              grouped_number(result.warp_instructions).c_str());
  return 0;
}

}  // namespace

int run_import_tool(int argc, char** argv) {
  const base::ToolSettings settings{"regatta-import", "raise the limit", "regatta-import: "};
  return base::run_tool(settings, [&] {
    try {
      return run(argc, argv);
    } catch (const UsageError& e) {
      throw base::InputError(printable_text(e.what()) + " (regatta-import --help)");
    } catch (const base::InputError& e) {
      throw base::InputError(printable_text(e.what()));
    }
  });
}

}  // namespace regatta::import
