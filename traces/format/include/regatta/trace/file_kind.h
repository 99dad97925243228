// SPDX-License-Identifier: Apache-2.0
//
// What a file is by the ending of its name, for messages to those who give a tool a file of the wrong kind.
#pragma once

#include <cstdint>
#include <string>

namespace regatta::trace {

enum class FileKind : std::uint8_t {
  toml,  ///< a launch file, perhaps
  ptx,
  source,  ///< CUDA, C++ or C
  other
};

FileKind file_kind(const std::string& path);
/// "CUDA", "C++" or "C", of FileKind::source.
std::string source_language(const std::string& path);

}  // namespace regatta::trace
