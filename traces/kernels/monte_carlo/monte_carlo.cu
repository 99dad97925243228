// SPDX-License-Identifier: Apache-2.0
//
// Prices of European calls by simulation: the mean payoff over many ends of a log-normal price path. The host launches
// inverse_normal once, which turns an even sequence of numbers between 0 and 1 into normally distributed ones, then
// price with a CTA for every option. All options use the same paths.

namespace {
constexpr int normal_threads = 128;
constexpr int threads = 256;  // of a CTA of price; as many partial sums
constexpr int most_options = 256;
}  // namespace

__constant__ float spot[most_options];
__constant__ float strike[most_options];
__constant__ float drift[most_options];      // of the logarithm of the price until expiry
__constant__ float deviation[most_options];  // of the same

namespace {
/// Moro (1995): a rational function in the middle, a polynomial of log(-log) in the tails.
__device__ __forceinline__ float inverse_cumulative_normal(float p) {
  const float y = p - 0.5f;
  if (fabsf(y) < 0.42f) {
    const float r = y * y;
    const float above = fmaf(fmaf(fmaf(-25.44106049637f, r, 41.39119773534f), r, -18.61500062529f), r, 2.50662823884f);
    const float below =
        fmaf(fmaf(fmaf(fmaf(3.13082909833f, r, -21.06224101826f), r, 23.08336743743f), r, -8.47351093090f), r, 1.0f);
    return y * above / below;
  }
  const float r = logf(-logf(y > 0.0f ? 1.0f - p : p));
  float x = fmaf(3.960315187e-7f, r, 2.888167364e-7f);
  x = fmaf(x, r, 3.21767881768e-5f);
  x = fmaf(x, r, 3.951896511919e-4f);
  x = fmaf(x, r, 3.8405729373609e-3f);
  x = fmaf(x, r, 2.76438810333863e-2f);
  x = fmaf(x, r, 0.1607979714918209f);
  x = fmaf(x, r, 0.9761690190917186f);
  x = fmaf(x, r, 0.3374754822726147f);
  return y > 0.0f ? x : -x;
}
}  // namespace

extern "C" __global__ void __launch_bounds__(normal_threads)
    monte_carlo_inverse_normal(float* __restrict__ normal, int paths) {
  const float step = 1.0f / static_cast<float>(paths + 1);
  for (int i = blockIdx.x * normal_threads + threadIdx.x; i < paths; i += gridDim.x * normal_threads)
    normal[i] = inverse_cumulative_normal(static_cast<float>(i + 1) * step);
}

/// `expected` gets the price of every option, `confidence` half the width of its interval of 95% confidence.
extern "C" __global__ void __launch_bounds__(threads)
    monte_carlo_price(const float* __restrict__ normal, float* __restrict__ expected, float* __restrict__ confidence,
                      int paths) {
  __shared__ float sums[threads];
  __shared__ float squares[threads];
  const int option = blockIdx.x;
  const int thread = threadIdx.x;
  const float s = spot[option];
  const float x = strike[option];
  const float mean = drift[option];
  const float scale = deviation[option];

  float sum = 0.0f;
  float square = 0.0f;
  for (int i = thread; i < paths; i += threads) {
    const float payoff = fmaxf(fmaf(s, __expf(fmaf(scale, normal[i], mean)), -x), 0.0f);
    sum += payoff;
    square = fmaf(payoff, payoff, square);
  }
  sums[thread] = sum;
  squares[thread] = square;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) {
      sums[thread] += sums[thread + half];
      squares[thread] += squares[thread + half];
    }
  }
  if (thread == 0) {
    const float n = static_cast<float>(paths);
    const float average = sums[0] / n;
    const float variance = (squares[0] / n - average * average) * (n / (n - 1.0f));
    expected[option] = average;
    confidence[option] = 1.96f * sqrtf(variance / n);
  }
}
