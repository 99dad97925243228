// SPDX-License-Identifier: Apache-2.0
//
// The differential fuzzer: random PTX programs in every variant of compilation against an oracle. A program on which
// they differ is minimised and written as <out>/<seed>.ptx.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>

#include "../watchdog.h"
#include "compare.h"
#include "generator.h"

using namespace regatta::test::differential;

namespace {

struct Options {
  std::uint64_t programs = 1000;
  std::uint64_t seed = 1;
  std::string out = ".";
  bool print = false;
  Instructions instructions = Instructions::modern;
};

constexpr const char* help_text =
    "usage: fuzz_differential [--programs N] [--seed FIRST] [--out FOLDER] [--plain] [--print]\n"
    "Runs N random programs, seeds FIRST and up, with 255 and 16 registers, scheduled and in order, on 32 and 64 "
    "lanes,\n"
    "and once looking for races, and compares memory with what the program means. A program on which they differ is\n"
    "written to FOLDER, minimised.\n"
    "  --plain   without matrix products, asynchronous copies and mbarriers\n"
    "  --print   write the PTX of the first program to standard output and end\n"
    "Exit status: 0 all agree; 2 usage; 3 a difference.\n";

std::uint64_t to_number(const std::string& option, const char* text) {
  char* end = nullptr;
  const std::uint64_t value = text != nullptr ? std::strtoull(text, &end, 10) : 0;
  if (text == nullptr || *text == '\0' || *text == '-' || *end != '\0') {
    throw std::invalid_argument(option + " needs a whole number");
  }
  return value;
}

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--print") {
      o.print = true;
      continue;
    }
    if (option == "--plain") {
      o.instructions = Instructions::plain;
      continue;
    }
    const char* value = i + 1 < argc ? argv[++i] : nullptr;
    if (option == "--programs") {
      o.programs = to_number(option, value);
    } else if (option == "--seed") {
      o.seed = to_number(option, value);
    } else if (option == "--out" && value != nullptr) {
      o.out = value;
    } else {
      throw std::invalid_argument("unknown option '" + option + "'");
    }
  }
  return o;
}

void report(const Options& o, std::uint64_t seed, const Program& program, const std::string& difference) {
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), difference.c_str());
  const Program small = minimise(program, [](const Program& p) { return !compare(p).empty(); });
  const std::string text = compare(small);
  const std::string path = o.out + "/" + std::to_string(seed) + ".ptx";
  std::ofstream(path) << "// seed " << seed << ", minimised: " << text << "\n" << print(small);
  std::printf("  %zu of %zu statements are left in %s: %s\n", statement_count(small), statement_count(program),
              path.c_str(), text.c_str());
  std::fflush(stdout);
}

int run(const Options& o) {
  Totals totals;
  std::uint64_t different = 0;
  std::map<std::string, std::uint64_t> modern;
  regatta::test::Watchdog watchdog("nothing", std::chrono::seconds(300));
  for (std::uint64_t seed = o.seed; seed < o.seed + o.programs; ++seed) {
    watchdog.restart("the program of seed " + std::to_string(seed));
    const Program program = generate(seed, o.instructions);
    const std::string text = print(program);
    count_modern(text, modern);
    const std::string difference = compare(program, text, &totals);
    if (difference.empty()) continue;
    ++different;
    report(o, seed, program, difference);
  }
  for (const auto& [name, programs] : modern) {
    std::printf("  %s: in %llu programs\n", name.c_str(), static_cast<unsigned long long>(programs));
  }
  std::printf(
      "%llu programs in %zu variants: %llu differ; %llu spilled at 16 registers; %llu warp instructions, %llu "
      "divergent branches\n",
      static_cast<unsigned long long>(o.programs), variants().size(), static_cast<unsigned long long>(different),
      static_cast<unsigned long long>(totals.spilled), static_cast<unsigned long long>(totals.warp_instructions),
      static_cast<unsigned long long>(totals.divergent_branches));
  return different == 0 ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--help") == 0) {
    std::fputs(help_text, stdout);
    return 0;
  }
  Options options;
  try {
    options = parse(argc, argv);
  } catch (const std::invalid_argument& e) {
    std::fprintf(stderr, "fuzz_differential: %s\n%s", e.what(), help_text);
    return 2;
  }
  if (options.print) {
    std::fputs(print(generate(options.seed, options.instructions)).c_str(), stdout);
    return 0;
  }
  return run(options);
}
