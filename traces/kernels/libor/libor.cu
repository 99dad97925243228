// SPDX-License-Identifier: Apache-2.0
//
// Monte Carlo valuation of a portfolio of swaptions in the LIBOR market model, and its derivative by the last forward
// rate, by adjoint (backward) differentiation. A path of forward rates evolves in the thread's own arrays over
// `maturity` steps of time; the portfolio is valued on its end. The host launches libor_greeks (value and derivative;
// it keeps the rates of all steps for the way back) and libor_values (value alone). A grid of n threads takes n paths
// at a time.

namespace {
constexpr int threads = 192;
constexpr int most_rates = 80;
constexpr int most_steps = 40;
constexpr int most_options = 15;
constexpr float first_rate = 0.05f;
}  // namespace

__constant__ int rates;     // forward rates in the model
__constant__ int maturity;  // steps of time, and the rates that they settle; the swaptions are on the others
__constant__ int options;
__constant__ float delta;                        // years between two maturities
__constant__ int option_maturity[most_options];  // 1 to rates - maturity
__constant__ float swap_rate[most_options];
__constant__ float volatility[most_rates];

namespace {
/// The random numbers of a path, by a lattice rule, and the first rates.
__device__ void begin_path(int path, float lowest, float spread, float* z, float* rate) {
  // 0 to 65535, evenly.
  for (int i = 0; i < maturity; ++i)
    z[i] = fmaf(spread, static_cast<float>((path * 40503 + i * 24157) & 65535), lowest);
  for (int i = 0; i < rates; ++i) rate[i] = first_rate;
}

/// One step of time from `before` to `after`, which may be the same array.
__device__ __forceinline__ void evolve(int step, float z, const float* before, float* after) {
  const float shock = sqrtf(delta) * z;
  float drift = 0.0f;
  for (int i = step + 1; i < rates; ++i) {
    const float sigma = volatility[i - step - 1];
    const float con = delta * sigma;
    const float rate = before[i];
    drift += con * rate / fmaf(delta, rate, 1.0f);
    after[i] = rate * expf(fmaf(con, drift, sigma * fmaf(-0.5f, con, shock)));
  }
}

/// Prices of bonds and of annuities seen from the end of the path.
__device__ __forceinline__ void bonds(const float* rate, float* bond, float* annuity) {
  float b = 1.0f;
  float s = 0.0f;
  for (int n = maturity; n < rates; ++n) {
    b /= fmaf(delta, rate[n], 1.0f);
    s = fmaf(delta, b, s);
    bond[n - maturity] = b;
    annuity[n - maturity] = s;
  }
}

/// What discounts from the end of the path to its beginning.
__device__ __forceinline__ float discount(const float* rate) {
  float b = 1.0f;
  for (int n = 0; n < maturity; ++n) b /= fmaf(delta, rate[n], 1.0f);
  return b;
}

__device__ float portfolio(const float* rate) {
  float bond[most_rates];
  float annuity[most_rates];
  bonds(rate, bond, annuity);
  float value = 0.0f;
  for (int i = 0; i < options; ++i) {
    const int m = option_maturity[i] - 1;
    const float swap = fmaf(swap_rate[i], annuity[m], bond[m]) - 1.0f;
    if (swap < 0.0f) value = fmaf(-100.0f, swap, value);
  }
  return value * discount(rate);
}

/// The value, and its derivatives by the rates at the end of the path.
__device__ float portfolio_backward(const float* rate, float* by_rate) {
  float bond[most_rates];
  float annuity[most_rates];
  float by_bond[most_rates];
  float by_annuity[most_rates];
  bonds(rate, bond, annuity);
  for (int m = 0; m < rates - maturity; ++m) {
    by_bond[m] = 0.0f;
    by_annuity[m] = 0.0f;
  }
  float value = 0.0f;
  for (int i = 0; i < options; ++i) {
    const int m = option_maturity[i] - 1;
    const float swap = fmaf(swap_rate[i], annuity[m], bond[m]) - 1.0f;
    if (swap < 0.0f) {
      value = fmaf(-100.0f, swap, value);
      by_annuity[m] = fmaf(-100.0f, swap_rate[i], by_annuity[m]);
      by_bond[m] -= 100.0f;
    }
  }
  float b = 0.0f;
  float s = 0.0f;
  for (int m = rates - maturity - 1; m >= 0; --m) {
    s += by_annuity[m];
    b += fmaf(delta, s, by_bond[m]);
    const float growth = fmaf(delta, rate[m + maturity], 1.0f);
    by_rate[m + maturity] = -delta * b * bond[m] / growth;
    b /= growth;
  }
  const float now = discount(rate);
  value *= now;
  for (int n = 0; n < maturity; ++n) by_rate[n] = -delta * value / fmaf(delta, rate[n], 1.0f);
  for (int n = maturity; n < rates; ++n) by_rate[n] *= now;
  return value;
}

/// Takes derivatives by the rates after a step back to those before it.
__device__ __forceinline__ void evolve_backward(int step, const float* before, const float* after, float* by_rate) {
  float sum = 0.0f;
  for (int i = rates - 1; i > step; --i) {
    const float sigma = volatility[i - step - 1];
    sum = fmaf(sigma * after[i], by_rate[i], sum);
    const float factor = delta / fmaf(delta, before[i], 1.0f);
    by_rate[i] = fmaf(by_rate[i], after[i] / before[i], sigma * sum * factor * factor);
  }
}
}  // namespace

extern "C" __global__ void __launch_bounds__(threads)
    libor_greeks(float* __restrict__ value, float* __restrict__ by_last_rate, int paths, float lowest, float spread) {
  float z[most_rates];
  float by_rate[most_rates];
  float rate[(most_steps + 1) * most_rates];  // `rates` after every step
  for (int path = blockIdx.x * threads + threadIdx.x; path < paths; path += gridDim.x * threads) {
    begin_path(path, lowest, spread, z, rate);
    for (int n = 0; n < maturity; ++n) {
      float* const before = rate + n * rates;
      float* const after = before + rates;
      for (int i = 0; i <= n; ++i) after[i] = before[i];
      evolve(n, z[n], before, after);
    }
    value[path] = portfolio_backward(rate + maturity * rates, by_rate);
    for (int n = maturity - 1; n >= 0; --n) evolve_backward(n, rate + n * rates, rate + (n + 1) * rates, by_rate);
    by_last_rate[path] = by_rate[rates - 1];
  }
}

extern "C" __global__ void __launch_bounds__(threads)
    libor_values(float* __restrict__ value, int paths, float lowest, float spread) {
  float z[most_rates];
  float rate[most_rates];
  for (int path = blockIdx.x * threads + threadIdx.x; path < paths; path += gridDim.x * threads) {
    begin_path(path, lowest, spread, z, rate);
    for (int n = 0; n < maturity; ++n) evolve(n, z[n], rate, rate);
    value[path] = portfolio(rate);
  }
}
