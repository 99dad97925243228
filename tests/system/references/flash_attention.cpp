// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "expected.h"
#include "small_float.h"

namespace regatta::test {
namespace {

constexpr std::size_t flash_head = 128;

}  // namespace

std::vector<Expected> expected_flash_attention(const LaunchData& data) {
  const auto halves = [&](const char* name) { return reference::half.decoded(data.buffer<std::uint16_t>(name)); };
  const auto q = halves("q"), k = halves("k"), v = halves("v");
  const auto length = static_cast<std::size_t>(data.scalar<std::int32_t>(0));
  const auto scale = static_cast<double>(data.scalar<float>(1));
  std::vector<double> out(q.size(), 0), score;
  for (std::size_t row = 0; row < q.size() / flash_head; ++row) {
    const std::size_t first = row / length * length;  // of the head
    score.clear();
    for (std::size_t other = first; other <= row; ++other) {
      double sum = 0;
      for (std::size_t i = 0; i < flash_head; ++i) sum += q[row * flash_head + i] * k[other * flash_head + i];
      score.push_back(sum * scale);
    }
    const double most = *std::max_element(score.begin(), score.end());
    double sum = 0;
    for (double& x : score) sum += x = std::exp(x - most);
    for (std::size_t other = first; other <= row; ++other) {
      for (std::size_t i = 0; i < flash_head; ++i)
        out[row * flash_head + i] += score[other - first] / sum * v[other * flash_head + i];
    }
  }
  // Weights are rounded to halves.
  return {near("out", Float::f16, out, 1e-3, 1e-3)};
}

}  // namespace regatta::test
