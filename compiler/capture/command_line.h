// SPDX-License-Identifier: Apache-2.0
//
// The command line of regatta-capture: options of its own and of regatta-annotate, then the program and its arguments.
#pragma once

#include "device.h"
#include "program_log.h"

#include <string>
#include <vector>

namespace regatta::capture {

struct CaptureOptions {
  DeviceOptions device;
  LaunchChoice choice;
  std::string out;   ///< trace to write; empty: "<program>.rgt"
  std::string keep;  ///< folder that keeps the launch file; empty: it is removed
  bool trace = true;
  std::vector<std::string> annotate;  ///< options for regatta-annotate
  std::vector<std::string> program;   ///< and its arguments
  std::string answer;                 ///< asked for instead of a run
  bool list_api = false;
};

/// Throws trace::InputError for a command line that cannot be run.
CaptureOptions read_command_line(const std::vector<std::string>& arguments);

}  // namespace regatta::capture
