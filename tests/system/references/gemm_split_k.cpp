// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "expected.h"
#include "products.h"
#include "small_float.h"

namespace regatta::test {

std::vector<Expected> expected_gemm_split_k(const LaunchData& data) {
  using reference::bf16;
  const auto size = [&](std::size_t i) { return static_cast<std::size_t>(data.scalar<std::int32_t>(i, "multiply")); };
  auto out = reference::product(bf16.decoded(data.buffer<std::uint16_t>("a")),
                                bf16.decoded(data.buffer<std::uint16_t>("b")), {size(0), size(1), size(2)});
  const auto bias = bf16.decoded(data.buffer<std::uint16_t>("bias"));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double x = out[i] + bias[i % bias.size()];
    out[i] = 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
  }
  // tanh.approx is good for 2^-11; where it is near -1, that is the result's scale.
  return {near("out", Float::bf16, out, 5e-3, 3e-3)};
}

}  // namespace regatta::test
