// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace {

/// A square of pixels; 0 beyond its border.
struct Square {
  int side;
  std::vector<float> pixels;
  float at(int row, int column) const {
    if (row < 0 || column < 0 || row >= side || column >= side) return 0;
    return pixels[static_cast<std::size_t>(row * side + column)];
  }
};

struct Film {
  std::vector<float> pixels;
  int stride;
  int advance;
  Square cut(int frame, int row, int column, int half) const {
    Square s{2 * half + 1, {}};
    for (int r = row - half; r <= row + half; ++r) {
      for (int c = column - half; c <= column + half; ++c)
        s.pixels.push_back(pixels.at(static_cast<std::size_t>(frame * advance + r * stride + c)));
    }
    return s;
  }
};

/// Sums whose order does not matter: pixels are multiples of a power of two, and all sums of them fit in 24 bits.
struct Sums {
  double a = 0, aa = 0, b = 0, bb = 0, ab = 0;
};

float deviation(double sum, double squares, float count) {
  const auto s = static_cast<float>(sum);
  return std::sqrt(std::max(std::fma(-s, s / count, static_cast<float>(squares)), 0.0f));
}

/// Normalised correlation of `small` with the pixels of `large` that lie under it when its centre is `row`, `column`
/// away from the centre of `large`.
float correlation(const Square& small, const Square& large, int row, int column) {
  Sums s;
  const int shift = (large.side - small.side) / 2;
  for (int r = 0; r < small.side; ++r) {
    for (int c = 0; c < small.side; ++c) {
      const double a = static_cast<double>(small.at(r, c));
      const double b = static_cast<double>(large.at(r + shift + row, c + shift + column));
      s.a += a;
      s.aa += a * a;
      s.b += b;
      s.bb += b * b;
      s.ab += a * b;
    }
  }
  const auto count = static_cast<float>(small.side * small.side);
  const float scale = deviation(s.a, s.aa, count) * deviation(s.b, s.bb, count);
  const float product = std::fma(-static_cast<float>(s.b), static_cast<float>(s.a) / count, static_cast<float>(s.ab));
  return scale > 0 ? product / scale : 0;
}

}  // namespace

namespace regatta::test {

std::vector<Expected> expected_heartwall(const LaunchData& data) {
  const auto scalar = [&](std::size_t index) { return data.scalar<std::int32_t>(index, "track"); };
  const Film film{data.buffer<float>("film"), scalar(0), scalar(1)};
  const int frames = scalar(2), reach = scalar(4), half = scalar(5), leap = scalar(6), interval = scalar(7);
  const float keep = data.scalar<float>(8, "track");
  auto rows = data.buffer<std::int32_t>("rows");
  auto columns = data.buffer<std::int32_t>("columns");
  std::vector<std::int32_t> path_rows, path_columns;
  std::vector<float> templates, correlations;

  for (std::size_t p = 0; p < rows.size(); ++p) {
    Square pattern = film.cut(0, rows[p], columns[p], half);
    path_rows.push_back(rows[p]);
    path_columns.push_back(columns[p]);
    int row = 0, column = 0;  // offset
    for (int frame = 1; frame < frames; ++frame) {
      const Square window = film.cut(frame, rows[p], columns[p], reach);
      const int most = reach + half;
      if (frame == frames - 1) {
        for (int r = -most; r <= most; ++r) {
          for (int c = -most; c <= most; ++c) correlations.push_back(correlation(pattern, window, r, c));
        }
      }
      float best = 0;
      int best_row = row, best_column = column;
      for (int r = std::max(row - leap, -most); r <= std::min(row + leap, most); ++r) {
        for (int c = std::max(column - leap, -most); c <= std::min(column + leap, most); ++c) {
          const float value = correlation(pattern, window, r, c);
          if (value <= best) continue;
          best = value;
          best_row = r;
          best_column = c;
        }
      }
      row = best_row;
      column = best_column;
      path_rows.push_back(rows[p] + row);
      path_columns.push_back(columns[p] + column);
      if (frame % interval != 0) continue;
      rows[p] += row;
      columns[p] += column;
      row = column = 0;
      const Square now = film.cut(frame, rows[p], columns[p], half);
      for (std::size_t i = 0; i < now.pixels.size(); ++i)
        pattern.pixels[i] = std::fma(keep, pattern.pixels[i], (1 - keep) * now.pixels[i]);
    }
    templates.insert(templates.end(), pattern.pixels.begin(), pattern.pixels.end());
  }
  return {exact("path_rows", path_rows), exact("path_columns", path_columns), exact("templates", templates),
          exact("correlations", correlations)};
}

}  // namespace regatta::test
