// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace regatta::test {
namespace {

// The grid's layout in memory is part of the kernel.
constexpr int row = 128, slice = 32 * row, halo = slice + row, cells = 24 * slice + 2 * halo;
constexpr std::uint32_t obstacle = 1, accelerated = 2;

struct Direction {
  int x, y, z;
  int offset() const { return x + y * row + z * slice; }
  int length() const { return x * x + y * y + z * z; }
  float weight() const { return length() == 0 ? 1.0f / 3.0f : length() == 1 ? 1.0f / 18.0f : 1.0f / 36.0f; }
};
constexpr std::array<Direction, 19> directions = {{{0, 0, 0},
                                                   {0, 1, 0},
                                                   {0, -1, 0},
                                                   {1, 0, 0},
                                                   {-1, 0, 0},
                                                   {0, 0, 1},
                                                   {0, 0, -1},
                                                   {1, 1, 0},
                                                   {-1, -1, 0},
                                                   {-1, 1, 0},
                                                   {1, -1, 0},
                                                   {0, 1, 1},
                                                   {0, -1, -1},
                                                   {0, 1, -1},
                                                   {0, -1, 1},
                                                   {1, 0, 1},
                                                   {-1, 0, -1},
                                                   {1, 0, -1},
                                                   {-1, 0, 1}}};

float add(float sum, int sign, float value) { return sign > 0 ? sum + value : sign < 0 ? sum - value : sum; }

class Box {
 public:
  explicit Box(const LaunchData& data)
      : width_(data.scalar<std::int32_t>(0, "initialise")),
        height_(data.scalar<std::int32_t>(1, "initialise")),
        depth_(data.scalar<std::int32_t>(2, "initialise")) {
    const auto threshold = data.scalar<std::int32_t>(3, "initialise");
    const auto picture = data.buffer<std::uint8_t>("picture");
    const auto density = data.buffer<float>("density");
    std::size_t i = 0;
    for (int z = 0; z < depth_; ++z) {
      for (int y = 0; y < height_; ++y) {
        for (int x = 0; x < width_; ++x, ++i) {
          for (std::size_t d = 0; d < directions.size(); ++d)
            at(now_, d, cell(x, y, z)) = directions[d].weight() * density.at(i);
          const auto from_wall = [](int c, int size) { return std::min(c, size - 1 - c); };
          const int fx = from_wall(x, width_), fy = from_wall(y, height_), fz = from_wall(z, depth_);
          std::uint32_t flags = 0;
          if (fx == 0 || fy == 0 || fz == 0 || picture.at(i) > threshold)
            flags = obstacle;
          else if (fz == 1 && fx > 1 && fy > 1)
            flags = accelerated;
          std::memcpy(&at(now_, directions.size(), cell(x, y, z)), &flags, sizeof flags);
        }
      }
    }
    next_ = now_;
  }

  void step() {
    for (int z = 0; z < depth_; ++z) {
      for (int y = 0; y < height_; ++y) {
        for (int x = 0; x < width_; ++x) {
          const int c = cell(x, y, z);
          const auto f = after(c);
          for (std::size_t d = 0; d < f.size(); ++d) at(next_, d, c + directions[d].offset()) = f[d];
        }
      }
    }
    now_.swap(next_);
  }

  const std::vector<float>& now() const { return now_; }

 private:
  using Distributions = std::array<float, directions.size()>;

  static int cell(int x, int y, int z) { return halo + x + y * row + z * slice; }
  static float& at(std::vector<float>& grid, std::size_t entry, int cell) {
    return grid.at(entry * cells + static_cast<std::size_t>(cell));
  }

  /// A cell's distributions after collision or reflection.
  Distributions after(int c) {
    Distributions f, result;
    for (std::size_t d = 0; d < f.size(); ++d) f[d] = at(now_, d, c);
    std::uint32_t flags;
    std::memcpy(&flags, &at(now_, f.size(), c), sizeof flags);
    if (flags == obstacle) {
      for (std::size_t d = 0; d < f.size(); ++d) {
        for (std::size_t back = 0; back < f.size(); ++back) {
          if (directions[back].offset() == -directions[d].offset()) result[d] = f[back];
        }
      }
      return result;
    }
    float rho = 0, ux = 0, uy = 0, uz = 0;
    for (std::size_t d = 0; d < f.size(); ++d) {
      rho += f[d];
      ux = add(ux, directions[d].x, f[d]);
      uy = add(uy, directions[d].y, f[d]);
      uz = add(uz, directions[d].z, f[d]);
    }
    ux /= rho;
    uy /= rho;
    uz /= rho;
    if (flags == accelerated) {
      ux = 0.005f;
      uy = 0.002f;
      uz = 0;
    }
    constexpr float omega = 1.95f;
    const float energy = std::fma(1.5f, std::fma(ux, ux, std::fma(uy, uy, uz * uz)), -1.0f);
    for (std::size_t d = 0; d < f.size(); ++d) {
      const float along = add(add(add(0, directions[d].x, ux), directions[d].y, uy), directions[d].z, uz);
      const float equilibrium = std::fma(along, std::fma(4.5f, along, 3.0f), -energy);
      result[d] = std::fma(1.0f - omega, f[d], directions[d].weight() * omega * rho * equilibrium);
    }
    return result;
  }

  int width_, height_, depth_;
  std::vector<float> now_ = std::vector<float>((directions.size() + 1) * cells), next_;
};

}  // namespace

std::vector<Expected> expected_lbm(const LaunchData& data) {
  Box box(data);
  for (std::uint64_t i = 0; i < data.repetitions(); ++i) box.step();
  return {exact("now", box.now())};
}

}  // namespace regatta::test
