// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace regatta::capture {

/// Shared libraries that the loader does not find for a program, as its name is given to a shell. The program itself
/// does not run. Empty for what is no dynamically linked executable.
std::vector<std::string> missing_libraries(const std::string& program, const std::string& library_folder);

}  // namespace regatta::capture
