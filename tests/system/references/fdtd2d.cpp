// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cmath>

namespace {

struct Field {
  int rows;
  int columns;
  std::vector<float> values = std::vector<float>(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  float& at(int row, int column) { return values.at(static_cast<std::size_t>(row * columns + column)); }
  /// Element (row, column) is ((row - up) * (column + right) + plus) / scale.
  void fill(int up, int right, int plus, int scale) {
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        at(row, column) = static_cast<float>((row - up) * (column + right) + plus) / static_cast<float>(scale);
      }
    }
  }
};

}  // namespace

namespace regatta::test {

std::vector<Expected> expected_fdtd2d(const LaunchData& data) {
  const int rows = data.scalar<std::int32_t>(0, "hz");
  const int columns = data.scalar<std::int32_t>(1, "hz");
  const auto source = data.buffer<float>("source");
  Field ex{rows, columns + 1};
  Field ey{rows + 1, columns};
  Field hz{rows, columns};
  ex.fill(0, 1, 1, rows);
  ey.fill(1, 2, 2, rows);
  hz.fill(9, 4, 3, rows);

  for (std::uint64_t step = 0; step < data.repetitions(); ++step) {
    for (int column = 0; column < columns; ++column) {
      ey.at(0, column) = source.at(step);
      for (int row = 1; row < rows; ++row) {
        float& value = ey.at(row, column);
        value = std::fma(-0.5f, hz.at(row, column) - hz.at(row - 1, column), value);
      }
    }
    for (int row = 0; row < rows; ++row) {
      for (int column = 1; column < columns; ++column) {
        float& value = ex.at(row, column);
        value = std::fma(-0.5f, hz.at(row, column) - hz.at(row, column - 1), value);
      }
    }
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        const float curl = ex.at(row, column + 1) - ex.at(row, column) + ey.at(row + 1, column) - ey.at(row, column);
        float& value = hz.at(row, column);
        value = std::fma(-0.7f, curl, value);
      }
    }
  }
  return {exact("ex", ex.values), exact("ey", ey.values), exact("hz", hz.values)};
}

}  // namespace regatta::test
