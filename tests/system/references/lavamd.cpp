// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <array>
#include <cmath>
#include <cstdlib>

namespace regatta::test {

std::vector<Expected> expected_lavamd(const LaunchData& data) {
  const std::array<int, 3> size = {data.scalar<std::int32_t>(0, "boxes"), data.scalar<std::int32_t>(1, "boxes"),
                                   data.scalar<std::int32_t>(2, "boxes")};
  const auto particles = static_cast<std::size_t>(data.scalar<std::int32_t>(3, "boxes"));
  const double alpha = data.scalar<double>(0, "forces");
  const auto position = data.buffer<double>("positions");  // v, x, y, z of each
  const auto charge = data.buffer<double>("charges");
  std::vector<double> result(position.size());

  const auto place = [&](std::size_t box) {
    const auto b = static_cast<int>(box);
    return std::array<int, 3>{b % size[0], b / size[0] % size[1], b / (size[0] * size[1])};
  };
  const std::size_t boxes = charge.size() / particles;
  for (std::size_t a = 0; a < boxes; ++a) {
    for (std::size_t b = 0; b < boxes; ++b) {
      const auto pa = place(a), pb = place(b);
      if (std::abs(pa[0] - pb[0]) > 1 || std::abs(pa[1] - pb[1]) > 1 || std::abs(pa[2] - pb[2]) > 1) continue;
      for (std::size_t i = a * particles; i < (a + 1) * particles; ++i) {
        for (std::size_t j = b * particles; j < (b + 1) * particles; ++j) {
          double r2 = position[4 * i] + position[4 * j];
          for (std::size_t d = 1; d <= 3; ++d) r2 -= position[4 * i + d] * position[4 * j + d];
          const double potential = charge[j] * std::exp(-2 * alpha * alpha * r2);
          result[4 * i] += potential;
          for (std::size_t d = 1; d <= 3; ++d)
            result[4 * i + d] += 2 * potential * (position[4 * i + d] - position[4 * j + d]);
        }
      }
    }
  }
  return {near("result", result)};
}

}  // namespace regatta::test
