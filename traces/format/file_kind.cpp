// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/file_kind.h>

namespace regatta::trace {
namespace {

/// ".cu", or nothing.
std::string ending(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : name.substr(dot);
}

}  // namespace

FileKind file_kind(const std::string& path) {
  const std::string found = ending(path);
  if (found == ".toml") return FileKind::toml;
  if (found == ".ptx") return FileKind::ptx;
  return source_language(path).empty() ? FileKind::other : FileKind::source;
}

std::string source_language(const std::string& path) {
  const std::string found = ending(path);
  if (found == ".cu" || found == ".cuh") return "CUDA";
  if (found == ".cpp" || found == ".cc" || found == ".cxx" || found == ".hpp") return "C++";
  return found == ".c" || found == ".h" ? "C" : "";
}

}  // namespace regatta::trace
