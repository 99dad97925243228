// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of suite modern share: sums and maxima over a warp and over a CTA, sixteen bytes at a time.
#pragma once

namespace warp {

constexpr unsigned all_lanes = 0xffffffffu;
constexpr int lanes = 32;

/// Every lane gets the sum over the warp.
static __device__ __forceinline__ float sum(float value) {
#pragma unroll
  for (int distance = lanes / 2; distance > 0; distance /= 2) value += __shfl_xor_sync(all_lanes, value, distance);
  return value;
}

/// Every lane gets the largest value of the warp.
static __device__ __forceinline__ float largest(float value) {
#pragma unroll
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    value = fmaxf(value, __shfl_xor_sync(all_lanes, value, distance));
  return value;
}

/// The same over a CTA of `threads` threads; `scratch` has a word for each warp. Every thread gets it.
template <int threads>
static __device__ __forceinline__ float sum_of_cta(float value, float* scratch) {
  value = sum(value);
  __syncthreads();  // the last round's values are read
  if (threadIdx.x % lanes == 0) scratch[threadIdx.x / lanes] = value;
  __syncthreads();
  float all = 0.0f;
#pragma unroll
  for (int w = 0; w < threads / lanes; ++w) all += scratch[w];
  return all;
}

template <int threads>
static __device__ __forceinline__ float largest_of_cta(float value, float* scratch) {
  value = largest(value);
  __syncthreads();
  if (threadIdx.x % lanes == 0) scratch[threadIdx.x / lanes] = value;
  __syncthreads();
  float all = scratch[0];
#pragma unroll
  for (int w = 1; w < threads / lanes; ++w) all = fmaxf(all, scratch[w]);
  return all;
}

}  // namespace warp
