// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/divergent_paths.h>
#include <regatta/trace/rfh.h>

#include <vector>

namespace regatta::trace {

/// Per instruction: whether a strand has to begin there by the rules of rfh.h.
std::vector<bool> strand_begins(const Kernel& kernel, const DivergentPaths& paths);

}  // namespace regatta::trace
