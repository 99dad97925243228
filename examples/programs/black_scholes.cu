// SPDX-License-Identifier: Apache-2.0
//
// Prices of European options. The runtime suggests the CTA's size; a launch that must fail shows how errors are
// handled.
#include <vector>

#include "check.h"

struct Option {
  float price, strike, years;
};

__device__ float normal(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  const float polynomial =
      k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float tail = 0.39894228f * expf(-0.5f * d * d) * polynomial;
  return d > 0 ? 1.0f - tail : tail;
}

__global__ void prices(int n, float rate, float volatility, const Option* options, float2* call_put) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const Option o = options[i];
    const float deviation = volatility * sqrtf(o.years);
    const float d1 = (logf(o.price / o.strike) + (rate + 0.5f * volatility * volatility) * o.years) / deviation;
    const float discounted = o.strike * expf(-rate * o.years);
    const float call = o.price * normal(d1) - discounted * normal(d1 - deviation);
    call_put[i] = make_float2(call, call - o.price + discounted);
  }
}

static double call_on_host(const Option& o, double rate, double volatility) {
  const auto normal_of = [](double d) { return 0.5 * std::erfc(-d / std::sqrt(2.0)); };
  const double deviation = volatility * std::sqrt(o.years);
  const double d1 = (std::log(o.price / o.strike) + (rate + 0.5 * volatility * volatility) * o.years) / deviation;
  return o.price * normal_of(d1) - o.strike * std::exp(-rate * o.years) * normal_of(d1 - deviation);
}

/// A CTA of 2,048 threads is too large for every GPU: the launch fails, and the error is gone once it was asked for.
static bool too_large_a_cta_fails(float2* results) {
  prices<<<1, 2048>>>(0, 0, 0, nullptr, results);
  const cudaError_t peeked = cudaPeekAtLastError(), error = cudaGetLastError();
  std::printf("2,048 threads: %s (%s)\n", cudaGetErrorName(error), cudaGetErrorString(error));
  return peeked == error && error == cudaErrorInvalidConfiguration && cudaGetLastError() == cudaSuccess;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 20000);
  const float rate = 0.02f, volatility = 0.3f;
  std::vector<Option> options(n);
  Random random(16);
  for (Option& o : options) o = {5 + 25 * random.uniform(), 1 + 99 * random.uniform(), 0.25f + 9 * random.uniform()};
  Option* device_options;
  float2* device_results;
  CHECK(cudaMalloc(&device_options, n * sizeof(Option)));
  CHECK(cudaMalloc(&device_results, n * sizeof(float2)));
  CHECK(cudaMemcpy(device_options, options.data(), n * sizeof(Option), cudaMemcpyHostToDevice));

  bool good = too_large_a_cta_fails(device_results);
  good = cudaMemcpy(device_results, options.data(), n, static_cast<cudaMemcpyKind>(77)) != cudaSuccess && good;
  cudaGetLastError();

  int least_ctas = 0, threads = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&least_ctas, &threads, prices, 0, 0));
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, prices));
  std::printf("%d threads a CTA, %d CTAs fill the device, %d registers\n", threads, least_ctas, attributes.numRegs);
  good = good && threads > 0 && threads <= attributes.maxThreadsPerBlock && least_ctas > 0;
  const int needed = (n + threads - 1) / threads;
  prices < <<needed<least_ctas ? needed : least_ctas, threads>>>(n, rate, volatility, device_options, device_results);
  CHECK(cudaGetLastError());
  std::vector<float2> results(n);
  CHECK(cudaMemcpy(results.data(), device_results, n * sizeof(float2), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    const double call = call_on_host(options[i], rate, volatility);
    const double put = call - options[i].price + options[i].strike * std::exp(-rate * options[i].years);
    good = good && is_close(results[i].x, call, 2e-4) && is_close(results[i].y, put, 2e-4);
  }
  CHECK(cudaFree(device_options));
  CHECK(cudaFree(device_results));
  return verdict("black_scholes", good);
}
