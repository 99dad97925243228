// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace regatta::test {
namespace {

/// A size of block and where it lies in a macroblock: four small blocks of 4 x 4 go into a quarter, and so on.
struct BlockSize {
  int width, height;
};
constexpr std::array<BlockSize, 7> sizes{{{16, 16}, {16, 8}, {8, 16}, {8, 8}, {8, 4}, {4, 8}, {4, 4}}};

/// Left and upper edge of block `block` of a macroblock. Those of 8 x 8 and smaller are numbered quarter by quarter.
std::array<int, 2> corner(const BlockSize& size, int block) {
  const int area = std::max({8, size.width, size.height});
  const int across = area / size.width, count = across * (area / size.height);
  const int quarter = block / count, inside = block % count;
  return {quarter % 2 * 8 + inside % across * size.width, quarter / 2 * 8 + inside / across * size.height};
}

}  // namespace

std::vector<Expected> expected_sad(const LaunchData& data) {
  const auto picture = data.buffer<std::uint16_t>("picture");
  const auto scalar = [&](std::size_t i) { return data.scalar<std::int32_t>(i, "sad_4x4"); };
  const int width = scalar(0), height = scalar(1), stride = scalar(2), range = scalar(3), padded = scalar(5);
  const auto before = [&](int x, int y) {
    return picture.at(static_cast<std::size_t>(std::clamp(y, 0, height - 1) * stride + std::clamp(x, 0, width - 1)));
  };
  const auto now = [&](int x, int y) { return picture.at(static_cast<std::size_t>((y + 3) * stride + x + 5)); };

  std::vector<std::uint16_t> sums;
  for (const BlockSize& size : sizes) {
    for (int y = 0; y < height; y += 16) {
      for (int x = 0; x < width; x += 16) {
        for (int block = 0; block < 256 / (size.width * size.height); ++block) {
          const auto at = corner(size, block);
          const std::size_t end = sums.size() + static_cast<std::size_t>(padded);
          for (int dy = -range; dy <= range; ++dy) {
            for (int dx = -range; dx <= range; ++dx) {
              int sum = 0;
              for (int v = y + at[1]; v < y + at[1] + size.height; ++v) {
                for (int u = x + at[0]; u < x + at[0] + size.width; ++u)
                  sum += std::abs(now(u, v) - before(u + dx, v + dy));
              }
              sums.push_back(static_cast<std::uint16_t>(sum));
            }
          }
          sums.resize(end);
        }
      }
    }
  }
  return {exact("sums", sums)};
}

}  // namespace regatta::test
