// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <array>
#include <cmath>

namespace regatta::test {

std::vector<Expected> expected_cutcp(const LaunchData& data) {
  constexpr std::size_t depth = 8;
  constexpr int side = 8;
  const auto bins_x = data.scalar<std::int32_t>(0, "bins"), bins_y = data.scalar<std::int32_t>(1, "bins"),
             reach = data.scalar<std::int32_t>(3, "bins");
  const auto length = data.scalar<float>(4, "bins"), spacing = data.scalar<float>(3, "lattice");
  const double cutoff2 = data.scalar<float>(4, "lattice"), inverse = data.scalar<float>(5, "lattice");
  const auto random = data.buffer<std::array<float, 4>>("random");
  const auto count = data.buffer<std::int32_t>("count");

  // Distances depend on how positions are rounded.
  std::vector<std::array<float, 4>> atoms;
  for (std::size_t i = 0; i < random.size(); ++i) {
    const std::size_t bin = i / depth;
    const auto number = static_cast<int>(bin);
    const std::array<int, 3> at = {number % bins_x - reach, number / bins_x % bins_y - reach,
                                   number / bins_x / bins_y - reach};
    std::array<float, 4> atom;
    for (std::size_t axis = 0; axis < 3; ++axis) atom[axis] = (static_cast<float>(at[axis]) + random[i][axis]) * length;
    atom[3] = static_cast<int>(i % depth) < count.at(bin) ? std::fma(0.75f, random[i][3], 0.25f) : 0.0f;
    atoms.push_back(atom);
  }

  std::vector<double> potential(data.buffer<float>("potential").size());
  const int cubes_x = bins_x - 2 * reach, cubes_y = bins_y - 2 * reach;
  for (std::size_t i = 0; i < potential.size(); ++i) {
    const auto number = static_cast<int>(i), cube = number / (side * side * side);
    const auto place = [&](int c, int in_cube) {
      return static_cast<double>(spacing * static_cast<float>(c * side + in_cube));
    };
    const int cube_x = cube % cubes_x, cube_y = cube / cubes_x % cubes_y, cube_z = cube / cubes_x / cubes_y;
    const double x = place(cube_x, number % side), y = place(cube_y, number / side % side),
                 z = place(cube_z, number / side / side % side);
    // All bins of which a corner may be near.
    for (int bz = cube_z; bz <= cube_z + 2 * reach; ++bz) {
      for (int by = cube_y; by <= cube_y + 2 * reach; ++by) {
        for (int bx = cube_x; bx <= cube_x + 2 * reach; ++bx) {
          const auto bin = static_cast<std::size_t>((bz * bins_y + by) * bins_x + bx);
          for (std::size_t a = 0; a < depth; ++a) {
            const auto& atom = atoms.at(bin * depth + a);
            const double dx = atom[0] - x, dy = atom[1] - y, dz = atom[2] - z;
            const double square = dx * dx + dy * dy + dz * dz;
            if (square >= cutoff2) continue;
            const double s = 1 - square * inverse;
            potential[i] += atom[3] / std::sqrt(square) * s * s;
          }
        }
      }
    }
  }
  return {near("potential", potential)};
}

}  // namespace regatta::test
