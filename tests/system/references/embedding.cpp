// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "expected.h"
#include "small_float.h"

namespace regatta::test {

std::vector<Expected> expected_embedding(const LaunchData& data) {
  using reference::bf16;
  const auto tokens = data.buffer<std::int32_t>("tokens");
  const auto length = static_cast<std::size_t>(data.scalar<std::int32_t>(0, "gather"));
  const auto width = static_cast<std::size_t>(data.scalar<std::int32_t>(1, "gather"));
  const auto skipped = data.scalar<std::int32_t>(0, "scatter_add");
  const auto scale = data.scalar<float>(2, "scatter_add"), rate = data.scalar<float>(1, "step");
  auto bits = data.buffer<std::uint16_t>("table");
  const auto table = bf16.decoded(bits);
  const auto positions = bf16.decoded(data.buffer<std::uint16_t>("positions"));
  const auto gradients = data.buffer<std::int8_t>("gradients");
  std::vector<std::uint16_t> states;
  std::vector<float> sums(table.size(), 0);
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const std::size_t row = static_cast<std::size_t>(tokens[t]) * width;
    for (std::size_t i = 0; i < width; ++i) {
      states.push_back(static_cast<std::uint16_t>(bf16.encode(table.at(row + i) + positions[t % length * width + i])));
      if (tokens[t] >= skipped) sums.at(row + i) += static_cast<float>(gradients[t * width + i]) * scale;
    }
  }
  for (std::size_t i = 0; i < table.size(); ++i)
    bits[i] = static_cast<std::uint16_t>(
        bf16.encode(static_cast<double>(std::fma(-rate, sums[i], static_cast<float>(table[i])))));
  return {exact("states", states), exact("sums", sums), exact("table", bits)};
}

}  // namespace regatta::test
