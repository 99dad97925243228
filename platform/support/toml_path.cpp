// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/toml_path.h>

#include <filesystem>

namespace regatta::support {

bool is_toml_path(const std::string& name) {
  return name.find('/') != std::string::npos || (name.size() > 5 && name.compare(name.size() - 5, 5, ".toml") == 0);
}

std::string beside(const std::string& file, const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (folder.empty() || folder == "." || !is_toml_path(name)) return name;
  // A step up is not taken away with the folder before it: that may be a link.
  return (folder / name).string();
}

}  // namespace regatta::support
