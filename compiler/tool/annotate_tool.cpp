// SPDX-License-Identifier: Apache-2.0
#include <regatta/tool/annotate_tool.h>

#include <regatta/tool/command_line.h>
#include <regatta/tool/console.h>

#include <regatta/base/tool.h>

#include <iostream>
#include <string>

namespace regatta::tool {

namespace {

constexpr const char* program_name = "regatta-annotate";

/// A message with its place is a compiler's: "file:line:column: error: ...". Any other has the name of the program.
std::string with_program(const std::string& message) {
  const std::string without_place = "error: ";
  if (message.rfind(without_place, 0) != 0) return message;
  return std::string(program_name) + ": " + message.substr(without_place.size());
}

}  // namespace

int run_annotate_tool(int argc, char** argv, passes::PassRegistry passes, trace::SectionRegistry sections) {
  const base::ToolSettings settings{
      program_name,
      "use smaller buffers or a smaller grid in the launch file, or trace fewer CTAs (--ctas FIRST:COUNT)",
      std::string(program_name) + ": "};
  return base::run_tool(settings, [&] {
    try {
      const CommandLine asked = read_command_line(argc, argv, std::move(passes), std::move(sections));
      if (!asked.answer.empty()) {
        std::cout << asked.answer;
        return 0;
      }
      return print_result(asked.options, annotate(asked.options));
    } catch (const emulator::StrayReadError& e) {
      std::cerr << e.what() << "\n(a GPU may read there unnoticed: --out-of-bounds warn goes on with zero)\n";
      return 2;
    } catch (const trace::InputError& e) {
      std::cerr << with_program(e.what()) << "\n";
      return 2;
    }
  });
}

}  // namespace regatta::tool
