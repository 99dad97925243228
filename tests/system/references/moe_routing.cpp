// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "expected.h"
#include "small_float.h"

namespace regatta::test {
namespace {

constexpr std::size_t moe_experts = 32, moe_chosen = 2, moe_block = 16;

}  // namespace

std::vector<Expected> expected_moe_routing(const LaunchData& data) {
  using reference::bf16;
  const auto logits = data.buffer<float>("logits");
  const auto states = data.buffer<std::uint16_t>("states");
  const std::size_t tokens = logits.size() / moe_experts, width = states.size() / tokens;

  std::vector<std::int32_t> choices;
  std::vector<double> weights;
  for (std::size_t t = 0; t < tokens; ++t) {
    const float* of_token = &logits[t * moe_experts];
    std::array<std::int32_t, moe_experts> order;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return of_token[a] > of_token[b]; });
    const double second = std::exp(static_cast<double>(of_token[order[1]]) - static_cast<double>(of_token[order[0]]));
    choices.insert(choices.end(), {order[0], order[1]});
    weights.insert(weights.end(), {1 / (1 + second), second / (1 + second)});
  }

  std::vector<std::int32_t> begins{0}, places(choices.size());
  std::vector<std::int32_t> rows(data.buffer<std::int32_t>("rows").size(), -1);
  std::vector<std::uint16_t> sorted(rows.size() * width, 0);
  for (std::size_t e = 0; e < moe_experts; ++e) {
    auto next = static_cast<std::size_t>(begins.back());
    for (std::size_t i = 0; i < choices.size(); ++i) {
      if (choices[i] != static_cast<std::int32_t>(e)) continue;
      places[i] = static_cast<std::int32_t>(next);
      rows.at(next) = static_cast<std::int32_t>(i / moe_chosen);
      for (std::size_t j = 0; j < width; ++j)
        sorted.at(next * width + j) = static_cast<std::uint16_t>(bf16.encode(
            bf16.decode(states[i / moe_chosen * width + j]) * bf16.rounded(1 + static_cast<double>(e) / moe_experts)));
      ++next;
    }
    begins.push_back(static_cast<std::int32_t>((next + moe_block - 1) / moe_block * moe_block));
  }

  std::vector<double> out;
  for (std::size_t t = 0; t < tokens; ++t) {
    for (std::size_t j = 0; j < width; ++j) {
      double sum = 0;
      for (std::size_t i = t * moe_chosen; i < (t + 1) * moe_chosen; ++i)
        sum += weights[i] * bf16.decode(sorted[static_cast<std::size_t>(places[i]) * width + j]);
      out.push_back(sum);
    }
  }
  return {exact("choices", choices),
          near("weights", weights),
          exact("places", places),
          exact("rows", rows),
          exact("begins", begins),
          exact("sorted", sorted),
          near("out", Float::bf16, out, 4e-3, 1e-5)};
}

}  // namespace regatta::test
