// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cmath>

namespace regatta::test {
namespace {

double squash(double sum) { return 1.7159 * std::tanh(2.0 / 3.0 * sum); }

/// Square maps `in`, `in_side` wide, of all pictures to maps `out_side` wide; each from all of its picture's maps.
std::vector<double> convolve(const std::vector<double>& in, std::size_t pictures, std::size_t in_side,
                             const std::vector<float>& weights, std::size_t out_side) {
  constexpr std::size_t window = 5;
  const std::size_t in_maps = in.size() / pictures / in_side / in_side, per_map = in_maps * window * window + 1;
  std::vector<double> out;
  for (std::size_t p = 0; p < pictures; ++p) {
    for (std::size_t map = 0; map < weights.size() / per_map; ++map) {
      for (std::size_t y = 0; y < out_side; ++y) {
        for (std::size_t x = 0; x < out_side; ++x) {
          std::size_t w = map * per_map;
          double sum = weights[w++];
          for (std::size_t wy = 0; wy < window; ++wy) {
            for (std::size_t wx = 0; wx < window; ++wx) {
              for (std::size_t from = 0; from < in_maps; ++from)
                sum += in.at(((p * in_maps + from) * in_side + 2 * y + wy) * in_side + 2 * x + wx) *
                       static_cast<double>(weights[w++]);
            }
          }
          out.push_back(squash(sum));
        }
      }
    }
  }
  return out;
}

std::vector<double> connect(const std::vector<double>& in, std::size_t pictures, const std::vector<float>& weights) {
  const std::size_t inputs = in.size() / pictures;
  std::vector<double> out;
  for (std::size_t p = 0; p < pictures; ++p) {
    for (std::size_t w = 0; w < weights.size();) {
      double sum = weights[w++];
      for (std::size_t i = 0; i < inputs; ++i) sum += in[p * inputs + i] * static_cast<double>(weights[w++]);
      out.push_back(squash(sum));
    }
  }
  return out;
}

}  // namespace

std::vector<Expected> expected_neural_network(const LaunchData& data) {
  const auto pixels = data.buffer<float>("pictures");
  const std::size_t pictures = pixels.size() / (29 * 29);
  const auto first = convolve({pixels.begin(), pixels.end()}, pictures, 29, data.buffer<float>("weights1"), 13);
  const auto second = convolve(first, pictures, 13, data.buffer<float>("weights2"), 5);
  const auto third = connect(second, pictures, data.buffer<float>("weights3"));
  const auto fourth = connect(third, pictures, data.buffer<float>("weights4"));
  return {near("neurons1", first), near("neurons2", second), near("neurons3", third), near("neurons4", fourth)};
}

}  // namespace regatta::test
