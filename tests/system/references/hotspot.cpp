// SPDX-License-Identifier: Apache-2.0
#include "hotspot.h"

#include "expected.h"

#include <algorithm>
#include <cmath>

namespace reference {

std::vector<float> hotspot(std::vector<float> temperature, const std::vector<float>& power, const HotspotParameters& p,
                           int launches) {
  std::vector<float> next(temperature.size());
  for (int launch = 0; launch < launches; ++launch) {
    // Beyond the border lies the border again.
    const auto at = [&](int row, int column) {
      const int y = std::clamp(row, 0, p.rows - 1);
      const int x = std::clamp(column, 0, p.columns - 1);
      return temperature.at(static_cast<std::size_t>(y * p.columns + x));
    };
    for (int row = 0; row < p.rows; ++row) {
      for (int column = 0; column < p.columns; ++column) {
        const auto index = static_cast<std::size_t>(row * p.columns + column);
        const float here = at(row, column);
        const float vertical = std::fma(-2.0f, here, at(row - 1, column) + at(row + 1, column));
        const float horizontal = std::fma(-2.0f, here, at(row, column - 1) + at(row, column + 1));
        const float between = p.conductance / here;
        const float lateral = std::fma(between, vertical + horizontal, power.at(index));
        const float flow = std::fma(p.ambient - here, p.sink, lateral);
        next[index] = std::fma(p.step, flow, here);
      }
    }
    temperature.swap(next);
  }
  return temperature;
}

}  // namespace reference

namespace regatta::test {

std::vector<Expected> expected_hotspot(const LaunchData& data) {
  reference::HotspotParameters p;
  p.rows = data.scalar<std::int32_t>(0);
  p.columns = data.scalar<std::int32_t>(1);
  p.conductance = data.scalar<float>(2);
  p.sink = data.scalar<float>(3);
  p.ambient = data.scalar<float>(4);
  p.step = data.scalar<float>(5);
  return {exact("now", reference::hotspot(data.buffer<float>("now"), data.buffer<float>("power"), p,
                                          static_cast<int>(data.repetitions())))};
}

}  // namespace regatta::test
