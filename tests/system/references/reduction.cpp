// SPDX-License-Identifier: Apache-2.0
#include "reduction.h"

#include "expected.h"

#include <algorithm>

namespace reference {
namespace {

constexpr std::size_t per_thread = 4;
constexpr std::size_t warp = 32;
constexpr std::size_t threads = 256;

/// Adds the upper half of a warp's sums to the lower until one is left.
float halved(std::vector<float> sums) {
  sums.resize(warp, 0.0f);
  for (std::size_t distance = warp / 2; distance > 0; distance /= 2) {
    for (std::size_t lane = 0; lane < distance; ++lane) sums[lane] += sums[lane + distance];
  }
  return sums[0];
}

float of_cta(const std::vector<float>& values, std::size_t first) {
  std::vector<float> of_warp;
  for (std::size_t w = 0; w < threads / warp; ++w) {
    std::vector<float> sums;
    for (std::size_t lane = 0; lane < warp; ++lane) {
      const std::size_t begin = std::min(first + (w * warp + lane) * per_thread, values.size());
      const std::size_t end = std::min(begin + per_thread, values.size());
      // A thread with all its four starts from the first of them, one with fewer from zero: the sign of a zero shows
      // it.
      float sum = end - begin == per_thread ? values[begin] : 0.0f;
      for (std::size_t i = begin + (end - begin == per_thread ? 1 : 0); i < end; ++i) sum += values[i];
      sums.push_back(sum);
    }
    of_warp.push_back(halved(sums));
  }
  return halved(of_warp);
}

}  // namespace

float reduction(std::vector<float> values) {
  while (values.size() > 1) {
    std::vector<float> sums;
    for (std::size_t first = 0; first < values.size(); first += threads * per_thread)
      sums.push_back(of_cta(values, first));
    values.swap(sums);
  }
  return values.at(0);
}

}  // namespace reference

namespace regatta::test {

std::vector<Expected> expected_reduction(const LaunchData& data) {
  return {exact("sum", std::vector<float>{reference::reduction(data.buffer<float>("values"))})};
}

}  // namespace regatta::test
