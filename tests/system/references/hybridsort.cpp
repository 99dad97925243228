// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <algorithm>

namespace regatta::test {

std::vector<Expected> expected_hybridsort(const LaunchData& data) {
  auto values = data.buffer<float>("values");
  std::sort(values.begin(), values.end());
  return {exact("sorted", values)};
}

}  // namespace regatta::test
