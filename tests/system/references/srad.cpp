// SPDX-License-Identifier: Apache-2.0
#include "srad.h"

#include "expected.h"

#include <algorithm>
#include <cmath>

namespace reference {
namespace {

constexpr double scale = 255;

struct Image {
  int rows;
  int columns;
  std::vector<double> pixels;
  /// Beyond the border lies the border again.
  double at(int row, int column) const {
    return pixels[static_cast<std::size_t>(std::clamp(row, 0, rows - 1) * columns +
                                           std::clamp(column, 0, columns - 1))];
  }
};

/// Variance over squared mean.
double speckle(const Image& image) {
  double sum = 0, squares = 0;
  for (const double p : image.pixels) {
    sum += p;
    squares += p * p;
  }
  const double count = static_cast<double>(image.pixels.size());
  const double mean = sum / count;
  return (squares / count - mean * mean) / (mean * mean);
}

/// The diffusion coefficient of Yu and Acton 2002, with differences taken between neighbours.
double coefficient(const Image& image, int row, int column, double q0) {
  const double here = image.at(row, column);
  double gradient = 0, laplacian = 0;
  for (const auto& d : {std::pair(-1, 0), std::pair(1, 0), std::pair(0, -1), std::pair(0, 1)}) {
    const double difference = (image.at(row + d.first, column + d.second) - here) / here;
    gradient += difference * difference;
    laplacian += difference;
  }
  const double whole = 1 + laplacian / 4;
  const double q = (gradient / 2 - laplacian * laplacian / 16) / (whole * whole);
  return std::clamp(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0.0, 1.0);
}

}  // namespace

std::vector<double> srad(const std::vector<float>& picture, int rows, int columns, double step, int steps) {
  Image now{rows, columns, {}};
  for (const float p : picture) now.pixels.push_back(std::exp(p / scale));
  for (int s = 0; s < steps; ++s) {
    const double q0 = speckle(now);
    Image c = now;
    Image next = now;
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column)
        c.pixels[static_cast<std::size_t>(row * columns + column)] = coefficient(now, row, column, q0);
    }
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        const double here = now.at(row, column);
        // Between two pixels flows what the southern or eastern of them lets through.
        const double divergence = c.at(row, column) * (now.at(row - 1, column) - here) +
                                  c.at(row + 1, column) * (now.at(row + 1, column) - here) +
                                  c.at(row, column) * (now.at(row, column - 1) - here) +
                                  c.at(row, column + 1) * (now.at(row, column + 1) - here);
        next.pixels[static_cast<std::size_t>(row * columns + column)] = here + step / 4 * divergence;
      }
    }
    now.pixels.swap(next.pixels);
  }
  for (double& p : now.pixels) p = std::log(p) * scale;
  return now.pixels;
}

}  // namespace reference

namespace regatta::test {

std::vector<Expected> expected_srad(const LaunchData& data) {
  return {near("picture", reference::srad(data.buffer<float>("picture"), data.scalar<std::int32_t>(0, "update"),
                                          data.scalar<std::int32_t>(1, "update"),
                                          static_cast<double>(data.scalar<float>(2, "update")),
                                          static_cast<int>(data.repetitions())))};
}

}  // namespace regatta::test
