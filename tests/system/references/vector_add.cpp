// SPDX-License-Identifier: Apache-2.0
#include "vector_add.h"

#include "expected.h"

namespace reference {

std::vector<float> vector_add(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> sum(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) sum[i] = a[i] + b.at(i);
  return sum;
}

}  // namespace reference

namespace regatta::test {

std::vector<Expected> expected_vector_add(const LaunchData& data) {
  return {exact("c", reference::vector_add(data.buffer<float>("a"), data.buffer<float>("b")))};
}

}  // namespace regatta::test
