// SPDX-License-Identifier: Apache-2.0
//
// Quasi-random points in many dimensions (Sobol 1967) in the order of Antonov and Saleev (1979): number i of a
// dimension is the exclusive or of its direction numbers at the bits of i's Gray code. The host launches directions,
// then sobol with a row of CTAs for every dimension. The number of threads in a row is a power of two: two Gray codes
// at that distance differ in two bits, so a thread needs two direction numbers for each of its points but the first.

namespace {
constexpr int threads = 64;
constexpr int bits = 32;  // direction numbers of a dimension
}  // namespace

/// Direction numbers out of random ones: number k has a one in bit 31 - k and zeros below.
extern "C" __global__ void __launch_bounds__(threads)
    sobol_directions(const unsigned* __restrict__ random, unsigned* __restrict__ directions, int count) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i >= count) return;
  const int below = bits - 1 - i % bits;
  directions[i] = (random[i] >> below | 1u) << below;
}

/// Point i, dimension d is output[d * points + i].
extern "C" __global__ void __launch_bounds__(threads)
    sobol(const unsigned* __restrict__ directions, float* __restrict__ output, unsigned points) {
  __shared__ unsigned direction[bits];
  directions += blockIdx.y * bits;
  output += blockIdx.y * points;
  if (threadIdx.x < bits) direction[threadIdx.x] = directions[threadIdx.x];
  __syncthreads();

  const unsigned first = blockIdx.x * threads + threadIdx.x;
  const unsigned stride = gridDim.x * threads;
  const int log_stride = __ffs(static_cast<int>(stride)) - 1;
  constexpr float scale = 1.0f / 4294967296.0f;

  unsigned x = 0;
  unsigned gray = first ^ (first >> 1);
  for (int k = 0; k < log_stride; ++k) {
    x ^= (0u - (gray & 1u)) & direction[k];
    gray >>= 1;
  }
  if (first < points) output[first] = static_cast<float>(x) * scale;

  const unsigned always = direction[log_stride - 1];
  for (unsigned i = first + stride; i < points; i += stride) {
    x ^= always ^ direction[__ffs(static_cast<int>(~((i - stride) | (stride - 1u)))) - 1];
    output[i] = static_cast<float>(x) * scale;
  }
}
