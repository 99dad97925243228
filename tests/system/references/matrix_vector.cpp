// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cmath>

namespace regatta::test {

std::vector<Expected> expected_matrix_vector(const LaunchData& data) {
  const auto matrix = data.buffer<float>("matrix");
  const auto vector = data.buffer<float>("vector");
  const auto rows = static_cast<std::size_t>(data.scalar<std::int32_t>(0, "matrix_vector"));
  const auto columns = static_cast<std::size_t>(data.scalar<std::int32_t>(1, "matrix_vector"));
  std::vector<float> product(rows);
  for (std::size_t i = 0; i < rows * columns; ++i) {
    float& sum = product[i / columns];
    sum = std::fma(matrix.at(i), vector.at(i % columns), sum);
  }
  return {exact("product", product)};
}

}  // namespace regatta::test
