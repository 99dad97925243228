// SPDX-License-Identifier: Apache-2.0
//
// The captured program as a process.
#pragma once

#include "command_line.h"
#include "device.h"

#include <string>

namespace regatta::capture {

struct ProgramEnd {
  bool failed = false;
  std::string text;     ///< "the program ended with status 0"
  std::string refusal;  ///< why it could not go on: what it needs and there is not; empty: it could
};

/// Runs the program to its end, serving what it does to the device.
ProgramEnd run_program(const CaptureOptions& options, CapturedDevice& device);

/// The CUDA functions that the runtime has, and those that it refuses.
std::string list_api();

}  // namespace regatta::capture
