// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cmath>

namespace regatta::test {
namespace {

/// A number and its derivative by the last forward rate: forward differentiation, where the kernel goes backward.
struct Dual {
  double value;
  double derivative = 0;
};
Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.derivative + b.derivative}; }
Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.derivative - b.derivative}; }
Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.derivative * b.value + a.value * b.derivative}; }
Dual operator/(Dual a, Dual b) {
  const double q = a.value / b.value;
  return {q, (a.derivative - q * b.derivative) / b.value};
}
Dual exp(Dual a) { return {std::exp(a.value), std::exp(a.value) * a.derivative}; }

class Model {
 public:
  explicit Model(const LaunchData& data)
      : rates_(static_cast<std::size_t>(data.global<std::int32_t>("rates").at(0))),
        maturity_(static_cast<std::size_t>(data.global<std::int32_t>("maturity").at(0))),
        options_(static_cast<std::size_t>(data.global<std::int32_t>("options").at(0))),
        delta_(data.global<float>("delta").at(0)),
        option_maturity_(data.global<std::int32_t>("option_maturity")),
        swap_rate_(data.global<float>("swap_rate")),
        volatility_(data.global<float>("volatility")),
        lowest_(data.scalar<float>(1, "greeks")),
        spread_(data.scalar<float>(2, "greeks")) {}

  Dual portfolio(int path) const {
    std::vector<Dual> rate(rates_, {static_cast<double>(0.05f)});
    rate.back().derivative = 1;
    const Dual one{1};
    for (std::size_t step = 0; step < maturity_; ++step) {
      const auto draw = static_cast<float>((path * 40503 + static_cast<int>(step) * 24157) % 65536);
      const double z = std::fma(spread_, draw, lowest_);
      Dual drift{0};
      for (std::size_t i = step + 1; i < rates_; ++i) {
        const double sigma = volatility_.at(i - step - 1);
        const Dual scaled{delta_ * sigma};
        drift = drift + scaled * rate[i] / (one + Dual{delta_} * rate[i]);
        const double noise = sigma * (std::sqrt(delta_) * z - delta_ * sigma / 2);
        rate[i] = rate[i] * exp(scaled * drift + Dual{noise});
      }
    }
    std::vector<Dual> bond, annuity;
    Dual b = one, s{0};
    for (std::size_t i = maturity_; i < rates_; ++i) {
      b = b / (one + Dual{delta_} * rate[i]);
      s = s + Dual{delta_} * b;
      bond.push_back(b);
      annuity.push_back(s);
    }
    Dual value{0};
    for (std::size_t i = 0; i < options_; ++i) {
      const auto m = static_cast<std::size_t>(option_maturity_.at(i)) - 1;
      const Dual swap = bond.at(m) + Dual{swap_rate_.at(i)} * annuity[m] - one;
      if (swap.value < 0) value = value - Dual{100} * swap;
    }
    for (std::size_t i = 0; i < maturity_; ++i) value = value / (one + Dual{delta_} * rate[i]);
    return value;
  }

 private:
  std::size_t rates_, maturity_, options_;
  double delta_;
  std::vector<std::int32_t> option_maturity_;
  std::vector<float> swap_rate_, volatility_;
  float lowest_, spread_;
};

}  // namespace

std::vector<Expected> expected_libor(const LaunchData& data) {
  const Model model(data);
  std::vector<double> values, derivatives;
  for (int path = 0; path < data.scalar<std::int32_t>(0, "greeks"); ++path) {
    const Dual p = model.portfolio(path);
    values.push_back(p.value);
    derivatives.push_back(p.derivative);
  }
  return {near("value", values), near("by_last_rate", derivatives), near("value_alone", values)};
}

}  // namespace regatta::test
