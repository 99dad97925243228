// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace regatta::recorders {

/// A range of cycles or CTAs, both ends included.
struct Window {
  std::uint64_t first = 0;
  std::uint64_t last = UINT64_MAX;
  bool contains(std::uint64_t n) const { return n >= first && n <= last; }
};

/// Parses "FIRST:LAST", either of which may be missing ("1000:", ":500"), or one number. Throws a ConfigError that
/// names `option`.
Window parse_window(const std::string& text, const std::string& option);

}  // namespace regatta::recorders
