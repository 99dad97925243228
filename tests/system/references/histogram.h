// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace reference {

/// How often each of the 256 byte values occurs.
std::vector<std::uint32_t> histogram(const std::vector<std::uint8_t>& samples);

}  // namespace reference
