// SPDX-License-Identifier: Apache-2.0
//
// Softmax over the rows of a matrix, as inference libraries have it, in two ways. softmax_rows keeps a row of halves in
// registers: a CTA reads it once, eight elements at a time, and takes three steps over it. softmax_online is for rows
// of any length: a warp reads its row once for the largest element and the sum, which it corrects when a larger element
// comes, and once more to write.
#include <cuda_fp16.h>

#include "../warp.h"

namespace {
constexpr int threads = 128;
constexpr int vector = 8;   // halves in 16 bytes
constexpr int vectors = 2;  // of a thread
constexpr float log2_e = 1.4426950408889634f;
constexpr float lowest = -3.0e38f;  // below every element
}  // namespace

/// `columns`: a multiple of 8, at most 2048. A CTA per row.
extern "C" __global__ void __launch_bounds__(threads)
    softmax_rows(const __half* __restrict__ in, __half* __restrict__ out, int columns, float scale) {
  __shared__ float scratch[threads / warp::lanes];
  const uint4* row = reinterpret_cast<const uint4*>(in + static_cast<size_t>(blockIdx.x) * columns);
  uint4* result = reinterpret_cast<uint4*>(out + static_cast<size_t>(blockIdx.x) * columns);
  float element[vectors][vector];
  float most = lowest;
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    const int at = v * threads + threadIdx.x;
    if (at * vector < columns) {
      const uint4 word = __ldg(row + at);
      const __half2* pair = reinterpret_cast<const __half2*>(&word);
#pragma unroll
      for (int i = 0; i < vector / 2; ++i) {
        const float2 two = __half22float2(pair[i]);
        element[v][2 * i] = two.x * scale;
        element[v][2 * i + 1] = two.y * scale;
      }
    } else {
#pragma unroll
      for (int i = 0; i < vector; ++i) element[v][i] = lowest;
    }
#pragma unroll
    for (int i = 0; i < vector; ++i) most = fmaxf(most, element[v][i]);
  }
  most = warp::largest_of_cta<threads>(most, scratch);
  float sum = 0.0f;
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
#pragma unroll
    for (int i = 0; i < vector; ++i) {
      element[v][i] = exp2f((element[v][i] - most) * log2_e);
      sum += element[v][i];
    }
  }
  sum = warp::sum_of_cta<threads>(sum, scratch);
  const float factor = __fdividef(1.0f, sum);
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    const int at = v * threads + threadIdx.x;
    if (at * vector >= columns) continue;
    uint4 word;
    __half2* pair = reinterpret_cast<__half2*>(&word);
#pragma unroll
    for (int i = 0; i < vector / 2; ++i)
      pair[i] = __floats2half2_rn(element[v][2 * i] * factor, element[v][2 * i + 1] * factor);
    result[at] = word;
  }
}

/// A warp per row; `columns`: a multiple of 4.
extern "C" __global__ void __launch_bounds__(threads)
    softmax_online(const float* __restrict__ in, float* __restrict__ out, int rows, int columns) {
  const int number = blockIdx.x * (threads / warp::lanes) + threadIdx.x / warp::lanes;
  if (number >= rows) return;
  const int lane = threadIdx.x % warp::lanes;
  const float4* row = reinterpret_cast<const float4*>(in + static_cast<size_t>(number) * columns);
  float most = lowest, sum = 0.0f;
  for (int at = lane; at * 4 < columns; at += warp::lanes) {
    const float4 x = __ldg(row + at);
    const float next = fmaxf(most, fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w)));
    sum = fmaf(sum, exp2f((most - next) * log2_e),
               (exp2f((x.x - next) * log2_e) + exp2f((x.y - next) * log2_e)) +
                   (exp2f((x.z - next) * log2_e) + exp2f((x.w - next) * log2_e)));
    most = next;
  }
#pragma unroll
  for (int distance = warp::lanes / 2; distance > 0; distance /= 2) {
    const float other = __shfl_xor_sync(warp::all_lanes, most, distance);
    const float others = __shfl_xor_sync(warp::all_lanes, sum, distance);
    const float next = fmaxf(most, other);
    sum = fmaf(sum, exp2f((most - next) * log2_e), others * exp2f((other - next) * log2_e));
    most = next;
  }
  const float factor = __fdividef(1.0f, sum);
  float4* result = reinterpret_cast<float4*>(out + static_cast<size_t>(number) * columns);
  for (int at = lane; at * 4 < columns; at += warp::lanes) {
    float4 x = __ldg(row + at);
    x.x = exp2f((x.x - most) * log2_e) * factor;
    x.y = exp2f((x.y - most) * log2_e) * factor;
    x.z = exp2f((x.z - most) * log2_e) * factor;
    x.w = exp2f((x.w - most) * log2_e) * factor;
    result[at] = x;
  }
}
