// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "expected.h"
#include "small_float.h"

namespace regatta::test {
namespace {

std::vector<double> swiglu_rows(const std::vector<double>& in, std::size_t width) {
  std::vector<double> out;
  for (std::size_t row = 0; row < in.size(); row += 2 * width) {
    for (std::size_t i = row; i < row + width; ++i) out.push_back(in[i] / (1 + std::exp(-in[i])) * in[i + width]);
  }
  return out;
}

}  // namespace

std::vector<Expected> expected_swiglu(const LaunchData& data) {
  const auto width = static_cast<std::size_t>(data.scalar<std::int32_t>(1, "bf16"));
  // Five roundings to halves, one of them of the exponent, which counts as often as the exponent is large.
  return {near("product", Float::bf16, swiglu_rows(reference::bf16.decoded(data.buffer<std::uint16_t>("gates")), width),
               4e-3, 1e-7),
          near("product_half", Float::f16,
               swiglu_rows(reference::half.decoded(data.buffer<std::uint16_t>("gates_half")), width), 8e-3, 2e-4)};
}

}  // namespace regatta::test
