// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <algorithm>
#include <cmath>

namespace {

struct Picture {
  int rows;
  int columns;
  std::vector<float> pixels;
  /// Beyond the border lies the border again.
  float& at(int row, int column) {
    return pixels[static_cast<std::size_t>(std::clamp(row, 0, rows - 1) * columns +
                                           std::clamp(column, 0, columns - 1))];
  }
};

struct Region {
  int first_row, last_row, first_column, last_column;
};

/// Adds up as 256 threads in turn and then a tree do.
float add_up(const std::vector<float>& values, bool squared) {
  std::vector<float> sums(256);
  for (std::size_t i = 0; i < values.size(); ++i) {
    float& s = sums[i % sums.size()];
    s = squared ? std::fma(values[i], values[i], s) : s + values[i];
  }
  for (std::size_t half = sums.size() / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

float speckle(Picture& image, const Region& region) {
  std::vector<float> values;
  for (int row = region.first_row; row <= region.last_row; ++row) {
    for (int column = region.first_column; column <= region.last_column; ++column)
      values.push_back(image.at(row, column));
  }
  const auto count = static_cast<float>(values.size());
  const float mean = add_up(values, false) / count;
  return std::fma(-mean, mean, add_up(values, true) / count) / (mean * mean);
}

/// The diffusion coefficient of Yu and Acton 2002.
float coefficient(Picture& image, int row, int column, float q) {
  const float p = image.at(row, column);
  const float north = image.at(row - 1, column) - p, south = image.at(row + 1, column) - p;
  const float west = image.at(row, column - 1) - p, east = image.at(row, column + 1) - p;
  float squares = east * east;
  for (const float d : {west, south, north}) squares = std::fma(d, d, squares);
  const float laplacian = ((north + south) + (west + east)) / p;
  const float whole = 1 + laplacian * 0.25f;  // the product is exact
  const float variation = std::fma(0.5f, squares / (p * p), -0.0625f * laplacian * laplacian) / (whole * whole);
  return std::clamp(1 / (1 + (variation - q) / (q * (1 + q))), 0.0f, 1.0f);
}

}  // namespace

namespace regatta::test {

std::vector<Expected> expected_srad2(const LaunchData& data) {
  Picture image{data.scalar<std::int32_t>(1, "update"), data.scalar<std::int32_t>(0, "update"),
                data.buffer<float>("image")};
  const Region region{data.scalar<std::int32_t>(1, "statistics"), data.scalar<std::int32_t>(2, "statistics"),
                      data.scalar<std::int32_t>(3, "statistics"), data.scalar<std::int32_t>(4, "statistics")};
  const float step = 0.25f * data.scalar<float>(2, "update");
  Picture c = image;
  for (std::uint64_t i = 0; i < data.repetitions(); ++i) {
    const float q = speckle(image, region);
    for (int row = 0; row < image.rows; ++row) {
      for (int column = 0; column < image.columns; ++column) c.at(row, column) = coefficient(image, row, column, q);
    }
    Picture next = image;
    for (int row = 0; row < image.rows; ++row) {
      for (int column = 0; column < image.columns; ++column) {
        const float p = image.at(row, column);
        float flow = c.at(row, column + 1) * (image.at(row, column + 1) - p);
        flow = std::fma(c.at(row, column), image.at(row, column - 1) - p, flow);
        flow = std::fma(c.at(row + 1, column), image.at(row + 1, column) - p, flow);
        flow = std::fma(c.at(row, column), image.at(row - 1, column) - p, flow);
        next.at(row, column) = std::fma(step, flow, p);
      }
    }
    image = next;
  }
  return {exact("image", image.pixels), exact("coefficient", c.pixels)};
}

}  // namespace regatta::test
