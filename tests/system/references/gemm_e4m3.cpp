// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "expected.h"
#include "products.h"
#include "small_float.h"

namespace regatta::test {
namespace {

constexpr std::size_t scaled_block = 128, scaled_rows = 64;

struct ScaledMatrix {
  std::vector<std::uint8_t> bytes;
  std::vector<float> scales;
  std::vector<double> values;  ///< scaled
};

/// Blocks of `rows` x 128 of a matrix of k columns.
ScaledMatrix in_blocks(const std::vector<double>& in, std::size_t rows, std::size_t k) {
  ScaledMatrix m;
  m.bytes.resize(in.size());
  m.values.resize(in.size());
  for (std::size_t row = 0; row < in.size() / k; row += rows) {
    for (std::size_t column = 0; column < k; column += scaled_block) {
      float most = 1e-10f;
      const auto each = [&](const auto& f) {
        for (std::size_t r = row; r < row + rows; ++r) {
          for (std::size_t c = column; c < column + scaled_block; ++c) f(r * k + c);
        }
      };
      each([&](std::size_t i) { most = std::max(most, static_cast<float>(std::fabs(in[i]))); });
      const float factor = 448.0f / most, scale = most / 448.0f;
      m.scales.push_back(scale);
      each([&](std::size_t i) {
        m.bytes[i] =
            static_cast<std::uint8_t>(reference::e4m3.encode(static_cast<double>(static_cast<float>(in[i]) * factor)));
        m.values[i] = reference::e4m3.decode(m.bytes[i]) * static_cast<double>(scale);
      });
    }
  }
  return m;
}

}  // namespace

std::vector<Expected> expected_gemm_e4m3(const LaunchData& data) {
  const auto size = [&](std::size_t i) { return static_cast<std::size_t>(data.scalar<std::int32_t>(i, "multiply")); };
  const std::size_t k = size(2);
  const auto a = in_blocks(reference::bf16.decoded(data.buffer<std::uint16_t>("activations")), 1, k);
  const auto b = in_blocks(reference::bf16.decoded(data.buffer<std::uint16_t>("weights")), scaled_rows, k);
  // Tensor cores keep 13 bits below the largest product of a step of 32.
  return {exact("a", a.bytes), exact("b", b.bytes), near("scale_a", {a.scales.begin(), a.scales.end()}, 0),
          near("scale_b", {b.scales.begin(), b.scales.end()}, 0),
          near("c", Float::bf16, reference::product_transposed(a.values, b.values, {size(0), size(1), k}), 5e-3, 5e-3)};
}

}  // namespace regatta::test
