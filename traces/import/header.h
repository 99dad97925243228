// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel_file.h"

namespace regatta::import {

/// Reads a header, line by line.
class HeaderReader {
 public:
  /// Takes a line of the header.
  void line(const LineReader& reader, std::string_view text);
  /// The header, which must have all that is needed. `reader`: at the end of it.
  Header finish(const LineReader& reader) const;

 private:
  Header header_;
  std::vector<std::string> found_;
};

/// Text "x,y,z" of `line` from `at` on, up to `end`. Throws "found ..., expected WHAT".
std::array<std::uint32_t, 3> triple(const LineReader& reader, std::string_view line, std::size_t at, const char* what);

}  // namespace regatta::import
