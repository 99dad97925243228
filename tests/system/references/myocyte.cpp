// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace regatta::test {
namespace {

constexpr std::size_t states = 28;
constexpr int ticks = 64;  // of an interval
using State = std::array<double, states>;

double rise(double at, double slope) { return 1 + std::exp(slope * at); }

/// A gate opens and closes at rates that depend on the voltage.
double gate(double opening, double closing, double open) { return opening * (1 - open) - closing * open; }

/// What binds the calcium of one compartment; returns how fast it does.
double bind(const double* y, double* rate, double calcium) {
  const double ca = 1000 * calcium;
  const double free = 6 - (y[0] + y[1] + y[2] + y[3] + y[4]);
  const double first = 0.025 * ca * ca * free - 0.05 * y[0];
  const double second = 0.4 * ca * ca * y[0] - 0.5 * y[1];
  const double activation = 0.05 * y[1] * (2 - y[2] - y[3]) - 0.02 * y[2];
  const double phosphorylation = 0.06 * y[2] * (y[2] + y[3]) / 2 - 0.01 * y[3] / (0.5 + y[3]);
  const double pairing = 0.1 * y[1] * (1 - y[4]) - 0.03 * y[4];
  const double buffering = 0.03 * ca * (70 - y[5]) - 0.02 * y[5];
  const std::array<double, 6> result{
      first - second, second - activation - pairing, activation - phosphorylation, phosphorylation, pairing, buffering};
  std::copy(result.begin(), result.end(), rate);
  return (2 * first + 2 * second + buffering) / 1000;
}

State rates(const State& y, double stimulus) {
  State rate{};
  const double v = y[0];
  double alpha_h = 0, alpha_j = 0, beta_h = 0, beta_j = 0;
  if (v >= -40) {
    beta_h = 1 / (0.13 * rise(v + 10.66, -1 / 11.1));
    beta_j = 0.3 * std::exp(-2.535e-7 * v) / rise(v + 32, -0.1);
  } else {
    alpha_h = 0.135 * std::exp(-(80 + v) / 6.8);
    beta_h = 3.56 * std::exp(0.079 * v) + 3.1e5 * std::exp(0.35 * v);
    alpha_j =
        (-1.2714e5 * std::exp(0.2444 * v) - 3.474e-5 * std::exp(-0.04391 * v)) * (v + 37.78) / rise(v + 79.23, 0.311);
    beta_j = 0.1212 * std::exp(-0.01052 * v) / rise(v + 40.14, -0.1378);
  }
  const double sodium = 23 * y[1] * y[1] * y[1] * y[2] * y[3] * (v - 54.4);
  const double calcium = 0.09 * y[4] * y[5] * (v - (7.7 - 13.0287 * std::log(y[8])));
  const double delayed = 0.282 * y[6] * 2.837 * (std::exp(0.04 * (v + 77)) - 1) / std::exp(0.04 * (v + 35));
  const double over = v + 87.26;
  const double alpha_k = 1.02 / rise(over - 59.215, 0.2385);
  const double beta_k = (0.49124 * std::exp(0.08032 * (over + 5.476)) + std::exp(0.06175 * (over - 594.31))) /
                        rise(over + 4.753, -0.5143);
  const double rectifier = 0.6047 * alpha_k / (alpha_k + beta_k) * over;
  const double plateau = 0.0183 * over / rise(7.488 - v, 1 / 5.98);
  rate[0] = stimulus - sodium - calcium - delayed - rectifier - plateau - 0.03921 * (v + 59.87);
  rate[1] = gate(0.32 * (v + 47.13) / (1 - std::exp(-0.1 * (v + 47.13))), 0.08 * std::exp(-v / 11), y[1]);
  rate[2] = gate(alpha_h, beta_h, y[2]);
  rate[3] = gate(alpha_j, beta_j, y[3]);
  rate[4] = gate(0.095 * std::exp(-0.01 * (v - 5)) / rise(v - 5, -0.072),
                 0.07 * std::exp(-0.017 * (v + 44)) / rise(v + 44, 0.05), y[4]);
  rate[5] = gate(0.012 * std::exp(-0.008 * (v + 28)) / rise(v + 28, 0.15),
                 0.0065 * std::exp(-0.02 * (v + 30)) / rise(v + 30, -0.2), y[5]);
  rate[6] = gate(0.0005 * std::exp(0.083 * (v + 50)) / rise(v + 50, 0.057),
                 0.0013 * std::exp(-0.06 * (v + 20)) / rise(v + 20, -0.04), y[6]);
  rate[7] = 0.07 * (1e-4 - y[7]) + 0.05 * 0.1 * (y[9] - y[7]);
  rate[8] = -1e-4 * calcium - 0.4 * (y[8] - y[9]);
  rate[9] = 0.2 * 0.4 * (y[8] - y[9]) - 0.1 * (y[9] - y[7]);
  for (std::size_t c = 0; c < 3; ++c) rate[7 + c] -= 0.01 * bind(&y[10 + 6 * c], &rate[10 + 6 * c], y[7 + c]);
  return rate;
}

/// Fehlberg's tableau: stages, then the solution of order 5, then its difference to that of order 4.
constexpr std::array<std::array<double, 6>, 8> tableau{{
    {},
    {1.0 / 4},
    {3.0 / 32, 9.0 / 32},
    {1932.0 / 2197, -7200.0 / 2197, 7296.0 / 2197},
    {439.0 / 216, -8, 3680.0 / 513, -845.0 / 4104},
    {-8.0 / 27, 2, -3544.0 / 2565, 1859.0 / 4104, -11.0 / 40},
    {16.0 / 135, 0, 6656.0 / 12825, 28561.0 / 56430, -9.0 / 50, 2.0 / 55},
    {1.0 / 360, 0, -128.0 / 4275, -2197.0 / 75240, 1.0 / 50, 2.0 / 55},
}};

double low(std::size_t s) {
  static constexpr std::array<double, 10> lows{-80, 0.002, 0.7, 0.7, 0.003, 0.9, 0.01, 1e-4, 1e-4, 1e-4};
  return lows[s];
}

double high(std::size_t s) {
  static constexpr std::array<double, 10> highs{-68, 0.02, 0.95, 0.95, 0.01, 0.99, 0.1, 3e-4, 9e-4, 5e-4};
  static constexpr std::array<double, 6> bound{0.5, 0.2, 0.3, 0.1, 0.2, 20};
  return s < 10 ? highs[s] : bound[(s - 10) % 6];
}

State initial(const float* numbers) {
  State y{};
  for (std::size_t s = 0; s < states; ++s) {
    const double n = static_cast<double>(numbers[s]);
    if (s >= 10)
      y[s] = high(s) * (0.1 + 0.9 * n);
    else
      y[s] = s == 0 && n < 0.25 ? 10 + 80 * n : low(s) + n * (high(s) - low(s));
  }
  return y;
}

}  // namespace

