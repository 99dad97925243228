// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/base/error.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace regatta::test {

/// A temporary folder, gone with the object.
struct BaseFolder {
  std::filesystem::path path;
  BaseFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "regatta_test.XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~BaseFolder() { std::filesystem::remove_all(path); }
  BaseFolder(const BaseFolder&) = delete;
  BaseFolder& operator=(const BaseFolder&) = delete;
  std::string file(const std::string& name) const { return (path / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(path), std::filesystem::directory_iterator()));
  }
};

/// The message of the InputError that `action` throws, or a text that no message equals.
template <typename Action>
std::string input_error(Action action) {
  try {
    action();
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}

}  // namespace regatta::test
