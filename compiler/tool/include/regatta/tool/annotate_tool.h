// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/passes/pass_registry.h>
#include <regatta/trace/section_registry.h>

namespace regatta::tool {

/// The whole of regatta-annotate with the annotation passes of `passes`. The trace's writer checks their sections by
/// `sections`. A program with a pass of its own consists of the pass and a call of this function in main(). Returns the
/// exit status: 0 done, 1 internal error, 2 bad input or usage, 3 a buffer is not what the launch file expects, or data
/// races.
int run_annotate_tool(int argc, char** argv, passes::PassRegistry passes = passes::PassRegistry::with_builtin(),
                      trace::SectionRegistry sections = trace::SectionRegistry::with_builtin());

}  // namespace regatta::tool
