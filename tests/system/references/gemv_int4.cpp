// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include "expected.h"
#include "small_float.h"

namespace regatta::test {
namespace {

constexpr std::size_t gemv_group = 128, gemv_lanes = 32;

/// As the warp adds: halves over the pairs of a word, f32 over the words of a lane, then a tree over gemv_lanes.
float gemv_row(const std::uint8_t* weights, const double* scales, const std::uint8_t* zeros,
               const std::vector<double>& x) {
  using reference::half;
  std::array<float, gemv_lanes> sum{};
  for (std::size_t word = 0; word < x.size() / 8; ++word) {
    std::array<double, 2> two{};
    for (std::size_t pair = 0; pair < 4; ++pair) {
      for (std::size_t i = 0; i < 2; ++i) {
        const std::size_t at = 8 * word + 2 * pair + i;
        // Exact in double: halves of at most 15 times x.
        two[i] = half.rounded((weights[at] % 16 - zeros[at / gemv_group]) * x[at] + two[i]);
      }
    }
    float& of_lane = sum[word / 4 % gemv_lanes];
    of_lane = std::fma(static_cast<float>(scales[8 * word / gemv_group]),
                       static_cast<float>(two[0]) + static_cast<float>(two[1]), of_lane);
  }
  for (std::size_t distance = gemv_lanes / 2; distance > 0; distance /= 2) {
    const auto before = sum;
    for (std::size_t l = 0; l < gemv_lanes; ++l) sum[l] = before[l] + before[l ^ distance];
  }
  return sum[0];
}

}  // namespace

std::vector<Expected> expected_gemv_int4(const LaunchData& data) {
  const auto bytes = data.buffer<std::uint8_t>("bytes");
  std::vector<std::uint32_t> weights;
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    std::uint32_t word = 0;
    for (std::size_t e = 0; e < 8; ++e) word |= (bytes[i + e] & 15u) << 4 * (e / 2 + 4 * (e % 2));
    weights.push_back(word);
  }
  const auto scales = reference::half.decoded(data.buffer<std::uint16_t>("scales"));
  std::vector<std::uint8_t> zeros;
  for (const std::uint32_t word : data.buffer<std::uint32_t>("zeros")) {
    for (unsigned i = 0; i < 8; ++i) zeros.push_back(word >> 4 * i & 15);
  }
  const auto x = reference::half.decoded(data.buffer<std::uint16_t>("x"));
  std::vector<double> y;
  for (std::size_t at = 0; at < bytes.size(); at += x.size()) {
    y.push_back(reference::half.rounded(
        static_cast<double>(gemv_row(&bytes[at], &scales[at / gemv_group], &zeros[at / gemv_group], x))));
  }
  return {exact("weights", weights), near("y", Float::f16, y, 0, 0)};
}

}  // namespace regatta::test
