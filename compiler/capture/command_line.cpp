// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include "devices.h"

#include <regatta/base/arguments.h>
#include <regatta/base/suggestion.h>
#include <regatta/base/threads.h>
#include <regatta/tool/command_line.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

namespace regatta::capture {

namespace {

using trace::InputError;

constexpr const char* help_text = "regatta-capture " REGATTA_VERSION
                                  R"(: runs a CUDA program without a GPU and writes a trace of all its launches.

  regatta-capture ./program arguments...
      run it; its kernels run on the emulator; then write program.rgt
  regatta-capture --out p.rgt --for all --kernels reduce --first 3 ./program
      with the codes of all schemes; only the first three launches of kernels with "reduce" in their names are traced
  regatta-capture --keep folder --no-trace ./program
      keep what it did as a launch file, from which regatta-annotate makes traces with other options

The program is an ordinary executable of nvcc or clang, unmodified, with the CUDA runtime as a shared library
(nvcc -cudart shared) or linked into it (nvcc's default), or one that uses the driver API. It must contain PTX
(compiled with -arch=compute_XX, or by default). It runs in full: each launch is executed at once, with right results, so
host code may depend on them. Then what it did is executed again to make the trace.

All options of regatta-annotate that concern traces may stand before the program too: --for, --target, --control,
--max-registers, --ctas, --check-races, --report, --listing ... (regatta-annotate --help). --approx also says what the
program itself gets.

Exit status: 0 done, 1 internal error, 2 bad input, or a program that needs what there is not; 3 the program failed (its exit
status is not 0, or a signal ended it) or --check-races found one.

Options:
  -h [ --help ]            this text
  --version                version of the program
  -o [ --out ] FILE        trace to write (default: the program's name with .rgt)
  --keep FOLDER            keep launch file, PTX and data in this new or empty folder
  --no-trace               only run the program (and keep, with --keep)
  --device NAME            what the program is told of its GPU: h100 (default), rtx_a6000, rtx_2080ti, gtx980, k20x, gtx480.
                           The trace of the first two has Hopper's machine code and control bits (--target sm_90
                           --control), of the others generic code, as the papers' machines have it; --target overrides
  --kernels WORD,...       trace only launches of kernels whose names contain one of these words
  --launches LIST          trace only these launches, by number from 1: 3, 5-8, 12-
  --first N                trace only the first N of those; the others run
  --strict                 memory and registers are uninitialised until they are written; what depends on such a value, on a
                           shuffle from a lane that takes no part, or on a read a little outside of buffers is an error.
                           Else all of these are zero, as on most GPUs
  --threads N              threads that run CTAs which do not depend on each other; 0: as many as there are processors (default)
  --list-api               print the CUDA functions that are there, and those that are refused
)";

std::uint64_t number(const std::string& option, const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    throw InputError("error: " + option + " '" + text + "', expected a whole number");
  }
  return value;
}

std::pair<std::uint64_t, std::uint64_t> range(const std::string& text) {
  const std::size_t dash = text.find('-');
  const std::uint64_t first = number("--launches", text.substr(0, dash));
  std::uint64_t last = first;
  if (dash != std::string::npos) {
    last = dash + 1 == text.size() ? UINT64_MAX : number("--launches", text.substr(dash + 1));
  }
  if (first == 0 || last < first) {
    throw InputError("error: --launches '" + text + "', expected numbers from 1 on and ranges such as 5-8 or 12-");
  }
  return {first, last};
}

/// Options of regatta-annotate that regatta-capture sets itself.
constexpr const char* not_forwarded[] = {
    "--launch", "--trace", "--ptx", "--check", "--entry", "--dump-buffer", "--list-instructions"};

class Reader {
 public:
  Reader(CaptureOptions& out, const std::vector<std::string>& words) : out_(out), words_(words) {}

  void read() {
    while (next_ < words_.size() && words_[next_].size() > 1 && words_[next_][0] == '-') {
      const std::string word = words_[next_++];
      if (word == "--") break;
      const std::size_t equals = word.find('=');
      given_ = equals == std::string::npos ? std::nullopt : std::optional<std::string>(word.substr(equals + 1));
      option(word.substr(0, equals), word);
      if (!out_.answer.empty() || out_.list_api) return;
    }
    out_.program.assign(words_.begin() + static_cast<std::ptrdiff_t>(next_), words_.end());
  }

