// SPDX-License-Identifier: Apache-2.0
//
// Names in configurations that may be a built-in thing's or a file's.
#pragma once

#include <string>

namespace regatta::support {

/// Is `name`, which may as well be a built-in thing's, the path of a .toml file?
bool is_toml_path(const std::string& name);
/// The path that `file` means by `name`: relative ones begin at its folder. What is no path of a .toml file stays as it
/// is.
std::string beside(const std::string& file, const std::string& name);

}  // namespace regatta::support
