// SPDX-License-Identifier: Apache-2.0
//
// The first layer of a language model, forward and backward. embedding_gather adds a token's row of the table and its
// position's row, sixteen bytes at a time. embedding_scatter_add adds the gradients of all tokens to the rows of an
// f32 table by atomics; tokens that occur often contend. embedding_step applies it to the table of bf16.
#include <cuda_bf16.h>

namespace {
constexpr int vector = 8;  // bf16 in 16 bytes
}

/// `width`: a multiple of 8. A CTA per token.
extern "C" __global__ void __launch_bounds__(128)
    embedding_gather(const int* __restrict__ tokens, const __nv_bfloat16* __restrict__ table,
                     const __nv_bfloat16* __restrict__ positions, __nv_bfloat16* __restrict__ out, int length,
                     int width) {
  const int token = __ldg(tokens + blockIdx.x);
  const uint4* row = reinterpret_cast<const uint4*>(table + static_cast<size_t>(token) * width);
  const uint4* place = reinterpret_cast<const uint4*>(positions + static_cast<size_t>(blockIdx.x % length) * width);
  uint4* result = reinterpret_cast<uint4*>(out + static_cast<size_t>(blockIdx.x) * width);
  for (int at = threadIdx.x; at * vector < width; at += blockDim.x) {
    const uint4 a = __ldg(row + at), b = __ldg(place + at);
    uint4 sum;
#pragma unroll
    for (int i = 0; i < vector / 2; ++i)
      reinterpret_cast<__nv_bfloat162*>(&sum)[i] =
          __hadd2_rn(reinterpret_cast<const __nv_bfloat162*>(&a)[i], reinterpret_cast<const __nv_bfloat162*>(&b)[i]);
    result[at] = sum;
  }
}

/// A CTA per token; tokens below `skipped` (padding) have no gradient. Gradients are bytes times `scale`, as a
/// compressed exchange between GPUs leaves them: if that is a power of two, sums are exact in any order. `width`: a
/// multiple of 4.
extern "C" __global__ void __launch_bounds__(128)
    embedding_scatter_add(const int* __restrict__ tokens, const char4* __restrict__ gradients, float* __restrict__ sums,
                          int skipped, int width, float scale) {
  const int token = __ldg(tokens + blockIdx.x);
  if (token < skipped) return;
  float* row = sums + static_cast<size_t>(token) * width;
  const char4* gradient = gradients + static_cast<size_t>(blockIdx.x) * (width / 4);
  for (int at = threadIdx.x; at * 4 < width; at += blockDim.x) {
    const char4 four = __ldg(gradient + at);
    atomicAdd(row + 4 * at, static_cast<float>(four.x) * scale);
    atomicAdd(row + 4 * at + 1, static_cast<float>(four.y) * scale);
    atomicAdd(row + 4 * at + 2, static_cast<float>(four.z) * scale);
    atomicAdd(row + 4 * at + 3, static_cast<float>(four.w) * scale);
  }
}

/// table -= rate * sums, a thread per two elements; `count`: of elements, an even number.
extern "C" __global__ void __launch_bounds__(256)
    embedding_step(__nv_bfloat162* __restrict__ table, const float2* __restrict__ sums, int count, float rate) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= count / 2) return;
  const float2 sum = __ldg(sums + at);
  if (sum.x == 0.0f && sum.y == 0.0f) return;  // most rows have no token
  const float2 now = __bfloat1622float2(table[at]);
  table[at] = __floats2bfloat162_rn(fmaf(-rate, sum.x, now.x), fmaf(-rate, sum.y, now.y));
}
