// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cmath>

namespace regatta::test {

std::vector<Expected> expected_syr2k(const LaunchData& data) {
  const auto a = data.buffer<float>("a");
  const auto b = data.buffer<float>("b");
  auto c = data.buffer<float>("c");
  const auto size = static_cast<std::size_t>(data.scalar<std::int32_t>(0));
  const auto depth = static_cast<std::size_t>(data.scalar<std::int32_t>(1));
  const auto alpha = data.scalar<float>(2);
  const auto beta = data.scalar<float>(3);
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column < size; ++column) {
      float& sum = c.at(row * size + column);
      sum *= beta;
      for (std::size_t k = 0; k < depth; ++k) {
        // One product of each pair is rounded, the other is fused with the addition.
        const float ab = alpha * a.at(row * depth + k) * b.at(column * depth + k);
        sum += std::fma(alpha * b.at(row * depth + k), a.at(column * depth + k), ab);
      }
    }
  }
  return {exact("c", c)};
}

}  // namespace regatta::test
