// SPDX-License-Identifier: Apache-2.0
#include "stencil3d.h"

#include "expected.h"

#include <cmath>

namespace reference {

std::vector<float> stencil3d(std::vector<float> now, const Stencil3dParameters& p, int steps) {
  for (int step = 0; step < steps; ++step) {
    std::vector<float> next = now;
    for (int z = 2; z < p.nz - 2; ++z) {
      for (int y = 2; y < p.ny - 2; ++y) {
        for (int x = 2; x < p.nx - 2; ++x) {
          // Sums of the four cells at distance d in the plane, and of the two along z.
          const auto at = [&](int dx, int dy, int dz) {
            return now.at(static_cast<std::size_t>(((z + dz) * p.ny + y + dy) * p.nx + x + dx));
          };
          const auto in_plane = [&](int d) { return (at(-d, 0, 0) + at(d, 0, 0)) + (at(0, -d, 0) + at(0, d, 0)); };
          const auto along_z = [&](int d) { return at(0, 0, -d) + at(0, 0, d); };
          const float inner = std::fma(p.near, in_plane(1) + along_z(1), p.centre * at(0, 0, 0));
          next[static_cast<std::size_t>((z * p.ny + y) * p.nx + x)] = std::fma(p.far, in_plane(2) + along_z(2), inner);
        }
      }
    }
    now.swap(next);
  }
  return now;
}

}  // namespace reference

namespace regatta::test {

std::vector<Expected> expected_stencil3d(const LaunchData& data) {
  reference::Stencil3dParameters p;
  p.nx = data.scalar<std::int32_t>(0);
  p.ny = data.scalar<std::int32_t>(1);
  p.nz = data.scalar<std::int32_t>(2);
  p.centre = data.scalar<float>(3);
  p.near = data.scalar<float>(4);
  p.far = data.scalar<float>(5);
  return {exact("now", reference::stencil3d(data.buffer<float>("now"), p, static_cast<int>(data.repetitions())))};
}

}  // namespace regatta::test
