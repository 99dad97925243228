// SPDX-License-Identifier: Apache-2.0
#include "needleman_wunsch.h"

#include "expected.h"

#include <algorithm>

namespace reference {
namespace {
constexpr std::size_t symbols = 24;
}  // namespace

std::vector<std::int32_t> needleman_wunsch(const std::vector<std::uint8_t>& down,
                                           const std::vector<std::uint8_t>& across,
                                           const std::vector<std::int32_t>& substitution, std::int32_t gap) {
  const std::size_t stride = across.size() + 1;
  std::vector<std::int32_t> score(stride * (down.size() + 1));
  for (std::size_t column = 1; column < stride; ++column) score[column] = score[column - 1] - gap;
  for (std::size_t row = 1; row <= down.size(); ++row) {
    std::int32_t* here = &score[row * stride];
    const std::int32_t* above = here - stride;
    here[0] = above[0] - gap;
    for (std::size_t column = 1; column < stride; ++column) {
      const std::int32_t worth = substitution.at(down[row - 1] * symbols + across[column - 1]);
      here[column] = std::max({above[column - 1] + worth, above[column] - gap, here[column - 1] - gap});
    }
  }
  return score;
}

}  // namespace reference

namespace regatta::test {

std::vector<Expected> expected_needleman_wunsch(const LaunchData& data) {
  return {exact("score", reference::needleman_wunsch(
                             data.buffer<std::uint8_t>("down"), data.buffer<std::uint8_t>("across"),
                             data.global<std::int32_t>("substitution"), data.scalar<std::int32_t>(2, "border")))};
}

}  // namespace regatta::test
