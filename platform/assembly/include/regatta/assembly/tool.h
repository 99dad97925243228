// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/scheme.h>

namespace regatta::assembly {

/// All of regatta-sim, with the schemes of `registry` and the warp schedulers and residency policies of `policies`. A
/// program with its own scheme or policy calls this from sc_main. Returns the exit status: 0 success, 1 internal error,
/// 2 bad input or usage, 3 a check failed.
int run_tool(int argc, char** argv, SchemeRegistry registry, PolicyRegistry policies = PolicyRegistry());

}  // namespace regatta::assembly
