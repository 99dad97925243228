// SPDX-License-Identifier: Apache-2.0
#include <regatta/tool/annotate_tool.h>

#include "command_line.h"
#include "console.h"

#include <regatta/base/tool.h>

#include <iostream>

namespace regatta::tool {

int run_annotate_tool(int argc, char** argv, passes::PassRegistry passes, trace::SectionRegistry sections) {
  const base::ToolSettings settings{
      "regatta-annotate",
      "use smaller buffers or a smaller grid in the launch file, or trace fewer CTAs (--ctas FIRST:COUNT)", "error: "};
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
      // Such a message begins with its place: "file:line:column: error: ...".
      std::cerr << e.what() << "\n";
      return 2;
    }
  });
}

}  // namespace regatta::tool
