// SPDX-License-Identifier: Apache-2.0
//
// Prices of European calls and puts by the formula of Black and Scholes (1973), one option per thread: arithmetic, with
// exp, log, square root and division. The normal distribution is the polynomial 26.2.17 of Abramowitz and Stegun.

namespace {
__device__ __forceinline__ float cumulative_normal(float d) {
  const float k = 1.0f / fmaf(0.2316419f, fabsf(d), 1.0f);
  float p = fmaf(1.330274429f, k, -1.821255978f);
  p = fmaf(p, k, 1.781477937f);
  p = fmaf(p, k, -0.356563782f);
  p = fmaf(p, k, 0.319381530f);
  const float tail = 0.3989422804f * expf(-0.5f * d * d) * (p * k);
  return d > 0.0f ? 1.0f - tail : tail;
}
}  // namespace

extern "C" __global__ void black_scholes(const float* __restrict__ price, const float* __restrict__ strike,
                                         const float* __restrict__ years, float* __restrict__ call,
                                         float* __restrict__ put, float riskless, float volatility, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float s = price[i];
  const float x = strike[i];
  const float t = years[i];
  const float deviation = volatility * sqrtf(t);
  const float d1 = fmaf(fmaf(0.5f * volatility, volatility, riskless), t, logf(s / x)) / deviation;
  const float n1 = cumulative_normal(d1);
  const float n2 = cumulative_normal(d1 - deviation);
  const float discounted = x * expf(-riskless * t);
  call[i] = fmaf(s, n1, -discounted * n2);
  put[i] = fmaf(discounted, 1.0f - n2, -s * (1.0f - n1));
}
