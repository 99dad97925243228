// SPDX-License-Identifier: Apache-2.0
//
// histogram with a race: CTAs add to the global counts without atomics.

namespace {
constexpr int threads = 256;
constexpr int bins = 256;  // one a thread
constexpr int samples_per_word = 4;
constexpr int bits_per_sample = 8;
}  // namespace

/// `words` words of four samples each; threads of the whole grid take them in turn.
extern "C" __global__ void __launch_bounds__(threads)
    histogram(const unsigned* __restrict__ samples, unsigned* __restrict__ counts, int words) {
  __shared__ unsigned count[bins];

  count[threadIdx.x] = 0;
  __syncthreads();

  for (int i = blockIdx.x * threads + threadIdx.x; i < words; i += gridDim.x * threads) {
    const unsigned word = samples[i];
#pragma unroll
    for (int s = 0; s < samples_per_word; ++s) atomicAdd(&count[(word >> (s * bits_per_sample)) % bins], 1u);
  }
  __syncthreads();

  const unsigned found = count[threadIdx.x];
  if (found != 0) counts[threadIdx.x] += found;
}
