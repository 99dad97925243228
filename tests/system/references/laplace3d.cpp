// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

namespace regatta::test {

std::vector<Expected> expected_laplace3d(const LaunchData& data) {
  const auto nx = static_cast<std::size_t>(data.scalar<std::int32_t>(0, "iterate"));
  const auto ny = static_cast<std::size_t>(data.scalar<std::int32_t>(1, "iterate"));
  const auto nz = static_cast<std::size_t>(data.scalar<std::int32_t>(2, "iterate"));
  const auto value = data.scalar<float>(3, "faces");
  const std::size_t layer = nx * ny;
  const auto on_face = [&](std::size_t i) {
    const std::size_t x = i % nx;
    const std::size_t y = i / nx % ny;
    const std::size_t z = i / layer;
    return x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1;
  };

  auto now = data.buffer<float>("now");
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (on_face(i)) now[i] = value;
  }
  for (std::uint64_t iteration = 0; iteration < data.repetitions(); ++iteration) {
    auto next = now;
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (on_face(i)) continue;
      float sum = now.at(i - 1);
      for (const std::size_t neighbour : {i + 1, i - nx, i + nx, i - layer, i + layer}) sum += now.at(neighbour);
      next[i] = sum * (1.0f / 6.0f);
    }
    now.swap(next);
  }
  return {exact("now", now)};
}

}  // namespace regatta::test
