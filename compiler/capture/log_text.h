// SPDX-License-Identifier: Apache-2.0
//
// Numbers and names as a launch file has them.
#pragma once

#include <cstdint>
#include <string>

namespace regatta::capture {

inline std::string number(std::uint64_t n) { return std::to_string(n); }

/// A name of PTX has no character that TOML would read otherwise.
inline std::string in_quotes(const std::string& text) { return "\"" + text + "\""; }

}  // namespace regatta::capture
