// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <algorithm>
#include <cmath>

namespace regatta::test {
namespace {

constexpr int circles = 7;
constexpr int points = 150;
constexpr int margin = 22;
constexpr int disk_radius = 12;

/// A picture that lies column by column.
struct Picture {
  int rows;
  int columns;
  std::vector<float> pixels;
  float& at(int row, int column) { return pixels.at(static_cast<std::size_t>(column * rows + row)); }
  Picture empty() const { return {rows, columns, std::vector<float>(pixels.size())}; }
};

/// Towards zero, except just below a whole number, where rounding would decide.
int whole(double x) { return static_cast<int>(x + std::copysign(1e-9, x)); }

/// Squared mean over variance of the gradient along the normal of a circle.
float fit(Picture& across, Picture& down, int row, int column, int radius, int point_step) {
  float sum = 0, mean = 0, spread = 0, count = 0;
  for (int n = 0; n < points; n += point_step) {
    const double angle = 2 * std::acos(-1.0) * n / points;
    const int u = column + whole(radius * std::cos(angle));
    const int v = row + whole(radius * std::sin(angle));
    const float normal = std::fma(across.at(v, u), static_cast<float>(std::cos(angle)),
                                  down.at(v, u) * static_cast<float>(std::sin(angle)));
    count += 1;
    sum += normal;
    const float deviation = normal - mean;
    mean += deviation / count;
    spread = std::fma(deviation, normal - mean, spread);
  }
  const float variance = spread / (count - 1);
  return variance > 0 ? (sum / count) * (sum / count) / variance : 0;
}

}  // namespace

std::vector<Expected> expected_leukocyte(const LaunchData& data) {
  Picture frame{data.scalar<std::int32_t>(0, "gradient"), data.scalar<std::int32_t>(1, "gradient"),
                data.buffer<float>("frame")};
  const int circle_step = data.scalar<std::int32_t>(1, "gicov");
  const int point_step = data.scalar<std::int32_t>(2, "gicov");
  const int disk_step = data.scalar<std::int32_t>(2, "dilate");

  Picture across = frame.empty(), down = frame.empty(), scores = frame.empty(), dilated = frame.empty();
  for (int x = 0; x < frame.columns; ++x) {
    for (int y = 0; y < frame.rows; ++y) {
      const int left = std::max(x - 1, 0), right = std::min(x + 1, frame.columns - 1);
      const int above = std::max(y - 1, 0), below = std::min(y + 1, frame.rows - 1);
      across.at(y, x) = (frame.at(y, right) - frame.at(y, left)) / static_cast<float>(right - left);
      down.at(y, x) = (frame.at(below, x) - frame.at(above, x)) / static_cast<float>(below - above);
    }
  }
  for (int x = margin; x < frame.columns - margin; ++x) {
    for (int y = margin; y < frame.rows - margin; ++y) {
      for (int k = 0; k < circles; k += circle_step)
        scores.at(y, x) = std::max(scores.at(y, x), fit(across, down, y, x, 8 + 2 * k, point_step));
    }
  }
  for (int x = 0; x < frame.columns; ++x) {
    for (int y = 0; y < frame.rows; ++y) {
      for (int dx = -disk_radius; dx <= disk_radius; dx += disk_step) {
        for (int dy = -disk_radius; dy <= disk_radius; dy += disk_step) {
          const int u = x + dx, v = y + dy;
          if (u < 0 || u >= frame.columns || v < 0 || v >= frame.rows) continue;
          if (dx * dx + dy * dy < disk_radius * disk_radius)
            dilated.at(y, x) = std::max(dilated.at(y, x), scores.at(v, u));
        }
      }
    }
  }
  return {exact("scores", scores.pixels), exact("dilated", dilated.pixels)};
}

}  // namespace regatta::test
