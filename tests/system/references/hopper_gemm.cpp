// SPDX-License-Identifier: Apache-2.0
#include "expected.h"
#include "products.h"
#include "small_float.h"

namespace regatta::test {
namespace {

/// Tiles of 64 x 64, of which row r has its pieces of eight elements exchanged by r % 8.
std::vector<std::uint16_t> in_tiles(const std::vector<std::uint16_t>& in, std::size_t k) {
  std::vector<std::uint16_t> out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::size_t row = i / k, column = i % k;
    const std::size_t tile = row / 64 * (k / 64) + column / 64;
    out[tile * 64 * 64 + row % 64 * 64 + (column % 64 / 8 ^ row % 8) * 8 + column % 8] = in[i];
  }
  return out;
}

}  // namespace

std::vector<Expected> expected_hopper_gemm(const LaunchData& data) {
  const auto size = [&](std::size_t i) { return static_cast<std::size_t>(data.scalar<std::int32_t>(i, "multiply")); };
  const auto a = data.buffer<std::uint16_t>("a"), b = data.buffer<std::uint16_t>("b");
  return {exact("packed_a", in_tiles(a, size(2))), exact("packed_b", in_tiles(b, size(2))),
          near("c", Float::f16,
               reference::product_transposed(reference::half.decoded(a), reference::half.decoded(b),
                                             {size(0), size(1), size(2)}),
               6e-4, 1e-4)};
}

}  // namespace regatta::test
