// SPDX-License-Identifier: Apache-2.0
#include "capture_tool.h"

int main(int argc, char** argv) { return regatta::capture::run_capture_tool(argc, argv); }
