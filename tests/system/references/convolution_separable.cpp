// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cmath>

namespace {

/// `lines` lines of `length` pixels, `step` apart along a line and `pitch` from line to line. Beyond a line lies zero.
std::vector<float> convolve(const std::vector<float>& picture, const std::vector<float>& taps, int lines, int length,
                            int pitch, int step) {
  const int radius = static_cast<int>(taps.size()) / 2;
  std::vector<float> result(picture.size());
  for (int line = 0; line < lines; ++line) {
    for (int i = 0; i < length; ++i) {
      float sum = 0;
      for (int j = i - radius; j <= i + radius; ++j) {
        const float value = j >= 0 && j < length ? picture.at(static_cast<std::size_t>(line * pitch + j * step)) : 0;
        sum = std::fma(taps.at(static_cast<std::size_t>(radius + i - j)), value, sum);
      }
      result.at(static_cast<std::size_t>(line * pitch + i * step)) = sum;
    }
  }
  return result;
}

}  // namespace

namespace regatta::test {

std::vector<Expected> expected_convolution_separable(const LaunchData& data) {
  const int width = data.scalar<std::int32_t>(0, "rows");
  const int height = data.scalar<std::int32_t>(0, "columns");
  const auto taps = data.global<float>("filter_taps");
  const auto between = convolve(data.buffer<float>("source"), taps, height, width, width, 1);
  return {exact("between", between), exact("result", convolve(between, taps, width, height, 1, width))};
}

}  // namespace regatta::test
