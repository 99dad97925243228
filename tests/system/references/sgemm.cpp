// SPDX-License-Identifier: Apache-2.0
#include "sgemm.h"

#include "expected.h"

#include <cmath>

namespace reference {
namespace {
/// The kernel stages the depth in slices of this many and fills the last one with zeros.
constexpr int slice = 16;
}  // namespace

std::vector<float> sgemm(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& c,
                         int rows, int columns, int depth, float alpha, float beta) {
  std::vector<float> result(c.size());
  const int staged = (depth + slice - 1) / slice * slice;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      float sum = 0.0f;
      for (int k = 0; k < staged; ++k) {
        const float left = k < depth ? a.at(static_cast<std::size_t>(row * depth + k)) : 0.0f;
        const float right = k < depth ? b.at(static_cast<std::size_t>(k * columns + column)) : 0.0f;
        sum = std::fma(left, right, sum);
      }
      const auto at = static_cast<std::size_t>(row * columns + column);
      const float scaled = c.at(at) * beta;
      result[at] = std::fma(alpha, sum, scaled);
    }
  }
  return result;
}

}  // namespace reference

namespace regatta::test {

std::vector<Expected> expected_sgemm(const LaunchData& data) {
  return {exact("c", reference::sgemm(data.buffer<float>("a"), data.buffer<float>("b"), data.buffer<float>("c"),
                                      data.scalar<std::int32_t>(0), data.scalar<std::int32_t>(1),
                                      data.scalar<std::int32_t>(2), data.scalar<float>(3), data.scalar<float>(4)))};
}

}  // namespace regatta::test
