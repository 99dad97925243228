// SPDX-License-Identifier: Apache-2.0
//
// The whole of regatta-capture: runs a program with our CUDA runtime in front of it, then makes the trace of what it
// did.
#pragma once

namespace regatta::capture {

/// Returns the exit status: 0 done, 1 internal error, 2 bad input or usage, or a program that needs what there is not,
/// 3 the program failed (its exit status is not 0, or a signal ended it); the trace is written all the same.
int run_capture_tool(int argc, char** argv);

}  // namespace regatta::capture
