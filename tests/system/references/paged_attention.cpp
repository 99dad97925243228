// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "expected.h"
#include "small_float.h"

namespace regatta::test {
namespace {

constexpr std::size_t paged_head = 128, paged_tokens = 16;

}  // namespace

std::vector<Expected> expected_paged_attention(const LaunchData& data) {
  const auto halves = [&](const char* name) { return reference::half.decoded(data.buffer<std::uint16_t>(name)); };
  const auto queries = halves("queries"), keys = halves("keys"), values = halves("values");
  const auto tables = data.buffer<std::int32_t>("tables");
  const auto lengths = data.buffer<std::int32_t>("lengths");
  const auto blocks = static_cast<std::size_t>(data.scalar<std::int32_t>(0));
  const auto heads_of_keys = static_cast<std::size_t>(data.scalar<std::int32_t>(1));
  const auto scale = static_cast<double>(data.scalar<float>(2));
  const std::size_t heads = queries.size() / paged_head / lengths.size();
  std::vector<double> out(queries.size(), 0);
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    for (std::size_t h = 0; h < heads; ++h) {
      const double* query = &queries[(s * heads + h) * paged_head];
      std::vector<double> scores;
      std::vector<std::size_t> rows;
      for (std::size_t t = 0; t < static_cast<std::size_t>(lengths[s]); ++t) {
        const auto page = static_cast<std::size_t>(tables[s * blocks + t / paged_tokens]);
        rows.push_back(((page * heads_of_keys + h / (heads / heads_of_keys)) * paged_tokens + t % paged_tokens) *
                       paged_head);
        double sum = 0;
        for (std::size_t i = 0; i < paged_head; ++i) sum += query[i] * keys[rows.back() + i];
        scores.push_back(sum * scale);
      }
      const double most = *std::max_element(scores.begin(), scores.end());
      double sum = 0;
      for (double& x : scores) sum += x = std::exp(x - most);
      double* result = &out[(s * heads + h) * paged_head];
      for (std::size_t t = 0; t < rows.size(); ++t) {
        for (std::size_t i = 0; i < paged_head; ++i) result[i] += scores[t] / sum * values[rows[t] + i];
      }
    }
  }
  // Products of eight elements are summed in halves.
  return {near("out", Float::f16, out, 2e-3, 3e-3)};
}

}  // namespace regatta::test
