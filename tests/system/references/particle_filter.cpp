// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace regatta::test {
namespace {

constexpr double pi = 3.14159265358979323846;

/// From 0 to 1. All random numbers are exact.
float uniform(std::int32_t& seed) {
  seed = static_cast<std::int32_t>(1103515245u * static_cast<std::uint32_t>(seed) + 12345u) % 2147483647;
  return std::abs(static_cast<float>(seed) / 2147483648.0f);
}

double normal(std::int32_t& seed) {
  const double u = static_cast<double>(uniform(seed));
  const double v = static_cast<double>(uniform(seed));
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * pi * v);
}

/// exp(x) as the kernel defines it: 2^power times a Taylor series of the rest.
float exponential(float x) {
  const float power = std::nearbyint(x * 1.44269504f);
  const float rest = std::fma(power, 1.42860677e-6f, std::fma(power, -0.693148613f, x));
  float sum = 0;
  for (const int factorial : {720, 120, 24, 6, 2, 1, 1})
    sum = std::fma(sum, rest, 1.0f / static_cast<float>(factorial));
  return std::ldexp(sum, static_cast<int>(power));
}

struct Video {
  int width, height, frames;
  std::vector<std::uint8_t> pixels;
  float at(int x, int y, int frame) const {
    const auto i = static_cast<std::size_t>(std::abs((x * height + y) * frames + frame));
    return static_cast<float>(pixels[i < pixels.size() ? i : 0]);
  }
};

/// How much the surroundings of a place look like a disk of brightness 228 on a background of 100.
float likelihood(const Video& video, int x, int y, int frame, int radius) {
  float sum = 0;
  int pixels = 0;
  for (int dx = -radius; dx <= radius; ++dx) {
    for (int dy = -radius; dy <= radius; ++dy) {
      if (dx * dx + dy * dy >= radius * radius) continue;
      const float brightness = video.at(x + dx, y + dy, frame);
      sum += (std::pow(brightness - 100.0f, 2.0f) - std::pow(brightness - 228.0f, 2.0f)) / 50.0f;
      ++pixels;
    }
  }
  return sum / static_cast<float>(pixels);
}

/// Of a power of two values.
float tree_sum(std::vector<float> values) {
  for (std::size_t half = values.size() / 2; half > 0; half /= 2) {
    for (std::size_t k = 0; k < half; ++k) values[k] += values[k + half];
  }
  return values[0];
}

}  // namespace

std::vector<Expected> expected_particle_filter(const LaunchData& data) {
  const auto scalar = [&](std::size_t i) { return data.scalar<std::int32_t>(i, "likelihood"); };
  const Video video{scalar(2), scalar(3), scalar(4), data.buffer<std::uint8_t>("video")};
  const auto particles = static_cast<std::size_t>(scalar(0));
  // CTAs of a power of two threads, as few as needed.
  const auto ctas = static_cast<std::size_t>(data.scalar<std::int32_t>(0, "sum"));
  std::size_t cta = 1;
  while (cta * ctas < particles) cta *= 2;
  const int radius = data.scalar<std::int32_t>(0, "disk");
  const float share = 1.0f / static_cast<float>(particles);
  auto seed = data.buffer<std::int32_t>("seed");
  std::vector<double> x, y;
  for (const float v : data.buffer<float>("old_x")) x.push_back(static_cast<double>(v));
  for (const float v : data.buffer<float>("old_y")) y.push_back(static_cast<double>(v));
  std::vector<float> weights(particles), sums, cumulative(particles);
  float start = 0;

  for (int frame = 0; frame < static_cast<int>(data.repetitions()); ++frame) {
    for (std::size_t i = 0; i < particles; ++i) {
      x[i] += 1 + 5 * normal(seed[i]);
      y[i] += -2 + 2 * normal(seed[i]);
      // No place is negative or so close to half a pixel that an f32 would be rounded differently.
      const int column = static_cast<int>(std::floor(x[i] + 0.5));
      const int row = static_cast<int>(std::floor(y[i] + 0.5));
      weights[i] = share * exponential(likelihood(video, column, row, frame, radius));
    }
    sums.clear();
    for (std::size_t i = 0; i < particles; i += cta) {
      std::vector<float> part(cta);
      std::copy_n(&weights[i], std::min(cta, particles - i), part.begin());
      sums.push_back(tree_sum(std::move(part)));
    }
    float total = 0;
    for (const float s : sums) total += s;
    sums[0] = total;
    float sum = 0;
    for (std::size_t i = 0; i < particles; ++i) {
      weights[i] /= total;
      cumulative[i] = sum += weights[i];
    }
    start = share * uniform(seed[0]);
    const std::vector<double> old_x = x, old_y = y;
    for (std::size_t i = 0; i < particles; ++i) {
      const float target = start + static_cast<float>(i) / static_cast<float>(particles);
      const auto found = std::find_if(cumulative.begin(), cumulative.end(), [&](float c) { return c >= target; });
      const auto from = std::min(static_cast<std::size_t>(found - cumulative.begin()), particles - 1);
      x[i] = old_x[from];
      y[i] = old_y[from];
    }
  }
  return {exact("weights", weights),
          exact("partial_sums", sums),
          exact("cumulative", cumulative),
          exact("start", std::vector<float>{start}),
          exact("seed", seed),
          near("old_x", x),
          near("old_y", y)};
}

}  // namespace regatta::test
