// SPDX-License-Identifier: Apache-2.0
//
// regatta-trace that knows one more section.
#include <regatta/tool/trace_tool.h>

#include "toy_pass.h"

using namespace regatta;

int main(int argc, char** argv) {
  trace::SectionRegistry sections = trace::SectionRegistry::with_builtin();
  sections.add(std::make_shared<test::ToySection>());
  return tool::run_trace_tool(argc, argv, std::move(sections));
}
