// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <algorithm>
#include <cstdlib>

namespace regatta::test {

std::vector<Expected> expected_sobel(const LaunchData& data) {
  const int width = data.scalar<std::int32_t>(0, "direct");
  const int height = data.scalar<std::int32_t>(1, "direct");
  const auto scale = data.scalar<float>(2, "direct");
  const auto picture = data.buffer<std::uint8_t>("picture");
  std::vector<std::uint8_t> edges;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      int horizontal = 0, vertical = 0;
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          const int row = std::clamp(y + dy, 0, height - 1);
          const int column = std::clamp(x + dx, 0, width - 1);
          const int value = picture.at(static_cast<std::size_t>(row * width + column));
          horizontal += dx * (2 - std::abs(dy)) * value;
          vertical += dy * (2 - std::abs(dx)) * value;
        }
      }
      const float sum = scale * static_cast<float>(std::abs(horizontal) + std::abs(vertical));
      edges.push_back(static_cast<std::uint8_t>(std::min(static_cast<int>(sum), 255)));
    }
  }
  return {exact("direct_edges", edges), exact("shared_edges", edges)};
}

}  // namespace regatta::test
