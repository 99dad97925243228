// SPDX-License-Identifier: Apache-2.0
#include "kernel_list.h"

#include <cctype>

#include "line_reader.h"

namespace regatta::import {
namespace {

bool ends(const std::string& text, const std::string& with) {
  return text.size() >= with.size() && text.compare(text.size() - with.size(), with.size(), with) == 0;
}

bool is_kernel_trace(const std::string& name) {
  return ends(name, ".traceg") || ends(name, ".traceg.xz") || ends(name, ".tracez");
}

}  // namespace

std::vector<std::string> kernel_files(const std::string& input) {
  if (is_kernel_trace(input)) return {input};
  const std::size_t slash = input.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : input.substr(0, slash + 1);
  LineReader reader(input, open_file(input));
  std::vector<std::string> files;
  std::string_view line;
  while (reader.next(line)) {
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.remove_suffix(1);
    if (line.empty() || line.substr(0, 6) == "Memcpy") continue;
    const std::string name(line);
    if (ends(name, ".trace") || ends(name, ".trace.xz")) {
      reader.fail(1, "found " + quoted(line) +
                         ", whose warps are not sorted yet: expected a .traceg, which Accel-Sim's "
                         "post-traces-processing makes of it");
    }
    if (!is_kernel_trace(name)) {
      reader.fail(
          1, "found " + quoted(line) + ", expected a kernel's trace (.traceg, .traceg.xz, .tracez) or 'Memcpy...'");
    }
    files.push_back(name[0] == '/' ? name : folder + name);
  }
  if (files.empty()) fail(input, {}, "names no kernel's trace");
  return files;
}

}  // namespace regatta::import
