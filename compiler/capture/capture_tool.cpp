// SPDX-License-Identifier: Apache-2.0
#include "capture_tool.h"

#include "command_line.h"
#include "run_program.h"
#include "work_folder.h"

#include <regatta/base/shell_words.h>
#include <regatta/base/tool.h>
#include <regatta/tool/annotate.h>
#include <regatta/tool/command_line.h>
#include <regatta/tool/console.h>

#include <chrono>
#include <cstdio>
#include <iostream>

namespace regatta::capture {

namespace {

constexpr const char* program_name = "regatta-capture";

std::string plural(std::uint64_t n, const std::string& what, const std::string& ending) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : ending);
}

void summarise(const CapturedDevice& device, const ProgramLog& log) {
  const std::uint64_t repeated = device.repeated();
  const std::string repeats =
      repeated == 0 ? ""
                    : ", " + std::to_string(repeated) + (repeated == 1 ? " repeats" : " repeat") + " an earlier one";
  std::fprintf(stderr, "regatta-capture: %s (%llu traced%s), %llu warp instructions in %.1f s\n",
               plural(device.launches(), "launch", "es").c_str(), static_cast<unsigned long long>(log.traced()),
               repeats.c_str(), static_cast<unsigned long long>(device.warp_instructions()), device.seconds());
}

/// How the trace of a launch file is made.
tool::AnnotateOptions trace_options(const CaptureOptions& o, const std::string& launch_file) {
  std::vector<std::string> words{"regatta-annotate", "--launch", launch_file, "--out", o.out};
  bool names_bounds = false, names_undefined = false;
  for (const std::string& word : o.annotate) {
    words.push_back(word);
    names_bounds = names_bounds || word.rfind("--out-of-bounds", 0) == 0;
    names_undefined = names_undefined || word.rfind("--undefined", 0) == 0;
  }
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  tool::CommandLine asked =
      tool::read_command_line(static_cast<int>(argv.size()), argv.data(), passes::PassRegistry::with_builtin(),
                              trace::SectionRegistry::with_builtin());
  asked.options.print_nothing = true;  // the program has seen it
  asked.options.heap_initialised = !o.device.strict;
  if (!names_bounds && !o.device.strict) asked.options.out_of_bounds = tool::OutOfBounds::zero;
  asked.options.threads = o.device.threads;
  if (!names_undefined) asked.options.undefined_zero = !o.device.strict;
  asked.options.producer = "regatta-capture " REGATTA_VERSION;
  for (const std::string& word : o.annotate) asked.options.producer += " " + base::shell_word(word);
  for (const std::string& word : o.program) asked.options.producer += " " + base::shell_word(word);
  return asked.options;
}

/// Makes the trace of a launch file. Returns the exit status.
int annotate(const CaptureOptions& o, const CapturedDevice& device, const std::string& launch_file) {
  tool::AnnotateOptions options = trace_options(o, launch_file);
  options.stack_bytes = device.stack_bytes();
  options.heap_bytes = device.heap_bytes();
  return tool::print_result(options, tool::annotate(options));
}

int capture(const CaptureOptions& o) {
  const WorkFolder folder(o.keep, o.trace ? o.out : o.program.front());
  ProgramLog log(folder.path(), o.choice, !o.device.strict);
  DeviceOptions device_options = o.device;
  device_options.code = tool::compile_options(trace_options(o, "launch.toml"));  // not written yet, nor read here
  CapturedDevice device(device_options, log);
  const ProgramEnd end = run_program(o, device);
  if (!end.refusal.empty()) throw trace::InputError(end.refusal);
  if (device.launches() == 0) {
    throw trace::InputError("error: " + end.text + " without a launch: nothing to trace");
  }
  const std::string launch_file = log.finish();
  summarise(device, log);
  int status = end.failed ? 3 : 0;
  if (end.failed) std::cerr << "regatta-capture: " << end.text << "; what it launched before is captured\n";
  if (!o.trace) return status;
  if (log.traced() == 0) {
    throw trace::InputError("error: --kernels, --launches and --first leave none of " +
                            plural(device.launches(), "launch", "es"));
  }
  const int of_trace = annotate(o, device, launch_file);
  return of_trace != 0 ? of_trace : status;
}

}  // namespace

int run_capture_tool(int argc, char** argv) {
  const base::ToolSettings settings{program_name, "run the program on a smaller problem",
                                    std::string(program_name) + ": "};
  return base::run_tool(settings, [&] {
    try {
      const CaptureOptions o = read_command_line({argv + 1, argv + argc});
      if (!o.answer.empty()) {
        std::cout << o.answer;
        return 0;
      }
      if (o.list_api) {
        std::cout << list_api();
        return 0;
      }
      return capture(o);
    } catch (const trace::InputError& e) {
      std::cerr << base::with_program(program_name, e.what()) << "\n";
      return 2;
    }
  });
}

}  // namespace regatta::capture
