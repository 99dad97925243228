// SPDX-License-Identifier: Apache-2.0
#include "black_scholes.h"

#include "expected.h"

#include <cmath>

namespace reference {
namespace {

/// Abramowitz and Stegun 26.2.17.
double cumulative_normal(double d) {
  const double k = 1 / (1 + 0.2316419 * std::fabs(d));
  const double polynomial =
      k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
  const double tail = std::exp(-d * d / 2) / std::sqrt(2 * 3.14159265358979323846) * polynomial;
  return d > 0 ? 1 - tail : tail;
}

}  // namespace

OptionPrices black_scholes(const std::vector<float>& price, const std::vector<float>& strike,
                           const std::vector<float>& years, float riskless, float volatility) {
  const double r = riskless, v = volatility;
  OptionPrices result;
  for (std::size_t i = 0; i < price.size(); ++i) {
    const double s = price[i], x = strike.at(i), t = years.at(i);
    const double deviation = v * std::sqrt(t);
    const double d1 = (std::log(s / x) + (r + v * v / 2) * t) / deviation;
    const double d2 = d1 - deviation;
    const double discounted = x * std::exp(-r * t);
    result.call.push_back(s * cumulative_normal(d1) - discounted * cumulative_normal(d2));
    result.put.push_back(discounted * (1 - cumulative_normal(d2)) - s * (1 - cumulative_normal(d1)));
  }
  return result;
}

}  // namespace reference

namespace regatta::test {

std::vector<Expected> expected_black_scholes(const LaunchData& data) {
  const reference::OptionPrices p =
      reference::black_scholes(data.buffer<float>("price"), data.buffer<float>("strike"), data.buffer<float>("years"),
                               data.scalar<float>(0), data.scalar<float>(1));
  return {near("call", p.call), near("put", p.put)};
}

}  // namespace regatta::test
