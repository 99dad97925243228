// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace regatta::test {
namespace {

constexpr std::size_t pixels = 16;
using Colour = std::array<float, 3>;
using Codes = std::array<unsigned, pixels>;
constexpr Colour levels{31, 63, 31};

/// All ways to divide 16 pixels into runs of the three or four codes.
std::vector<Codes> all_ways(const std::vector<unsigned>& codes) {
  std::vector<Codes> ways;
  const std::size_t middle = codes.size() == 4 ? pixels : 0;
  for (std::size_t a = 0; a <= pixels; ++a) {
    for (std::size_t b = 0; a + b <= pixels; ++b) {
      for (std::size_t c = 0; c <= middle && a + b + c <= pixels; ++c) {
        Codes way;
        way.fill(codes.back());
        std::fill_n(way.begin(), a, codes[0]);
        std::fill_n(way.begin() + static_cast<std::ptrdiff_t>(a), b, codes[1]);
        std::fill_n(way.begin() + static_cast<std::ptrdiff_t>(a + b), c, codes[2]);
        ways.push_back(way);
      }
    }
  }
  return ways;
}

float dot(const Colour& a, const Colour& b) { return std::fma(a[0], b[0], std::fma(a[1], b[1], a[2] * b[2])); }

/// Adds up 16 numbers as a tree: the upper half to the lower.
float tree_sum(std::array<float, pixels> values) {
  for (std::size_t half = pixels / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) values[i] += values[i + half];
  }
  return values[0];
}

/// The direction of the line through the colours.
Colour fitted_axis(const std::array<Colour, pixels>& colours) {
  std::array<std::array<float, pixels>, 3> off{};
  for (std::size_t c = 0; c < 3; ++c) {
    std::array<float, pixels> channel{};
    for (std::size_t i = 0; i < pixels; ++i) channel[i] = colours[i][c];
    const float mean = tree_sum(channel) / 16.0f;
    for (std::size_t i = 0; i < pixels; ++i) off[c][i] = colours[i][c] - mean;
  }
  std::array<Colour, 3> covariance{};
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t d = 0; d < 3; ++d) {
      std::array<float, pixels> products{};
      for (std::size_t i = 0; i < pixels; ++i) products[i] = off[c][i] * off[d][i];
      covariance[c][d] = tree_sum(products);
    }
  }
  Colour axis{1, 1, 1};
  for (int step = 0; step < 8; ++step) {
    const Colour v{dot(axis, covariance[0]), dot(axis, covariance[1]), dot(axis, covariance[2])};
    const float most = std::max({std::fabs(v[0]), std::fabs(v[1]), std::fabs(v[2])});
    if (most > 0) axis = {v[0] / most, v[1] / most, v[2] / most};
  }
  return axis;
}

struct Try {
  float error = 3.0e38f;
  Colour a{}, b{};
};

/// The best two colours for pixels of given weights of the second colour.
Try best_colours(const std::array<Colour, pixels>& sorted, const Codes& way, const std::array<float, 4>& weight) {
  float aa = 0, bb = 0, ab = 0;
  Colour ax{}, bx{};
  for (std::size_t i = 0; i < pixels; ++i) {
    const float beta = weight[way[i]], alpha = 1.0f - beta;
    aa = std::fma(alpha, alpha, aa);
    bb = std::fma(beta, beta, bb);
    ab = std::fma(alpha, beta, ab);
    for (std::size_t c = 0; c < 3; ++c) {
      ax[c] = std::fma(alpha, sorted[i][c], ax[c]);
      bx[c] = std::fma(beta, sorted[i][c], bx[c]);
    }
  }
  Try result;
  const float determinant = std::fma(aa, bb, -(ab * ab));
  if (std::fabs(determinant) < 0.01f) return result;
  const float factor = 1.0f / determinant;
  Colour errors{};
  for (std::size_t c = 0; c < 3; ++c) {
    const auto quantise = [&](float x) { return std::nearbyint(std::clamp(x * factor, 0.0f, 1.0f) * levels[c]); };
    result.a[c] = quantise(std::fma(ax[c], bb, -(bx[c] * ab)));
    result.b[c] = quantise(std::fma(bx[c], aa, -(ax[c] * ab)));
    const float a = result.a[c] / levels[c], b = result.b[c] / levels[c];
    const float mixed = std::fma(a * b, ab, -std::fma(a, ax[c], b * bx[c]));
    errors[c] = std::fma(a * a, aa, std::fma(b * b, bb, 2.0f * mixed));
  }
  result.error = errors[0] + errors[1] + errors[2];
  return result;
}

unsigned packed(const Colour& c) {
  return static_cast<unsigned>(c[0]) * 2048 + static_cast<unsigned>(c[1]) * 32 + static_cast<unsigned>(c[2]);
}

}  // namespace

std::vector<Expected> expected_dxtc(const LaunchData& data) {
  const std::array<std::vector<std::uint8_t>, 3> planes{
      data.buffer<std::uint8_t>("red"), data.buffer<std::uint8_t>("green"), data.buffer<std::uint8_t>("blue")};
  const auto width = static_cast<std::size_t>(data.scalar<std::int32_t>(0, "blocks"));
  const auto height = static_cast<std::size_t>(data.scalar<std::int32_t>(1, "blocks"));
  const auto stride = static_cast<std::size_t>(data.scalar<std::int32_t>(2, "permutations"));
  const std::array<std::vector<Codes>, 2> ways{all_ways({0, 2, 3, 1}), all_ways({0, 2, 1})};
  const std::array<std::array<float, 4>, 2> weights{{{0, 1, 1.0f / 3.0f, 2.0f / 3.0f}, {0, 1, 0.5f, 0.5f}}};

  std::vector<std::uint32_t> result;
  for (std::size_t y = 0; y < height; y += 4) {
    for (std::size_t x = 0; x < width; x += 4) {
      std::array<Colour, pixels> colours{};
      for (std::size_t i = 0; i < pixels; ++i) {
        for (std::size_t c = 0; c < 3; ++c)
          colours[i][c] = static_cast<float>(planes[c][(y + i / 4) * width + x + i % 4]) / 255.0f;
      }
      const Colour axis = fitted_axis(colours);
      std::array<std::size_t, pixels> order{};
      for (std::size_t i = 0; i < pixels; ++i) order[i] = i;
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return dot(colours[a], axis) < dot(colours[b], axis); });
      std::array<Colour, pixels> sorted{};
      for (std::size_t i = 0; i < pixels; ++i) sorted[i] = colours[order[i]];

      Try best;
      Codes way{};
      bool thirds = true;
      for (const std::size_t kind : {0u, 1u}) {
        for (std::size_t i = 0; i < ways[kind].size(); i += stride) {
          const Try t = best_colours(sorted, ways[kind][i], weights[kind]);
          if (!(t.error < best.error)) continue;
          best = t;
          way = ways[kind][i];
          thirds = kind == 0;
        }
      }
      unsigned first = packed(best.a), second = packed(best.b), bits = 0;
      const bool exchange = thirds ? first < second : first > second;
      if (exchange) std::swap(first, second);
      static constexpr std::array<unsigned, 4> exchanged_thirds{1, 0, 3, 2}, exchanged_halves{1, 0, 2, 3};
      for (std::size_t i = 0; i < pixels; ++i) {
        unsigned code = way[i];
        if (exchange) code = (thirds ? exchanged_thirds : exchanged_halves)[code];
        if (first != second) bits |= code << (2 * order[i]);
      }
      result.push_back(second << 16 | first);
      result.push_back(bits);
    }
  }
  return {exact("result", result)};
}

}  // namespace regatta::test
