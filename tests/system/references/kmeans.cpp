// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cmath>

namespace regatta::test {
namespace {

/// Squared distance of two rows of features.
float distance(const float* a, const float* b, std::size_t features) {
  float sum = 0;
  for (std::size_t i = 0; i < features; ++i) sum = std::fma(a[i] - b[i], a[i] - b[i], sum);
  return sum;
}

}  // namespace

std::vector<Expected> expected_kmeans(const LaunchData& data) {
  const auto features = static_cast<std::size_t>(data.scalar<std::int32_t>(0, "assign"));
  const auto points = static_cast<std::size_t>(data.scalar<std::int32_t>(1, "assign"));
  const auto count = data.scalar<std::int32_t>(2, "assign");
  const auto point = data.buffer<float>("point");
  const auto centres = data.global<float>("centres");
  std::vector<float> transposed(point.size());
  std::vector<std::int32_t> membership;
  for (std::size_t p = 0; p < points; ++p) {
    for (std::size_t i = 0; i < features; ++i) transposed.at(i * points + p) = point.at(p * features + i);
    std::int32_t nearest = 0;
    const auto distance_to = [&](std::int32_t c) {
      return distance(&point[p * features], &centres.at(static_cast<std::size_t>(c) * features), features);
    };
    for (std::int32_t c = 1; c < count; ++c) {
      if (distance_to(c) < distance_to(nearest)) nearest = c;
    }
    membership.push_back(nearest);
  }
  return {exact("feature", transposed), exact("membership", membership)};
}

}  // namespace regatta::test
