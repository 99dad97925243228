// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <array>
#include <cmath>

namespace regatta::test {
namespace {

constexpr std::size_t bins = 20;

using Direction = std::array<float, 3>;
using Histogram = std::array<std::uint32_t, bins>;

std::vector<Direction> directions(const std::vector<float>& points) {
  std::vector<Direction> result;
  for (std::size_t i = 0; i + 2 < points.size(); i += 3) {
    const float x = points[i], y = points[i + 1], z = points[i + 2];
    const float length = std::sqrt(std::fma(x, x, std::fma(y, y, z * z)));
    result.push_back({x / length, y / length, z / length});
  }
  return result;
}

/// Cosines of the angles between bins, five to a factor of ten, from one minute of arc.
std::array<float, bins + 1> edges() {
  std::array<float, bins + 1> result{};
  const double minute = std::acos(-1.0) / 180 / 60;
  for (std::size_t k = 0; k <= bins; ++k) {
    result[k] = static_cast<float>(std::cos(std::pow(10.0, static_cast<double>(k) / 5) * minute));
  }
  return result;
}

void count_pair(Histogram& histogram, const Direction& a, const Direction& b) {
  static const std::array<float, bins + 1> edge = edges();
  const float cosine = std::fma(a[0], b[0], std::fma(a[1], b[1], a[2] * b[2]));
  for (std::size_t bin = 0; bin < bins; ++bin) {
    if (cosine < edge[bin] && cosine >= edge[bin + 1]) ++histogram[bin];
  }
}

Histogram pairs_inside(const std::vector<Direction>& set) {
  Histogram histogram{};
  for (std::size_t i = 0; i < set.size(); ++i) {
    // The later one is the first factor, as in the kernel.
    for (std::size_t k = 0; k < i; ++k) count_pair(histogram, set[i], set[k]);
  }
  return histogram;
}

Histogram pairs_between(const std::vector<Direction>& observed, const std::vector<Direction>& random) {
  Histogram histogram{};
  for (const Direction& r : random) {
    for (const Direction& o : observed) count_pair(histogram, r, o);
  }
  return histogram;
}

}  // namespace

std::vector<Expected> expected_two_point_angular(const LaunchData& data) {
  const std::vector<Direction> observed = directions(data.buffer<float>("observed"));
  const std::vector<Direction> random = directions(data.buffer<float>("random"));
  const auto sets = data.scalar<std::int32_t>(0, "count");
  const std::ptrdiff_t elements = data.scalar<std::int32_t>(1, "count");
  std::vector<Histogram> inside{pairs_inside(observed)};
  std::vector<Histogram> between;
  for (std::int32_t s = 0; s < sets; ++s) {
    const std::vector<Direction> set(random.begin() + s * elements, random.begin() + (s + 1) * elements);
    inside.push_back(pairs_inside(set));
    between.push_back(pairs_between(observed, set));
  }
  std::vector<std::uint32_t> histograms;
  for (const auto* part : {&inside, &between}) {
    for (const Histogram& h : *part) histograms.insert(histograms.end(), h.begin(), h.end());
  }
  return {exact("histograms", histograms)};
}

}  // namespace regatta::test
