// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace regatta::test {

std::vector<Expected> expected_bitonic_sort(const LaunchData& data) {
  const auto keys = data.buffer<std::uint32_t>("keys_in");
  const auto values = data.buffer<std::uint32_t>("values_in");
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::size_t i = 0; i < keys.size(); ++i) pairs.emplace_back(keys[i], values.at(i));
  std::sort(pairs.begin(), pairs.end());
  std::vector<std::uint32_t> sorted_keys, sorted_values;
  for (const auto& [key, value] : pairs) {
    // The network is not stable: the order of the values of equal keys is not compared.
    if (!sorted_keys.empty() && sorted_keys.back() == key) throw std::logic_error("keys must be distinct");
    sorted_keys.push_back(key);
    sorted_values.push_back(value);
  }
  return {exact("keys", sorted_keys), exact("values", sorted_values)};
}

}  // namespace regatta::test
