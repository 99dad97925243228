// SPDX-License-Identifier: Apache-2.0
#include "pathfinder.h"

#include "expected.h"

#include <algorithm>

namespace reference {

std::vector<std::int32_t> pathfinder(std::vector<std::int32_t> cost, const std::vector<std::uint8_t>& weights) {
  const std::size_t columns = cost.size();
  for (std::size_t row = 0; row < weights.size() / columns; ++row) {
    std::vector<std::int32_t> below(columns);
    for (std::size_t c = 0; c < columns; ++c) {
      const auto from = cost.begin() + static_cast<std::ptrdiff_t>(c > 0 ? c - 1 : 0);
      const auto to = cost.begin() + static_cast<std::ptrdiff_t>(std::min(c + 2, columns));
      below[c] = weights[row * columns + c] + *std::min_element(from, to);
    }
    cost.swap(below);
  }
  return cost;
}

}  // namespace reference

namespace regatta::test {

std::vector<Expected> expected_pathfinder(const LaunchData& data) {
  return {
      exact("above", reference::pathfinder(data.buffer<std::int32_t>("above"), data.buffer<std::uint8_t>("weights")))};
}

}  // namespace regatta::test
