// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

namespace {

std::vector<float> transposed(const std::vector<float>& from, std::size_t width, std::size_t height) {
  std::vector<float> to(width * height);
  for (std::size_t i = 0; i < to.size(); ++i) to[i % width * height + i / width] = from.at(i);
  return to;
}

}  // namespace

namespace regatta::test {

std::vector<Expected> expected_transpose(const LaunchData& data) {
  const auto from = data.buffer<float>("from");
  const auto width = static_cast<std::size_t>(data.scalar<std::int32_t>(0, "naive"));
  const auto height = static_cast<std::size_t>(data.scalar<std::int32_t>(1, "naive"));
  const auto side = static_cast<std::size_t>(data.scalar<std::int32_t>(0, "square"));
  std::vector<Expected> expected{exact("copy", from), exact("copy_shared", from)};
  for (const char* name : {"naive", "coalesced", "padded", "diagonal"})
    expected.push_back(exact(name, transposed(from, width, height)));
  expected.push_back(exact("square", transposed(from, side, side)));
  return expected;
}

}  // namespace regatta::test
