// SPDX-License-Identifier: Apache-2.0
//
// Names in configurations that denote something built-in or a file.
#pragma once

#include <string>

namespace regatta::support {

/// Whether `name` is the path of a .toml file rather than a built-in name.
bool is_toml_path(const std::string& name);
/// The path that `name` denotes in `file`: relative paths begin at its folder. Other names are returned unchanged.
std::string beside(const std::string& file, const std::string& name);

}  // namespace regatta::support
