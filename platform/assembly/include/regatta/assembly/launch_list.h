// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::assembly {

/// Launches written as "0,5,7:9": numbers and ranges FIRST:LAST with both ends, ascending, each below `count`. Throws
/// support::ConfigError, which begins with `option`.
std::vector<std::uint32_t> parse_launches(const std::string& text, std::size_t count, const std::string& option);

/// The list in this form, as short as it can be; ascending.
std::string launches_text(const std::vector<std::uint32_t>& launches);

}  // namespace regatta::assembly
