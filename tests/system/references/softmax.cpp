// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "expected.h"
#include "small_float.h"

namespace regatta::test {
namespace {

std::vector<double> softmax(const std::vector<double>& in, std::size_t columns, double scale) {
  std::vector<double> out;
  for (std::size_t row = 0; row < in.size(); row += columns) {
    const auto first = in.begin() + static_cast<std::ptrdiff_t>(row);
    const double most = *std::max_element(first, first + static_cast<std::ptrdiff_t>(columns));
    double sum = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      out.push_back(std::exp(scale * (in[row + i] - most)));
      sum += out.back();
    }
    for (std::size_t i = 0; i < columns; ++i) out[row + i] /= sum;
  }
  return out;
}

}  // namespace

std::vector<Expected> expected_softmax(const LaunchData& data) {
  const auto logits = data.buffer<float>("logits");
  return {near("weights", Float::f16,
               softmax(reference::half.decoded(data.buffer<std::uint16_t>("scores")),
                       static_cast<std::size_t>(data.scalar<std::int32_t>(0, "rows")),
                       static_cast<double>(data.scalar<float>(1, "rows"))),
               1e-3, 1e-7),
          near("probabilities", softmax({logits.begin(), logits.end()},
                                        static_cast<std::size_t>(data.scalar<std::int32_t>(1, "online")), 1))};
}

}  // namespace regatta::test
