// SPDX-License-Identifier: Apache-2.0
#include "expected.h"
#include "products.h"
#include "small_float.h"

namespace regatta::test {

std::vector<Expected> expected_hgemm(const LaunchData& data) {
  const auto size = [&](std::size_t i) { return static_cast<std::size_t>(data.scalar<std::int32_t>(i)); };
  auto c = reference::product(reference::half.decoded(data.buffer<std::uint16_t>("a")),
                              reference::half.decoded(data.buffer<std::uint16_t>("b")), {size(0), size(1), size(2)});
  for (double& x : c) x *= static_cast<double>(data.scalar<float>(3));
  return {near("c", Float::f16, c, 6e-4, 1e-4)};
}

}  // namespace regatta::test
