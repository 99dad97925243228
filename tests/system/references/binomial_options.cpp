// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <algorithm>
#include <cmath>

namespace regatta::test {

std::vector<Expected> expected_binomial_options(const LaunchData& data) {
  const auto steps = data.scalar<std::int32_t>(0, "binomial_options");
  const auto spot = data.global<float>("spot"), strike = data.global<float>("strike"),
             log_step = data.global<float>("log_step"), up = data.global<float>("up"),
             down = data.global<float>("down");
  std::vector<double> value(data.buffer<float>("value").size());
  for (std::size_t o = 0; o < value.size(); ++o) {
    std::vector<double> node;
    for (std::int32_t i = 0; i <= steps; ++i) {
      const double end = spot.at(o) * std::exp(static_cast<double>(log_step.at(o)) * (2 * i - steps));
      node.push_back(std::max(end - static_cast<double>(strike.at(o)), 0.0));
    }
    while (node.size() > 1) {
      for (std::size_t i = 0; i + 1 < node.size(); ++i)
        node[i] = static_cast<double>(up.at(o)) * node[i + 1] + static_cast<double>(down.at(o)) * node[i];
      node.pop_back();
    }
    value[o] = node[0];
  }
  return {near("value", value)};
}

}  // namespace regatta::test
