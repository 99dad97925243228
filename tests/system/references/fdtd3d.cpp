// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cmath>

namespace regatta::test {

std::vector<Expected> expected_fdtd3d(const LaunchData& data) {
  const auto width = static_cast<std::size_t>(data.scalar<std::int32_t>(0, "step"));
  const auto height = static_cast<std::size_t>(data.scalar<std::int32_t>(1, "step"));
  const auto depth = static_cast<std::size_t>(data.scalar<std::int32_t>(2, "step"));
  const auto weights = data.global<float>("weights");
  const std::size_t radius = weights.size() - 1;
  const std::size_t row = width + 2 * radius;
  const std::size_t plane = row * (height + 2 * radius);

  auto from = data.buffer<float>("from");
  auto to = data.buffer<float>("to");
  for (std::uint64_t step = 0; step < data.repetitions(); ++step) {
    for (std::size_t z = radius; z < depth + radius; ++z) {
      for (std::size_t y = radius; y < height + radius; ++y) {
        for (std::size_t x = radius; x < width + radius; ++x) {
          const std::size_t at = z * plane + y * row + x;
          float value = weights[0] * from.at(at);
          for (std::size_t i = 1; i <= radius; ++i) {
            float sum = 0;
            for (const std::size_t neighbour :
                 {at + i * plane, at - i * plane, at - i * row, at + i * row, at - i, at + i})
              sum += from.at(neighbour);
            value = std::fma(weights[i], sum, value);
          }
          to.at(at) = value;
        }
      }
    }
    from.swap(to);
  }
  return {exact("from", from)};
}

}  // namespace regatta::test
