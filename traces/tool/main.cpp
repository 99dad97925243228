// SPDX-License-Identifier: Apache-2.0
#include <regatta/tool/trace_tool.h>

int main(int argc, char** argv) { return regatta::tool::run_trace_tool(argc, argv); }
