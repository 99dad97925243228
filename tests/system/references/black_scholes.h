// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

namespace reference {

struct OptionPrices {
  std::vector<double> call;
  std::vector<double> put;
};

/// Prices of European options in double precision, with the same polynomial for the normal distribution as the kernel,
/// whose f32 results are near, not equal.
OptionPrices black_scholes(const std::vector<float>& price, const std::vector<float>& strike,
                           const std::vector<float>& years, float riskless, float volatility);

}  // namespace reference
