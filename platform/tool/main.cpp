// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/tool.h>
#include <regatta/schemes/schemes.h>
#include <systemc>

int sc_main(int argc, char** argv) { return regatta::assembly::run_tool(argc, argv, regatta::schemes::all()); }
