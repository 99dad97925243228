// SPDX-License-Identifier: Apache-2.0
//
// Attention of one new token of each sequence over keys and values in pages, as servers of language models keep them: a
// table maps a sequence's blocks of 16 tokens to blocks anywhere in the caches. A CTA computes one head of one
// sequence; several query heads share a head of keys. Scores first, a warp per block with two lanes a token, then
// their softmax in shared memory, then the weighted values, a warp per block and four elements a lane.
#include <cuda_fp16.h>

#include "../warp.h"

namespace {
constexpr int threads = 128;
constexpr int warps = threads / warp::lanes;
constexpr int head = 128;  // elements
constexpr int page = 16;   // tokens
constexpr int vector = 8;  // halves in 16 bytes
constexpr float log2_e = 1.4426950408889634f;
}  // namespace

/// Caches: [block][head of keys][token of 16][element of 128]. Dynamic shared memory: a float for each token of the
/// longest sequence, in whole blocks. Grid: heads of queries, sequences.
extern "C" __global__ void __launch_bounds__(threads)
    paged_attention(const __half* __restrict__ queries, const __half* __restrict__ keys,
                    const __half* __restrict__ values, const int* __restrict__ tables, const int* __restrict__ lengths,
                    __half* __restrict__ out, int blocks_of_sequence, int heads_of_keys, float scale) {
  extern __shared__ float scores[];
  __shared__ float scratch[warps];
  __shared__ __align__(16) float sums[warps][head];
  const int number = blockIdx.x, sequence = blockIdx.y, heads = gridDim.x;
  const int lane = threadIdx.x % warp::lanes, own_warp = threadIdx.x / warp::lanes;
  const int length = __ldg(lengths + sequence);
  const int blocks = (length + page - 1) / page;
  const int* table = tables + sequence * blocks_of_sequence;
  const int of_keys = number / (heads / heads_of_keys);
  const int row = sequence * heads + number;

  // Lanes 2 t and 2 t + 1 have token t: the even one the even vectors of eight, the odd one the odd ones.
  __half2 query[head / 2 / vector][vector / 2];
#pragma unroll
  for (int i = 0; i < head / 2 / vector; ++i)
    *reinterpret_cast<uint4*>(query[i]) =
        __ldg(reinterpret_cast<const uint4*>(queries + static_cast<size_t>(row) * head) + 2 * i + lane % 2);
  float most = -3.0e38f;
  for (int b = own_warp; b < blocks; b += warps) {
    const size_t first = (static_cast<size_t>(__ldg(table + b)) * heads_of_keys + of_keys) * page;
    const uint4* key = reinterpret_cast<const uint4*>(keys + (first + lane / 2) * head);
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < head / 2 / vector; ++i) {
      const uint4 eight = __ldg(key + 2 * i + lane % 2);
      const __half2* pair = reinterpret_cast<const __half2*>(&eight);
      __half2 products = __hmul2_rn(pair[0], query[i][0]);
#pragma unroll
      for (int j = 1; j < vector / 2; ++j) products = __hfma2(pair[j], query[i][j], products);
      const float2 two = __half22float2(products);
      sum += two.x + two.y;
    }
    sum += __shfl_xor_sync(warp::all_lanes, sum, 1);
    const int token = b * page + lane / 2;
    const float score = token < length ? sum * scale : -3.0e38f;
    if (lane % 2 == 0) scores[token] = score;
    most = fmaxf(most, score);
  }
  most = warp::largest_of_cta<threads>(most, scratch);

  float sum = 0.0f;
  for (int token = threadIdx.x; token < blocks * page; token += threads) {
    const float weight = exp2f((scores[token] - most) * log2_e);
    scores[token] = weight;
    sum += weight;
  }
  sum = warp::sum_of_cta<threads>(sum, scratch);
  const float factor = __fdividef(1.0f, sum);

  float4 result = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int b = own_warp; b < blocks; b += warps) {
    const size_t first = (static_cast<size_t>(__ldg(table + b)) * heads_of_keys + of_keys) * page;
    const uint2* value = reinterpret_cast<const uint2*>(values + first * head) + lane;
#pragma unroll 4
    for (int t = 0; t < page; ++t) {
      const float weight = scores[b * page + t];
      const uint2 four = __ldg(value + t * (head / 4));
      const float2 low = __half22float2(*reinterpret_cast<const __half2*>(&four.x));
      const float2 high = __half22float2(*reinterpret_cast<const __half2*>(&four.y));
      result.x = fmaf(weight, low.x, result.x);
      result.y = fmaf(weight, low.y, result.y);
      result.z = fmaf(weight, high.x, result.z);
      result.w = fmaf(weight, high.y, result.w);
    }
  }
  *reinterpret_cast<float4*>(&sums[own_warp][4 * lane]) = result;
  __syncthreads();
  if (threadIdx.x < head / 2) {
    float2 all = make_float2(0.0f, 0.0f);
#pragma unroll
    for (int w = 0; w < warps; ++w) {
      const float2 two = *reinterpret_cast<const float2*>(&sums[w][2 * threadIdx.x]);
      all.x += two.x;
      all.y += two.y;
    }
    reinterpret_cast<__half2*>(out + static_cast<size_t>(row) * head)[threadIdx.x] =
        __floats2half2_rn(all.x * factor, all.y * factor);
  }
}
