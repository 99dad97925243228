// SPDX-License-Identifier: Apache-2.0
#include "spmv.h"

#include "expected.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace reference {

CompressedRows spmv_matrix(const std::vector<std::int32_t>& jitter, const std::vector<std::int32_t>& distances,
                           std::int32_t mean) {
  CompressedRows m;
  const auto rows = static_cast<std::int32_t>(jitter.size()) - 1;
  m.columns = distances;
  for (std::int32_t row = 0; row <= rows; ++row) {
    m.offsets.push_back(mean * row + jitter[static_cast<std::size_t>(row)]);
    if (row == 0) continue;
    for (std::int32_t i = m.offsets.end()[-2]; i < m.offsets.back(); ++i) {
      std::int32_t& column = m.columns.at(static_cast<std::size_t>(i));
      column = std::clamp(row - 1 + column, 0, rows - 1);
    }
  }
  return m;
}

std::vector<float> spmv(const CompressedRows& m, const std::vector<float>& values, const std::vector<float>& x) {
  std::vector<float> y;
  for (std::size_t row = 0; row + 1 < m.offsets.size(); ++row) {
    std::array<float, 8> sum{};
    const auto first = static_cast<std::size_t>(m.offsets[row]);
    for (std::size_t i = first; i < static_cast<std::size_t>(m.offsets[row + 1]); ++i) {
      float& s = sum[(i - first) % sum.size()];
      s = std::fma(values.at(i), x.at(static_cast<std::size_t>(m.columns.at(i))), s);
    }
    for (std::size_t half = sum.size() / 2; half > 0; half /= 2) {
      for (std::size_t k = 0; k < half; ++k) sum[k] += sum[k + half];
    }
    y.push_back(sum[0]);
  }
  return y;
}

}  // namespace reference

namespace regatta::test {

std::vector<Expected> expected_spmv(const LaunchData& data) {
  const reference::CompressedRows matrix = reference::spmv_matrix(
      data.buffer<std::int32_t>("jitter"), data.buffer<std::int32_t>("columns"), data.scalar<std::int32_t>(1, "build"));
  const auto values = data.buffer<float>("values");
  auto x = data.buffer<float>("x");
  for (std::uint64_t i = 0; i < data.repetitions(); ++i) x = reference::spmv(matrix, values, x);
  return {exact("offsets", matrix.offsets), exact("columns", matrix.columns), exact("x", x)};
}

}  // namespace regatta::test
