// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "expected.h"
#include "small_float.h"

namespace regatta::test {

std::vector<Expected> expected_conv_implicit_gemm(const LaunchData& data) {
  const auto in = reference::half.decoded(data.buffer<std::uint16_t>("in"));
  const auto filters = reference::half.decoded(data.buffer<std::uint16_t>("filters"));
  const auto bias = data.buffer<float>("bias");
  const int pictures = data.scalar<std::int32_t>(0), height = data.scalar<std::int32_t>(1);
  const int width = data.scalar<std::int32_t>(2), channels = data.scalar<std::int32_t>(3);
  const int count = data.scalar<std::int32_t>(4);
  std::vector<double> out;
  for (int pixel = 0; pixel < pictures * height * width; ++pixel) {
    const int x = pixel % width, y = pixel / width % height;
    for (int f = 0; f < count; ++f) {
      double sum = static_cast<double>(bias[static_cast<std::size_t>(f)]);
      for (int place = 0; place < 9; ++place) {
        const int dx = place % 3 - 1, dy = place / 3 - 1;
        if (x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height) continue;
        const double* from = &in[static_cast<std::size_t>((pixel + dy * width + dx) * channels)];
        const double* filter = &filters[static_cast<std::size_t>((f * 9 + place) * channels)];
        for (int c = 0; c < channels; ++c) sum += from[c] * filter[c];
      }
      out.push_back(std::max(sum, 0.0));
    }
  }
  return {near("out", Float::f16, out, 6e-4, 1e-4)};
}

}  // namespace regatta::test
