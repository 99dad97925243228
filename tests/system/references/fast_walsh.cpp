// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

namespace regatta::test {
namespace {

/// A stage at a time, from the largest distance to the smallest.
void walsh(std::vector<float>& values) {
  for (std::size_t distance = values.size() / 2; distance > 0; distance /= 2) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if ((i & distance) != 0) continue;
      const float a = values[i];
      const float b = values[i + distance];
      values[i] = a + b;
      values[i + distance] = a - b;
    }
  }
}

}  // namespace

std::vector<Expected> expected_fast_walsh(const LaunchData& data) {
  auto values = data.buffer<float>("data");
  auto kernel = data.buffer<float>("taps");
  kernel.resize(values.size());
  walsh(values);
  walsh(kernel);
  const float scale = 1.0f / static_cast<float>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= kernel[i] * scale;
  walsh(values);
  return {exact("data", values)};
}

}  // namespace regatta::test
