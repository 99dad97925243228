// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

namespace regatta::test {

std::vector<Expected> expected_sobol(const LaunchData& data) {
  constexpr std::size_t bits = 32;
  const auto points = data.scalar<std::uint32_t>(0, "sobol");
  auto directions = data.buffer<std::uint32_t>("random");
  for (std::size_t i = 0; i < directions.size(); ++i) {
    const std::uint32_t lowest = 1u << (bits - 1 - i % bits);
    directions[i] = (directions[i] | lowest) & ~(lowest - 1);
  }
  std::vector<float> output;
  for (std::size_t d = 0; d < directions.size(); d += bits) {
    for (std::uint32_t i = 0; i < points; ++i) {
      const std::uint32_t gray = i ^ (i >> 1);
      std::uint32_t x = 0;
      for (std::size_t k = 0; k < bits; ++k) {
        if ((gray >> k & 1) != 0) x ^= directions[d + k];
      }
      output.push_back(static_cast<float>(x) / 4294967296.0f);
    }
  }
  return {exact("directions", directions), exact("output", output)};
}

}  // namespace regatta::test
