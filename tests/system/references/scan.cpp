// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

namespace regatta::test {

std::vector<Expected> expected_scan(const LaunchData& data) {
  std::vector<std::uint32_t> sums;
  std::uint32_t sum = 0;
  for (const std::uint32_t value : data.buffer<std::uint32_t>("in")) {
    sums.push_back(sum);
    sum += value;
  }
  return {exact("out", sums), exact("total", std::vector<std::uint32_t>{sum})};
}

}  // namespace regatta::test
