// SPDX-License-Identifier: Apache-2.0
//
// Scalar products of many pairs of vectors. A CTA computes one product after the other, those of its index, its index
// plus the number of CTAs and so on: 1,024 accumulators in shared memory, each the sum of every 1,024th product of
// elements, which a tree then adds up. Works for any number of threads. The host launches it with 256 threads a CTA
// and with 64.

namespace {
constexpr int accumulators = 1024;  // a power of two
}  // namespace

extern "C" __global__ void scalar_product(float* __restrict__ products, const float* __restrict__ a,
                                          const float* __restrict__ b, int vectors, int length) {
  __shared__ float sums[accumulators];

  for (int vector = blockIdx.x; vector < vectors; vector += gridDim.x) {
    const int first = vector * length;
    const int end = first + length;
    for (int i = threadIdx.x; i < accumulators; i += blockDim.x) {
      float sum = 0.0f;
      for (int at = first + i; at < end; at += accumulators) sum = fmaf(a[at], b[at], sum);
      sums[i] = sum;
    }

    for (int half = accumulators / 2; half > 0; half /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < half; i += blockDim.x) sums[i] += sums[i + half];
    }
    if (threadIdx.x == 0) products[vector] = sums[0];
    __syncthreads();  // the sums have been read
  }
}
