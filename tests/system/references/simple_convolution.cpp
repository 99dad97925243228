// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cmath>

namespace regatta::test {

std::vector<Expected> expected_simple_convolution(const LaunchData& data) {
  const int width = data.scalar<std::int32_t>(0, "convolve");
  const int height = data.scalar<std::int32_t>(1, "convolve");
  const int mask_width = data.scalar<std::int32_t>(2, "convolve");
  const int mask_height = data.scalar<std::int32_t>(3, "convolve");
  const auto input = data.buffer<std::uint32_t>("input");
  const auto mask = data.buffer<float>("mask");
  std::vector<std::uint32_t> output;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      float sum = 0;
      // Columns of the mask one after the other, without those taps that lie outside of the picture.
      for (int mx = 0; mx < mask_width; ++mx) {
        for (int my = 0; my < mask_height; ++my) {
          const int px = x + mx - mask_width / 2;
          const int py = y + my - mask_height / 2;
          if (px < 0 || px >= width || py < 0 || py >= height) continue;
          const auto pixel = static_cast<float>(input.at(static_cast<std::size_t>(py * width + px)));
          sum = std::fma(pixel, mask.at(static_cast<std::size_t>(my * mask_width + mx)), sum);
        }
      }
      output.push_back(static_cast<std::uint32_t>(sum + 0.5F));
    }
  }
  return {exact("output", output)};
}

}  // namespace regatta::test
