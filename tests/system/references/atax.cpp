// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cmath>

namespace regatta::test {

std::vector<Expected> expected_atax(const LaunchData& data) {
  const auto a = data.buffer<float>("a");
  const auto x = data.buffer<float>("x");
  const auto rows = static_cast<std::size_t>(data.scalar<std::int32_t>(0, "ax"));
  const auto columns = static_cast<std::size_t>(data.scalar<std::int32_t>(1, "ax"));
  std::vector<float> product(rows);
  std::vector<float> y(columns);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      product[row] = std::fma(a.at(row * columns + column), x.at(column), product[row]);
    }
    for (std::size_t column = 0; column < columns; ++column) {
      y[column] = std::fma(a.at(row * columns + column), product[row], y[column]);
    }
  }
  return {exact("product", product), exact("y", y)};
}

}  // namespace regatta::test
