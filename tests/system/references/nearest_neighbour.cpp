// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cmath>

namespace regatta::test {

std::vector<Expected> expected_nearest_neighbour(const LaunchData& data) {
  const auto location = data.buffer<float>("location");  // latitude, longitude
  const float latitude = data.scalar<float>(1, "distances");
  const float longitude = data.scalar<float>(2, "distances");
  std::vector<float> distance;
  for (std::size_t i = 0; i < static_cast<std::size_t>(data.scalar<std::int32_t>(0, "distances")); ++i) {
    const float north = latitude - location.at(2 * i);
    const float east = longitude - location.at(2 * i + 1);
    distance.push_back(std::sqrt(std::fma(north, north, east * east)));
  }
  return {exact("distance", distance)};
}

}  // namespace regatta::test
