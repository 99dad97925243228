// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "folder.h"

namespace regatta::test {

/// Writes each launch of a kernel's trace, at the size for tests, as a .traceg, imports them, and returns the path of
/// the new trace, imported.rgt. `ours`: the path of the trace that they come from.
std::string imported_kernel(const Folder& folder, const std::string& kernel, std::string* ours = nullptr);

}  // namespace regatta::test
