// SPDX-License-Identifier: Apache-2.0
#include "histogram.h"

#include "expected.h"

namespace reference {

std::vector<std::uint32_t> histogram(const std::vector<std::uint8_t>& samples) {
  std::vector<std::uint32_t> counts(256);
  for (const std::uint8_t s : samples) ++counts[s];
  return counts;
}

}  // namespace reference

namespace regatta::test {

std::vector<Expected> expected_histogram(const LaunchData& data) {
  return {exact("counts", reference::histogram(data.buffer<std::uint8_t>("samples")))};
}

}  // namespace regatta::test
