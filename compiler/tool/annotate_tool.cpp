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
      std::cerr << base::with_program(program_name, e.what()) << "\n";
      return 2;
    }
  });
}

}  // namespace regatta::tool
