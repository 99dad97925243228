// SPDX-License-Identifier: Apache-2.0
//
// The two normalisations of transformers. layer_norm: mean and variance of a row of halves in one pass, by Welford's
// update and the merging of its counts, means and squares between lanes and warps. rms_norm: the residual stream of
// bf16 is added first and written back, as inference engines fuse it, and the row is scaled by the root of its mean
// square.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "../warp.h"

namespace {
constexpr int threads = 128;
constexpr int warps = threads / warp::lanes;
constexpr int vector = 8;   // elements in 16 bytes
constexpr int vectors = 2;  // of a thread in rms_norm

/// What is known of some numbers: how many, their mean, the sum of their squared distances from it.
struct Moments {
  float count, mean, squares;
};

__device__ __forceinline__ Moments merged(const Moments& a, const Moments& b) {
  const float count = a.count + b.count;
  if (count == 0.0f) return a;
  const float distance = b.mean - a.mean;
  const float share = __fdividef(b.count, count);
  return {count, fmaf(distance, share, a.mean), fmaf(distance * distance * a.count, share, a.squares + b.squares)};
}
}  // namespace

/// A CTA per row; `columns`: a multiple of 8.
extern "C" __global__ void __launch_bounds__(threads)
    layer_norm(const __half* __restrict__ in, const __half* __restrict__ gain, const __half* __restrict__ bias,
               __half* __restrict__ out, float* __restrict__ means, int columns, float epsilon) {
  __shared__ Moments of_warp[warps];
  const uint4* row = reinterpret_cast<const uint4*>(in + static_cast<size_t>(blockIdx.x) * columns);
  Moments own = {0.0f, 0.0f, 0.0f};
  for (int at = threadIdx.x; at * vector < columns; at += threads) {
    const uint4 word = __ldg(row + at);
    const __half2* pair = reinterpret_cast<const __half2*>(&word);
#pragma unroll
    for (int i = 0; i < vector; ++i) {
      const float x = i % 2 == 0 ? __low2float(pair[i / 2]) : __high2float(pair[i / 2]);
      own.count += 1.0f;
      const float distance = x - own.mean;
      own.mean = fmaf(distance, __fdividef(1.0f, own.count), own.mean);
      own.squares = fmaf(distance, x - own.mean, own.squares);
    }
  }
#pragma unroll
  for (int distance = warp::lanes / 2; distance > 0; distance /= 2) {
    const Moments other = {__shfl_down_sync(warp::all_lanes, own.count, distance),
                           __shfl_down_sync(warp::all_lanes, own.mean, distance),
                           __shfl_down_sync(warp::all_lanes, own.squares, distance)};
    own = merged(own, other);
  }
  if (threadIdx.x % warp::lanes == 0) of_warp[threadIdx.x / warp::lanes] = own;
  __syncthreads();
  own = of_warp[0];
#pragma unroll
  for (int w = 1; w < warps; ++w) own = merged(own, of_warp[w]);
  if (threadIdx.x == 0) means[blockIdx.x] = own.mean;
  const float factor = rsqrtf(__fdividef(own.squares, own.count) + epsilon);

  uint4* result = reinterpret_cast<uint4*>(out + static_cast<size_t>(blockIdx.x) * columns);
  for (int at = threadIdx.x; at * vector < columns; at += threads) {
    const uint4 word = __ldg(row + at);
    const uint4 gains = __ldg(reinterpret_cast<const uint4*>(gain) + at);
    const uint4 biases = __ldg(reinterpret_cast<const uint4*>(bias) + at);
    uint4 results;
#pragma unroll
    for (int i = 0; i < vector / 2; ++i) {
      const float2 x = __half22float2(reinterpret_cast<const __half2*>(&word)[i]);
      const float2 g = __half22float2(reinterpret_cast<const __half2*>(&gains)[i]);
      const float2 b = __half22float2(reinterpret_cast<const __half2*>(&biases)[i]);
      reinterpret_cast<__half2*>(&results)[i] =
          __floats2half2_rn(fmaf((x.x - own.mean) * factor, g.x, b.x), fmaf((x.y - own.mean) * factor, g.y, b.y));
    }
    result[at] = results;
  }
}

/// A CTA per row; `columns`: a multiple of 8, at most 2048. residual += in, out = residual * gain / its root mean
/// square.
extern "C" __global__ void __launch_bounds__(threads)
    rms_norm(const __nv_bfloat16* __restrict__ in, __nv_bfloat16* __restrict__ residual,
             const __nv_bfloat16* __restrict__ gain, __nv_bfloat16* __restrict__ out, int columns, float epsilon) {
  __shared__ float scratch[warps];
  const uint4* row = reinterpret_cast<const uint4*>(in + static_cast<size_t>(blockIdx.x) * columns);
  uint4* stream = reinterpret_cast<uint4*>(residual + static_cast<size_t>(blockIdx.x) * columns);
  uint4* result = reinterpret_cast<uint4*>(out + static_cast<size_t>(blockIdx.x) * columns);
  uint4 kept[vectors];
  float squares = 0.0f;
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    const int at = v * threads + threadIdx.x;
    if (at * vector >= columns) continue;
    const uint4 word = __ldg(row + at);
    kept[v] = stream[at];
    __nv_bfloat162* pair = reinterpret_cast<__nv_bfloat162*>(&kept[v]);
#pragma unroll
    for (int i = 0; i < vector / 2; ++i) {
      const float2 a = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162*>(&word)[i]);
      const float2 b = __bfloat1622float2(pair[i]);
      pair[i] = __floats2bfloat162_rn(a.x + b.x, a.y + b.y);
      const float2 sum = __bfloat1622float2(pair[i]);
      squares = fmaf(sum.x, sum.x, squares);
      squares = fmaf(sum.y, sum.y, squares);
    }
    stream[at] = kept[v];
  }
  squares = warp::sum_of_cta<threads>(squares, scratch);
  const float factor = rsqrtf(__fdividef(squares, static_cast<float>(columns)) + epsilon);
#pragma unroll
  for (int v = 0; v < vectors; ++v) {
    const int at = v * threads + threadIdx.x;
    if (at * vector >= columns) continue;
    const uint4 gains = __ldg(reinterpret_cast<const uint4*>(gain) + at);
    __nv_bfloat162* pair = reinterpret_cast<__nv_bfloat162*>(&kept[v]);
#pragma unroll
    for (int i = 0; i < vector / 2; ++i) {
      const float2 x = __bfloat1622float2(pair[i]);
      const float2 g = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162*>(&gains)[i]);
      pair[i] = __floats2bfloat162_rn(x.x * factor * g.x, x.y * factor * g.y);
    }
    result[at] = kept[v];
  }
}
