// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/scheme.h>

namespace regatta::assembly {

/// The whole of regatta-sim with the schemes of `registry`, and the warp schedulers and residency policies of
/// `policies`: a program with a scheme or a policy of its own is that and a call of this from sc_main. Returns the exit
/// status: 0 done, 1 internal error, 2 bad input or usage, 3 a check failed.
int run_tool(int argc, char** argv, SchemeRegistry registry = SchemeRegistry::with_builtin(),
             PolicyRegistry policies = PolicyRegistry());

}  // namespace regatta::assembly
