// SPDX-License-Identifier: Apache-2.0
//
// Causal attention over a whole prompt without its matrix of scores: a CTA has 64 queries of one head, sixteen a warp,
// and goes over the keys and values 64 at a time. Scores stay in accumulators, where the softmax is made as it goes:
// when a row's largest score grows, its sum and its results so far are scaled. Weights become the left operand of the
// second product without leaving their registers. Keys of the next round arrive during that product, values during the
// first.
#include <cuda_fp16.h>

#include "../tensor.h"
#include "../warp.h"

namespace {
constexpr int threads = 128;
constexpr int rows = 64;   // queries of a CTA, and keys of a round
constexpr int head = 128;  // elements
constexpr int piece = 8;
constexpr float log2_e = 1.4426950408889634f;
constexpr float lowest = -1.0e30f;

__device__ __forceinline__ int place(int r, int p) { return r * (head / piece) + (p ^ (r & 7)); }

/// 64 rows from `first` on; those from `length` on are zero.
__device__ __forceinline__ void load(uint4* tile, const __half* from, int first, int length) {
#pragma unroll
  for (int i = 0; i < rows * head / piece / threads; ++i) {
    const int at = i * threads + threadIdx.x, r = at / (head / piece), p = at % (head / piece);
    const bool there = first + r < length;
    tensor::copy_async(&tile[place(r, p)], there ? from + static_cast<size_t>(first + r) * head + p * piece : from,
                       there);
  }
}

__device__ __forceinline__ unsigned pair(float low, float high) {
  const __half2 both = __floats2half2_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&both);
}
}  // namespace

/// [head][token][element of 128] for all four. Grid: blocks of 64 queries, heads.
extern "C" __global__ void __launch_bounds__(threads)
    flash_attention(const __half* __restrict__ queries, const __half* __restrict__ keys,
                    const __half* __restrict__ values, __half* __restrict__ out, int length, float scale) {
  __shared__ uint4 query[rows * head / piece], key[rows * head / piece], value[rows * head / piece];
  const size_t of_head = static_cast<size_t>(blockIdx.y) * length * head;
  // The longest first.
  const int first = static_cast<int>(gridDim.x - 1 - blockIdx.x) * rows;
  const int lane = threadIdx.x % 32, own_warp = threadIdx.x / 32;
  load(query, queries + of_head, first, length);
  load(key, keys + of_head, 0, length);
  tensor::close_group();

  float result[head / 8][4] = {};
  float most[2] = {lowest, lowest}, sum[2] = {0.0f, 0.0f};
  const float factor = scale * log2_e;
  const int rounds = (min(first + rows, length) + rows - 1) / rows;
  for (int round = 0; round < rounds; ++round) {
    load(value, values + of_head, round * rows, length);
    tensor::close_group();
    tensor::wait_groups<1>();  // the keys, and at first the queries
    __syncthreads();

    float score[rows / 8][4] = {};
#pragma unroll
    for (int part = 0; part < head / 16; ++part) {
      unsigned q[4];
      tensor::load_matrices(q, &query[place(own_warp * 16 + lane % 16, part * 2 + lane / 16)]);
#pragma unroll
      for (int j = 0; j < rows / 16; ++j) {
        unsigned k[4];
        tensor::load_matrices(k, &key[place(j * 16 + lane / 16 * 8 + lane % 8, part * 2 + lane / 8 % 2)]);
        tensor::multiply_f16(score[2 * j], q, k[0], k[1]);
        tensor::multiply_f16(score[2 * j + 1], q, k[2], k[3]);
      }
    }
    __syncthreads();  // all have read the keys
    if (round + 1 < rounds) load(key, keys + of_head, (round + 1) * rows, length);
    tensor::close_group();

    // A quad of lanes has a row, and another one eight rows below.
    if (round + 1 == rounds) {
#pragma unroll
      for (int j = 0; j < rows / 8; ++j) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int token = round * rows + j * 8 + lane % 4 * 2 + i % 2;
          if (token > first + own_warp * 16 + lane / 4 + i / 2 * 8) score[j][i] = lowest;
        }
      }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float next = most[half];
#pragma unroll
      for (int j = 0; j < rows / 8; ++j) next = fmaxf(next, fmaxf(score[j][2 * half], score[j][2 * half + 1]));
      next = fmaxf(next, __shfl_xor_sync(warp::all_lanes, next, 1));
      next = fmaxf(next, __shfl_xor_sync(warp::all_lanes, next, 2));
      const float correction = exp2f((most[half] - next) * factor);
      most[half] = next;
      float of_round = 0.0f;
#pragma unroll
      for (int j = 0; j < rows / 8; ++j) {
#pragma unroll
        for (int i = 2 * half; i < 2 * half + 2; ++i) {
          score[j][i] = exp2f(fmaf(score[j][i], factor, -(next * factor)));
          of_round += score[j][i];
        }
      }
      sum[half] = fmaf(sum[half], correction, of_round);
#pragma unroll
      for (int j = 0; j < head / 8; ++j) {
        result[j][2 * half] *= correction;
        result[j][2 * half + 1] *= correction;
      }
    }

    tensor::wait_groups<1>();  // the values
    __syncthreads();
#pragma unroll
    for (int part = 0; part < rows / 16; ++part) {
      const unsigned weights[4] = {
          pair(score[2 * part][0], score[2 * part][1]), pair(score[2 * part][2], score[2 * part][3]),
          pair(score[2 * part + 1][0], score[2 * part + 1][1]), pair(score[2 * part + 1][2], score[2 * part + 1][3])};
#pragma unroll
      for (int j = 0; j < head / 16; ++j) {
        unsigned v[4];
        tensor::load_transposed(v, &value[place(part * 16 + lane % 16, j * 2 + lane / 16)]);
        tensor::multiply_f16(result[2 * j], weights, v[0], v[1]);
        tensor::multiply_f16(result[2 * j + 1], weights, v[2], v[3]);
      }
    }
    __syncthreads();  // all have read the values
  }

#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float all = sum[half];
    all += __shfl_xor_sync(warp::all_lanes, all, 1);
    all += __shfl_xor_sync(warp::all_lanes, all, 2);
    const float share = __fdividef(1.0f, all);
    const int token = first + own_warp * 16 + half * 8 + lane / 4;
    if (token >= length) continue;
#pragma unroll
    for (int j = 0; j < head / 8; ++j)
      *reinterpret_cast<__half2*>(out + of_head + static_cast<size_t>(token) * head + j * 8 + lane % 4 * 2) =
          __floats2half2_rn(result[j][2 * half] * share, result[j][2 * half + 1] * share);
  }
}
