// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <algorithm>
#include <cmath>

namespace regatta::test {

std::vector<Expected> expected_lud(const LaunchData& data) {
  constexpr std::size_t block = 16;
  const auto size = static_cast<std::size_t>(data.scalar<std::int32_t>(0, "weigh"));
  auto m = data.buffer<float>("matrix");
  for (std::size_t i = 0; i < size; ++i) m[i * size + i] += data.scalar<float>(1, "weigh");

  // Row by row. An element needs elements of L to its left and elements of U above it. Those of earlier blocks of the
  // diagonal are subtracted as one sum a block, those of its own one by one.
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column < size; ++column) {
      const std::size_t terms = std::min(row, column);
      const std::size_t own = terms / block * block;
      float value = m[row * size + column];
      for (std::size_t first = 0; first < own; first += block) {
        float sum = 0;
        for (std::size_t k = first; k < first + block; ++k)
          sum = std::fma(m[row * size + k], m[k * size + column], sum);
        value -= sum;
      }
      for (std::size_t k = own; k < terms; ++k) value = std::fma(-m[row * size + k], m[k * size + column], value);
      if (row > column) value /= m[column * size + column];
      m[row * size + column] = value;
    }
  }
  return {exact("matrix", m)};
}

}  // namespace regatta::test
