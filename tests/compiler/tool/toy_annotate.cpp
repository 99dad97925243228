// SPDX-License-Identifier: Apache-2.0
//
// regatta-annotate with a pass of its own.
#include <regatta/tool/annotate_tool.h>

#include "toy_pass.h"

using namespace regatta;

int main(int argc, char** argv) {
  passes::PassRegistry passes = passes::PassRegistry::with_builtin();
  trace::SectionRegistry sections = trace::SectionRegistry::with_builtin();
  passes.add<test::ToyPass>();
  sections.add(std::make_shared<test::ToySection>());
  return tool::run_annotate_tool(argc, argv, std::move(passes), std::move(sections));
}
