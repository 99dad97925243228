// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "expected.h"

namespace regatta::test {

std::vector<Expected> expected_top_k_sampling(const LaunchData& data) {
  const auto logits = data.buffer<float>("logits");
  const auto chance = data.buffer<float>("chance");
  const auto k = static_cast<std::size_t>(data.scalar<std::int32_t>(1));
  const auto inverse_temperature = static_cast<double>(data.scalar<float>(2));
  const std::size_t vocabulary = logits.size() / chance.size();
  std::vector<std::int32_t> tokens, candidates;
  for (std::size_t row = 0; row < chance.size(); ++row) {
    const float* of_row = &logits[row * vocabulary];
    std::vector<std::int32_t> order(vocabulary);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return of_row[a] > of_row[b]; });
    std::vector<double> up_to;
    double sum = 0;
    for (std::size_t i = 0; i < k; ++i) {
      candidates.push_back(order[i]);
      sum += std::exp((static_cast<double>(of_row[order[i]]) - static_cast<double>(of_row[order[0]])) *
                      inverse_temperature);
      up_to.push_back(sum);
    }
    const auto drawn = std::upper_bound(up_to.begin(), up_to.end(), static_cast<double>(chance[row]) * sum);
    tokens.push_back(order[std::min(static_cast<std::size_t>(drawn - up_to.begin()), k - 1)]);
  }
  return {exact("candidates", candidates), exact("tokens", tokens)};
}

}  // namespace regatta::test
