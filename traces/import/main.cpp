// SPDX-License-Identifier: Apache-2.0
// regatta-import: makes a trace of Accel-Sim's.
#include <regatta/import/import.h>

int main(int argc, char** argv) { return regatta::import::run_import_tool(argc, argv); }
