// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <algorithm>
#include <cmath>

namespace regatta::test {
namespace {

double polynomial(const std::vector<double>& coefficients, double x) {
  double sum = 0;
  for (auto c = coefficients.rbegin(); c != coefficients.rend(); ++c) sum = sum * x + *c;
  return sum;
}

/// Moro (1995), for the lower half; the upper one mirrors it.
double inverse_cumulative_normal(double p) {
  if (p > 0.5) return -inverse_cumulative_normal(1 - p);
  const double y = p - 0.5;
  if (-y < 0.42) {
    return y * polynomial({2.50662823884, -18.61500062529, 41.39119773534, -25.44106049637}, y * y) /
           polynomial({1, -8.47351093090, 23.08336743743, -21.06224101826, 3.13082909833}, y * y);
  }
  return -polynomial(
      {0.3374754822726147, 0.9761690190917186, 0.1607979714918209, 0.0276438810333863, 0.0038405729373609,
       0.0003951896511919, 0.0000321767881768, 0.0000002888167364, 0.0000003960315187},
      std::log(-std::log(p)));
}

}  // namespace

std::vector<Expected> expected_monte_carlo(const LaunchData& data) {
  const auto paths = data.scalar<std::int32_t>(0, "inverse_normal");
  std::vector<double> normal;
  // Small differences from 0.5 depend on how this number is rounded.
  const float step = 1 / static_cast<float>(paths + 1);
  for (std::int32_t i = 0; i < paths; ++i)
    normal.push_back(inverse_cumulative_normal(static_cast<double>(static_cast<float>(i + 1) * step)));

  const auto spot = data.global<float>("spot"), strike = data.global<float>("strike"),
             drift = data.global<float>("drift"), deviation = data.global<float>("deviation");
  const std::size_t options = data.buffer<float>("expected").size();
  std::vector<double> expected, confidence;
  for (std::size_t o = 0; o < options; ++o) {
    std::vector<double> payoffs;
    double sum = 0, squares = 0;
    for (const double z : normal) {
      const double end =
          spot.at(o) * std::exp(static_cast<double>(drift.at(o)) + static_cast<double>(deviation.at(o)) * z);
      payoffs.push_back(std::max(end - static_cast<double>(strike.at(o)), 0.0));
      sum += payoffs.back();
    }
    const double mean = sum / paths;
    for (const double p : payoffs) squares += (p - mean) * (p - mean);
    expected.push_back(mean);
    confidence.push_back(1.96 * std::sqrt(squares / (paths - 1) / paths));
  }
  return {near("normal", normal), near("expected", expected), near("confidence", confidence)};
}

}  // namespace regatta::test
