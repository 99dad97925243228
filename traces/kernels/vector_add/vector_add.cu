// SPDX-License-Identifier: Apache-2.0
//
// c = a + b, one element per thread: streaming, no reuse, nothing to hide latency but other warps.

extern "C" __global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                      int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) c[i] = a[i] + b[i];
}
