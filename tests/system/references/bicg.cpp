// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cmath>

namespace regatta::test {

std::vector<Expected> expected_bicg(const LaunchData& data) {
  const auto a = data.buffer<float>("a");
  const auto r = data.buffer<float>("r");
  const auto p = data.buffer<float>("p");
  const auto rows = static_cast<std::size_t>(data.scalar<std::int32_t>(0, "s"));
  const auto columns = static_cast<std::size_t>(data.scalar<std::int32_t>(1, "s"));
  std::vector<float> s(columns);
  std::vector<float> q(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const float element = a.at(row * columns + column);
      s[column] = std::fma(element, r.at(row), s[column]);
      q[row] = std::fma(element, p.at(column), q[row]);
    }
  }
  return {exact("s", s), exact("q", q)};
}

}  // namespace regatta::test
