// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cmath>

namespace regatta::test {
namespace {

struct Points {
  std::size_t count, dimensions;
  std::vector<float> coordinates;  ///< one dimension of all points after the other
  float distance(std::size_t a, std::size_t b) const {
    float sum = 0;
    for (std::size_t d = 0; d < dimensions; ++d) {
      const float difference = coordinates.at(d * count + a) - coordinates.at(d * count + b);
      sum = std::fma(difference, difference, sum);
    }
    return sum;
  }
};

}  // namespace

std::vector<Expected> expected_streamcluster(const LaunchData& data) {
  const auto size = [&](std::size_t i) { return static_cast<std::size_t>(data.scalar<std::int32_t>(i, "gain")); };
  const Points points{size(0), size(1), data.buffer<float>("coordinates")};
  const std::size_t centres = size(2);
  const std::size_t stride = size(3);
  const auto weight = data.buffer<float>("weight");
  const auto centre = data.buffer<std::int32_t>("number");
  const auto cost = data.buffer<float>("cost");
  auto savings = data.buffer<float>("savings");
  auto changes = data.buffer<std::uint8_t>("changes");
  for (std::size_t candidate = 0; candidate < data.repetitions(); ++candidate) {
    for (std::size_t i = 0; i < points.count; ++i) {
      const float candidate_cost = points.distance(i, candidate) * weight[i];
      const bool change = candidate_cost < cost[i];
      if (change) changes[i] = '1';
      const std::size_t element = change ? centres : static_cast<std::size_t>(centre[i]);
      savings.at(i * stride + element) += change ? candidate_cost - cost[i] : cost[i] - candidate_cost;
    }
  }
  return {exact("savings", savings), exact("changes", changes)};
}

}  // namespace regatta::test
