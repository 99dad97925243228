// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cmath>

namespace {

constexpr std::size_t accumulators = 1024;

/// The second half of the sums is added to the first until one is left.
float scalar_product(const float* a, const float* b, std::size_t length) {
  std::vector<float> sums(accumulators);
  for (std::size_t i = 0; i < length; ++i) {
    float& sum = sums[i % accumulators];
    sum = std::fma(a[i], b[i], sum);
  }
  while (sums.size() > 1) {
    const std::size_t half = sums.size() / 2;
    for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
    sums.resize(half);
  }
  return sums[0];
}

}  // namespace

namespace regatta::test {

std::vector<Expected> expected_scalar_product(const LaunchData& data) {
  const auto a = data.buffer<float>("a");
  const auto b = data.buffer<float>("b");
  const auto vectors = static_cast<std::size_t>(data.scalar<std::int32_t>(0, "threads_256"));
  const auto length = static_cast<std::size_t>(data.scalar<std::int32_t>(1, "threads_256"));
  std::vector<float> products(vectors);
  for (std::size_t i = 0; i < vectors; ++i) products[i] = scalar_product(&a.at(i * length), &b.at(i * length), length);
  return {exact("products_256", products), exact("products_64", products)};
}

}  // namespace regatta::test
