// SPDX-License-Identifier: Apache-2.0
//
// Rotary position embedding, in the form that pairs an element with the one half a head away. rotary_table makes sines
// and cosines for all positions; rotary turns queries and keys in place, by each token's own position.
#include <cuda_fp16.h>

namespace {
constexpr int head = 128;  // elements
constexpr int half_head = head / 2;
constexpr float log2_base = 13.287712379549449f;  // of 10000
}  // namespace

/// Cosine and sine of position * 10000^(-i / 64), i from 0 to 63: 64 pairs a position.
extern "C" __global__ void rotary_table(float2* __restrict__ table, int positions) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= positions * half_head) return;
  const float frequency = exp2f(static_cast<float>(at % half_head) * (-log2_base / half_head));
  float2 pair;
  sincosf(static_cast<float>(at / half_head) * frequency, &pair.y, &pair.x);
  table[at] = pair;
}

/// A CTA of 128 threads per token: `queries` heads in q, `keys` heads in k, each of 128 elements.
extern "C" __global__ void __launch_bounds__(128)
    rotary(__half* __restrict__ q, __half* __restrict__ k, const float2* __restrict__ table,
           const int* __restrict__ position, int queries, int keys) {
  const int token = blockIdx.x;
  const float2* row = table + __ldg(position + token) * half_head;
  // Two neighbouring elements and their partners at a time.
  for (int at = threadIdx.x; at < (queries + keys) * (half_head / 2); at += blockDim.x) {
    const int number = at / (half_head / 2), pair = at % (half_head / 2);
    __half* of_head = number < queries ? q + (static_cast<size_t>(token) * queries + number) * head
                                       : k + (static_cast<size_t>(token) * keys + number - queries) * head;
    __half2* first = reinterpret_cast<__half2*>(of_head) + pair;
    __half2* second = first + half_head / 2;
    const float4 turn = __ldg(reinterpret_cast<const float4*>(row) + pair);  // cosine and sine of both
    const float2 x = __half22float2(*first), y = __half22float2(*second);
    *first = __floats2half2_rn(fmaf(x.x, turn.x, -(y.x * turn.y)), fmaf(x.y, turn.z, -(y.y * turn.w)));
    *second = __floats2half2_rn(fmaf(y.x, turn.x, x.x * turn.y), fmaf(y.y, turn.z, x.y * turn.w));
  }
}
