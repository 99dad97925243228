// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cstdlib>

namespace regatta::test {
namespace {

/// How many boards have these queens (their columns, row by row) and one more in every other row.
std::int32_t solutions(std::vector<int>& queens, std::size_t n) {
  if (queens.size() == n) return 1;
  std::int32_t sum = 0;
  const auto row = static_cast<int>(queens.size());
  for (int column = 0; column < static_cast<int>(n); ++column) {
    bool safe = true;
    for (int other = 0; other < row && safe; ++other) {
      const int distance = std::abs(queens[static_cast<std::size_t>(other)] - column);
      safe = distance != 0 && distance != row - other;
    }
    if (!safe) continue;
    queens.push_back(column);
    sum += solutions(queens, n);
    queens.pop_back();
  }
  return sum;
}

}  // namespace

std::vector<Expected> expected_n_queens(const LaunchData& data) {
  std::vector<int> queens;
  const auto n = static_cast<std::size_t>(data.scalar<std::int32_t>(0, "solve_half"));
  return {exact("total", std::vector<std::int32_t>{solutions(queens, n)})};
}

}  // namespace regatta::test