 private:
  std::string value(const std::string& option) {
    std::string text;
    if (given_) {
      text = *given_;
    } else if (next_ < words_.size()) {
      text = words_[next_++];
    }
    if (text.empty()) throw InputError("error: " + option + " needs a value (--help)");
    return text;
  }

  void option(const std::string& name, const std::string& word) {
    if (name == "--help" || name == "-h") {
      out_.answer = help_text;
    } else if (name == "--version") {
      out_.answer = "regatta-capture " REGATTA_VERSION "\n";
    } else if (name == "--list-api") {
      out_.list_api = true;
    } else if (name == "--out" || name == "-o") {
      out_.out = value(name);
    } else if (name == "--keep") {
      out_.keep = value(name);
    } else if (name == "--no-trace") {
      out_.trace = false;
    } else if (name == "--strict") {
      out_.device.strict = true;
    } else if (name == "--device") {
      out_.device.description = device_named(value(name));
    } else if (name == "--kernels") {
      out_.choice.kernels = base::words_of_list(value(name));
    } else if (name == "--launches") {
      for (const std::string& part : base::words_of_list(value(name))) out_.choice.numbers.push_back(range(part));
    } else if (name == "--first") {
      out_.choice.first = number(name, value(name));
    } else {
      forward(name, word);
    }
  }

  void forward(const std::string& name, const std::string& word) {
    for (const char* own : not_forwarded) {
      if (name == own) throw InputError("error: " + name + " does not go with a program that is captured");
    }
    const std::optional<unsigned> takes = tool::option_words(name, passes::PassRegistry::with_builtin());
    if (!takes) {
      const std::vector<std::string> known{"--out",         "--keep",    "--no-trace",      "--device",   "--kernels",
                                           "--launches",    "--first",   "--strict",        "--list-api", "--for",
                                           "--target",      "--control", "--max-registers", "--ctas",     "--report",
                                           "--check-races", "--approx"};
      throw InputError("error: unknown option " + name + base::suggestion(name, known) +
                       "; options stand before the program (--help)");
    }
    out_.annotate.push_back(word);
    if (*takes != 0 && !given_) out_.annotate.push_back(value(name));
    const auto whole = [&] { return number(name, given_ ? *given_ : out_.annotate.back()); };
    if (name == "--threads") {
      const std::uint64_t threads = whole();
      if (threads > base::max_threads) {
        throw InputError("error: --threads '" + std::to_string(threads) + "', expected at most " +
                         std::to_string(base::max_threads));
      }
      out_.device.threads = static_cast<unsigned>(threads);
    }
    if (name == "--approx")
      out_.device.approximations = tool::approximations_named(given_ ? *given_ : out_.annotate.back());
    if (name == "--max-instructions") out_.device.max_instructions = whole();
    if (name == "--heap-bytes") out_.device.heap_bytes = whole();
    if (name == "--stack-bytes")
      out_.device.stack_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(whole(), ir::most_stack_bytes));
  }

  CaptureOptions& out_;
  const std::vector<std::string>& words_;
  std::size_t next_ = 0;
  std::optional<std::string> given_;  ///< behind '='
};

}  // namespace

CaptureOptions read_command_line(const std::vector<std::string>& arguments) {
  CaptureOptions o;
  o.device.description = device_named(device_names().front());
  Reader(o, arguments).read();
  if (!o.answer.empty() || o.list_api) return o;
  if (o.program.empty()) throw InputError("error: no program: regatta-capture [options] PROGRAM [arguments] (--help)");
  if (!o.trace && !o.out.empty()) throw InputError("error: --out and --no-trace: there is no trace to write");
  // The machine code that the device would run.
  const auto is_given = [&](const std::string& option) {
    return std::any_of(o.annotate.begin(), o.annotate.end(),
                       [&](const std::string& word) { return word == option || word.rfind(option + "=", 0) == 0; });
  };
  constexpr std::uint32_t ampere = 8;
  if (o.device.description.major >= ampere && !is_given("--target")) {
    o.annotate.insert(o.annotate.end(), {"--target", "sm_90"});
    if (!is_given("--control")) o.annotate.emplace_back("--control");
  }
  if (o.out.empty()) o.out = std::filesystem::path(o.program.front()).filename().string() + ".rgt";
  return o;
}

}  // namespace regatta::capture