std::vector<Expected> expected_myocyte(const LaunchData& data) {
  const auto numbers = data.buffer<float>("numbers");
  const auto intervals = data.scalar<std::int32_t>(1, "solve");
  const auto interval = static_cast<double>(data.scalar<float>(2, "solve"));
  const auto tolerance = static_cast<double>(data.scalar<float>(3, "solve"));
  const auto stimulus = static_cast<double>(data.scalar<float>(4, "solve"));

  std::vector<double> result;
  std::vector<std::int32_t> steps;
  for (std::size_t first = 0; first < numbers.size(); first += states) {
    State y = initial(&numbers[first]);
    int tried = 0;
    for (int done = 0; done < intervals; ++done) {
      int step = ticks;
      for (int tick = 0; tick < ticks;) {
        const double h = interval * step / ticks;
        std::array<State, 6> slopes{};
        const auto weighted = [&](std::size_t row, std::size_t s) {
          double sum = 0;
          for (std::size_t i = 0; i < 6; ++i) sum += tableau[row][i] * slopes[i][s];
          return h * sum;
        };
        State at{};
        for (std::size_t stage = 0; stage < 6; ++stage) {
          for (std::size_t s = 0; s < states; ++s) at[s] = y[s] + weighted(stage, s);
          slopes[stage] = rates(at, stimulus);
        }
        double worst = 0;
        for (std::size_t s = 0; s < states; ++s) {
          at[s] = y[s] + weighted(6, s);
          worst = std::max(worst, std::fabs(weighted(7, s)) / std::max(std::fabs(y[s]), 1e-4));
        }
        ++tried;
        if (worst > tolerance && step > 1) {
          step /= 2;
          continue;
        }
        y = at;
        tick += step;
      }
    }
    result.insert(result.end(), y.begin(), y.end());
    steps.push_back(tried);
  }
  return {near("state", result), exact("steps", steps)};
}

}  // namespace regatta::test
