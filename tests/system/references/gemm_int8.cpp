// SPDX-License-Identifier: Apache-2.0
#include "expected.h"
#include "products.h"
#include "small_float.h"

namespace regatta::test {

std::vector<Expected> expected_gemm_int8(const LaunchData& data) {
  const auto size = [&](std::size_t i) { return static_cast<std::size_t>(data.scalar<std::int32_t>(i)); };
  const std::size_t n = size(1);
  const auto a = data.buffer<std::int8_t>("a"), b = data.buffer<std::int8_t>("b");
  const auto scale_a = data.buffer<float>("scale_a"), scale_b = data.buffer<float>("scale_b");
  // Whole numbers, exact in double.
  const auto sum = reference::product_transposed({a.begin(), a.end()}, {b.begin(), b.end()}, {size(0), n, size(2)});
  std::vector<std::uint16_t> c;
  for (std::size_t i = 0; i < sum.size(); ++i)
    c.push_back(static_cast<std::uint16_t>(
        reference::half.encode(static_cast<double>(static_cast<float>(sum[i]) * scale_a[i / n] * scale_b[i % n]))));
  return {exact("c", c)};
}

}  // namespace regatta::test
