// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cstdlib>

namespace {

/// A matrix of integers, row by row.
struct Plane {
  int width;
  int height;
  std::vector<std::int32_t> values;
  Plane(int w, int h) : width(w), height(h), values(static_cast<std::size_t>(w * h)) {}
  std::int32_t& at(int x, int y) { return values.at(static_cast<std::size_t>(y * width + x)); }
};

/// 5/3 lifting of a whole line: odd elements become differences from the mean of their neighbours, then even elements
/// averages. Floors, as JPEG 2000 demands (ITU-T T.800, Annex F). Beyond an end the line is mirrored.
void lift(std::vector<std::int32_t>& line) {
  const int size = static_cast<int>(line.size());
  const auto value = [&line, size](int i) {
    return line.at(static_cast<std::size_t>(i < size ? std::abs(i) : 2 * (size - 1) - i));
  };
  const auto floor_divide = [](int a, int b) { return a / b - (a % b < 0 ? 1 : 0); };
  for (int i = 1; i < size; i += 2) line[static_cast<std::size_t>(i)] -= floor_divide(value(i - 1) + value(i + 1), 2);
  for (int i = 0; i < size; i += 2)
    line[static_cast<std::size_t>(i)] += floor_divide(value(i - 1) + value(i + 1) + 2, 4);
}

/// Transforms `levels` times and returns the bands of all levels behind one another.
std::vector<std::int32_t> bands(Plane plane, int levels) {
  for (int y = 0; y < plane.height; ++y) {
    std::vector<std::int32_t> line;
    for (int x = 0; x < plane.width; ++x) line.push_back(plane.at(x, y));
    lift(line);
    for (int x = 0; x < plane.width; ++x) plane.at(x, y) = line[static_cast<std::size_t>(x)];
  }
  for (int x = 0; x < plane.width; ++x) {
    std::vector<std::int32_t> line;
    for (int y = 0; y < plane.height; ++y) line.push_back(plane.at(x, y));
    lift(line);
    for (int y = 0; y < plane.height; ++y) plane.at(x, y) = line[static_cast<std::size_t>(y)];
  }

  Plane low((plane.width + 1) / 2, (plane.height + 1) / 2);
  std::vector<std::int32_t> others;
  for (const int band : {0, 1, 2, 3}) {
    for (int y = band / 2; y < plane.height; y += 2) {
      for (int x = band % 2; x < plane.width; x += 2) {
        if (band == 0) {
          low.at(x / 2, y / 2) = plane.at(x, y);
        } else {
          others.push_back(plane.at(x, y));
        }
      }
    }
  }
  std::vector<std::int32_t> all = levels > 1 ? bands(low, levels - 1) : low.values;
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace

namespace regatta::test {

std::vector<Expected> expected_dwt2d(const LaunchData& data) {
  constexpr int levels = 3;
  const int width = data.scalar<std::int32_t>(0, "red_1");
  const int height = data.scalar<std::int32_t>(1, "red_1");
  const auto colours = data.buffer<std::uint8_t>("colours");
  std::vector<Expected> expected;
  std::size_t colour = 0;
  for (const char* name : {"red", "green", "blue"}) {
    Plane plane(width, height);
    for (std::size_t i = 0; i < plane.values.size(); ++i) plane.values[i] = colours.at(3 * i + colour) - 128;
    ++colour;
    expected.push_back(exact(name, plane.values));
    expected.push_back(exact(name + std::string("_bands"), bands(plane, levels)));
  }
  return expected;
}

}  // namespace regatta::test
