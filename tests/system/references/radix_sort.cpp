// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <algorithm>

namespace regatta::test {

std::vector<Expected> expected_radix_sort(const LaunchData& data) {
  constexpr std::uint64_t bits_per_pass = 4;
  auto keys = data.buffer<std::uint32_t>("keys");
  // Fewer than eight passes sort by the low digits alone and leave equal ones in order.
  const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << (bits_per_pass * data.repetitions())) - 1);
  std::stable_sort(keys.begin(), keys.end(),
                   [mask](std::uint32_t a, std::uint32_t b) { return (a & mask) < (b & mask); });
  return {exact("keys", keys)};
}

}  // namespace regatta::test
