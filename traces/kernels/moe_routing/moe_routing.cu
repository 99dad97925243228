// SPDX-License-Identifier: Apache-2.0
//
// A mixture of experts around its matrix products. moe_gate: a warp per token finds the two experts with the largest
// logits, by shuffles, and their weights. moe_align: one CTA counts and sorts the choices by expert without atomics, so
// that equal experts keep the order of tokens, and lets each expert begin at a multiple of 16 rows. moe_permute: rows
// in that order. moe_combine: each token's two rows, weighted.
#include <cuda_bf16.h>

#include "../warp.h"

namespace {
constexpr int experts = 32;
constexpr int chosen = 2;
constexpr int align_threads = 128;
constexpr int block = 16;  // rows of an expert's products
constexpr int vector = 8;
}  // namespace

/// `logits`: 32 a token; `choices` and `weights`: two a token. A warp per token.
extern "C" __global__ void __launch_bounds__(128)
    moe_gate(const float* __restrict__ logits, int* __restrict__ choices, float* __restrict__ weights, int tokens) {
  const int token = blockIdx.x * (128 / warp::lanes) + threadIdx.x / warp::lanes;
  if (token >= tokens) return;
  const int lane = threadIdx.x % warp::lanes;
  float own = __ldg(logits + token * experts + lane);
  float best[chosen];
  int expert[chosen];
#pragma unroll
  for (int c = 0; c < chosen; ++c) {
    float most = own;
    int of = lane;
#pragma unroll
    for (int distance = warp::lanes / 2; distance > 0; distance /= 2) {
      const float other = __shfl_xor_sync(warp::all_lanes, most, distance);
      const int others = __shfl_xor_sync(warp::all_lanes, of, distance);
      if (other > most || (other == most && others < of)) {
        most = other;
        of = others;
      }
    }
    best[c] = most;
    expert[c] = of;
    if (lane == of) own = -3.0e38f;
  }
  // A softmax of both.
  const float second = __expf(best[1] - best[0]);
  const float first = __fdividef(1.0f, 1.0f + second);
  if (lane < chosen) {
    choices[token * chosen + lane] = lane == 0 ? expert[0] : expert[1];
    weights[token * chosen + lane] = lane == 0 ? first : second * first;
  }
}

/// `places`: for each choice the row of its token in the sorted order; `rows`: for each row the token it is of, or
/// -1; `begins`: 33 numbers, where each expert's rows begin. A single CTA of 128 threads; each takes a run of choices.
extern "C" __global__ void __launch_bounds__(align_threads)
    moe_align(const int* __restrict__ choices, int* __restrict__ places, int* __restrict__ rows,
              int* __restrict__ begins, int count, int room) {
  // Row t: how many of each expert's choices are before those of thread t.
  __shared__ unsigned short before[align_threads + 1][experts];
  __shared__ int begin[experts + 1];
  const int per_thread = (count + align_threads - 1) / align_threads;
  const int first = threadIdx.x * per_thread, last = min(first + per_thread, count);
  for (int e = 0; e < experts; ++e) before[threadIdx.x + 1][e] = 0;
  if (threadIdx.x < experts) before[0][threadIdx.x] = 0;
  for (int i = first; i < last; ++i) ++before[threadIdx.x + 1][choices[i]];
  for (int i = threadIdx.x; i < room; i += align_threads) rows[i] = -1;
  __syncthreads();
  if (threadIdx.x < experts) {
    int sum = 0;
    for (int t = 1; t <= align_threads; ++t) {
      sum += before[t][threadIdx.x];
      before[t][threadIdx.x] = static_cast<unsigned short>(sum);
    }
    const int own = (sum + block - 1) / block * block;
    int up_to = own;
#pragma unroll
    for (int distance = 1; distance < warp::lanes; distance *= 2) {
      const int other = __shfl_up_sync(warp::all_lanes, up_to, distance);
      if (static_cast<int>(threadIdx.x) >= distance) up_to += other;
    }
    begin[threadIdx.x + 1] = up_to;
    begins[threadIdx.x + 1] = up_to;
    if (threadIdx.x == 0) begin[0] = begins[0] = 0;
  }
  __syncthreads();
  for (int i = first; i < last; ++i) {
    const int expert = choices[i];
    const int place = begin[expert] + before[threadIdx.x][expert]++;
    places[i] = place;
    rows[place] = i / chosen;
  }
}

/// A CTA per row of the sorted order; rows of no token are zero.
extern "C" __global__ void __launch_bounds__(64)
    moe_permute(const uint4* __restrict__ in, const int* __restrict__ rows, uint4* __restrict__ out, int width) {
  const int token = __ldg(rows + blockIdx.x);
  const int vectors = width / vector;
  for (int at = threadIdx.x; at < vectors; at += blockDim.x)
    out[static_cast<size_t>(blockIdx.x) * vectors + at] =
        token < 0 ? make_uint4(0, 0, 0, 0) : __ldg(in + static_cast<size_t>(token) * vectors + at);
}

/// In place of the experts: rows times 1 + expert / 32. A CTA per row.
extern "C" __global__ void __launch_bounds__(64)
    moe_scale(__nv_bfloat162* __restrict__ rows, const int* __restrict__ begins, int width) {
  __shared__ int expert;
  if (threadIdx.x < experts) {
    const bool there = static_cast<int>(blockIdx.x) >= __ldg(begins + threadIdx.x + 1);
    const unsigned below = __ballot_sync(warp::all_lanes, there);
    if (threadIdx.x == 0) expert = __popc(below);
  }
  __syncthreads();
  const __nv_bfloat162 factor = __float2bfloat162_rn(1.0f + static_cast<float>(expert) * (1.0f / experts));
  __nv_bfloat162* row = rows + static_cast<size_t>(blockIdx.x) * (width / 2);
  for (int at = threadIdx.x; at < width / 2; at += blockDim.x) row[at] = __hmul2_rn(row[at], factor);
}

/// out[token] = sum over its choices of weight * row. A CTA per token.
extern "C" __global__ void __launch_bounds__(64)
    moe_combine(const __nv_bfloat162* __restrict__ rows, const int* __restrict__ places,
                const float* __restrict__ weights, __nv_bfloat162* __restrict__ out, int width) {
  const int token = blockIdx.x;
  float weight[chosen];
  const __nv_bfloat162* row[chosen];
#pragma unroll
  for (int c = 0; c < chosen; ++c) {
    weight[c] = __ldg(weights + token * chosen + c);
    row[c] = rows + static_cast<size_t>(__ldg(places + token * chosen + c)) * (width / 2);
  }
  for (int at = threadIdx.x; at < width / 2; at += blockDim.x) {
    float2 sum = make_float2(0.0f, 0.0f);
#pragma unroll
    for (int c = 0; c < chosen; ++c) {
      const float2 two = __bfloat1622float2(__ldg(row[c] + at));
      sum.x = fmaf(weight[c], two.x, sum.x);
      sum.y = fmaf(weight[c], two.y, sum.y);
    }
    out[static_cast<size_t>(token) * (width / 2) + at] = __floats2bfloat162_rn(sum.x, sum.y);
  }
}
