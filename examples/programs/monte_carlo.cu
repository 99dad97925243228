// SPDX-License-Identifier: Apache-2.0
//
// Pi and an integral by random points, with a generator of our own in each thread; the device prints a few lines.
#include <cstdint>
#include <vector>

#include "check.h"

/// One stream of random numbers a thread (xorshift of 64 bits, multiplied).
struct Generator {
  std::uint64_t state;
  __host__ __device__ explicit Generator(std::uint64_t seed)
      : state(seed * 0x9e3779b97f4a7c15ull + 0x632be59bd9b4e019ull) {}
  __host__ __device__ unsigned next() {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return static_cast<unsigned>((state * 0x2545f4914f6cdd1dull) >> 40);  // 24 bits
  }
};

__global__ void throw_points(int each, unsigned long long* inside, double* sums) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  Generator generator(thread);
  unsigned hits = 0;
  double sum = 0;
  for (int i = 0; i < each; ++i) {
    const std::uint64_t x = generator.next(), y = generator.next();
    if (x * x + y * y < (1ull << 48)) ++hits;
    sum += static_cast<double>(x) * static_cast<double>(y);
  }
  atomicAdd(&count, hits);
  sums[thread] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicAdd(inside, static_cast<unsigned long long>(count));
  if (blockIdx.x < 3)
    printf("CTA %d of %u: %u points inside, first %s %5.3f\n", static_cast<int>(blockIdx.x), gridDim.x, count, "sum",
           sum * 0x1p-48);
}

int main(int argc, char** argv) {
  const int each = size_argument(argc, argv, 40), ctas = 24, threads = 96;
  unsigned long long *device_inside, inside = 0, expected = 0;
  double* device_sums;
  std::vector<double> sums(ctas * threads);
  CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 16));
  CHECK(cudaMalloc(&device_inside, sizeof inside));
  CHECK(cudaMalloc(&device_sums, sums.size() * sizeof(double)));
  CHECK(cudaMemcpy(device_inside, &inside, sizeof inside, cudaMemcpyHostToDevice));
  throw_points<<<ctas, threads>>>(each, device_inside, device_sums);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(&inside, device_inside, sizeof inside, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(sums.data(), device_sums, sums.size() * sizeof(double), cudaMemcpyDeviceToHost));
  bool good = true;
  for (unsigned thread = 0; thread < static_cast<unsigned>(ctas * threads); ++thread) {
    Generator generator(thread);
    double sum = 0;
    for (int i = 0; i < each; ++i) {
      const std::uint64_t x = generator.next(), y = generator.next();
      expected += x * x + y * y < (1ull << 48);
      sum += static_cast<double>(x) * static_cast<double>(y);
    }
    good = good && is_close(sums[thread], sum, 1e-12);
  }
  std::printf("pi is about %.3f\n", 4.0 * static_cast<double>(inside) / ctas / threads / each);
  CHECK(cudaFree(device_inside));
  CHECK(cudaFree(device_sums));
  return verdict("monte_carlo", good && inside == expected);
}
