// SPDX-License-Identifier: Apache-2.0
#include <regatta/tool/annotate_tool.h>

int main(int argc, char** argv) { return regatta::tool::run_annotate_tool(argc, argv); }
