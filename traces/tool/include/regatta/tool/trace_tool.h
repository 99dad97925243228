// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/section_registry.h>

namespace regatta::tool {

/// The whole of regatta-trace with the section formats of `sections`. A program with a section of its own consists of
/// the format and a call of this function in main(). Returns the exit status: 0 done, 1 internal error, 2 bad input or
/// usage.
int run_trace_tool(int argc, char** argv, trace::SectionRegistry sections = trace::SectionRegistry::with_builtin());

}  // namespace regatta::tool
