// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cmath>

namespace regatta::test {
namespace {

struct System {
  std::size_t size;
  std::vector<float> matrix, multipliers, right;
  float& at(std::size_t row, std::size_t column) { return matrix.at(row * size + column); }
};

/// Every row has its pivots subtracted one after the other, as soon as the rows above are done.
void eliminate(System& s) {
  for (std::size_t row = 1; row < s.size; ++row) {
    for (std::size_t pivot = 0; pivot < row; ++pivot) {
      const float multiplier = s.at(row, pivot) / s.at(pivot, pivot);
      s.multipliers[row * s.size + pivot] = multiplier;
      for (std::size_t column = pivot; column < s.size; ++column)
        s.at(row, column) = std::fma(-multiplier, s.at(pivot, column), s.at(row, column));
      s.right[row] = std::fma(-multiplier, s.right[pivot], s.right[row]);
    }
  }
}

}  // namespace

std::vector<Expected> expected_gaussian(const LaunchData& data) {
  System s;
  s.size = static_cast<std::size_t>(data.scalar<std::int32_t>(0, "eliminate"));
  s.multipliers = data.buffer<float>("multipliers");
  s.right = data.buffer<float>("right");
  s.matrix.resize(s.size * s.size);
  const auto coefficient = data.buffer<float>("coefficient");
  for (std::size_t row = 0; row < s.size; ++row) {
    for (std::size_t column = 0; column < s.size; ++column)
      s.at(row, column) = coefficient.at(row > column ? row - column : column - row);
  }
  eliminate(s);
  return {exact("matrix", s.matrix), exact("multipliers", s.multipliers), exact("right", s.right)};
}

}  // namespace regatta::test
