// SPDX-License-Identifier: Apache-2.0
//
// The gate of a transformer's feed-forward layer, SwiGLU: out = gate / (1 + exp(-gate)) * up. A row of `in` holds the
// gates of a token and then its values. swiglu: bf16, eight elements a thread. swiglu_half2: halves, with the
// exponential and all arithmetic on pairs, as mobile and older GPUs prefer.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace {
constexpr int vector = 8;

__device__ __forceinline__ float gated(float gate, float up) { return __fdividef(gate, 1.0f + __expf(-gate)) * up; }
}  // namespace

/// `width`: of the result's rows, a multiple of 8. A thread per eight results of all rows.
extern "C" __global__ void __launch_bounds__(256)
    swiglu(const __nv_bfloat16* __restrict__ in, __nv_bfloat16* __restrict__ out, int rows, int width) {
  const int per_row = width / vector;
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= rows * per_row) return;
  const int row = at / per_row, column = at % per_row;
  const uint4* from = reinterpret_cast<const uint4*>(in) + static_cast<size_t>(row) * 2 * per_row + column;
  const uint4 gates = __ldg(from), ups = __ldg(from + per_row);
  uint4 results;
#pragma unroll
  for (int i = 0; i < vector / 2; ++i) {
    const float2 gate = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162*>(&gates)[i]);
    const float2 up = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162*>(&ups)[i]);
    reinterpret_cast<__nv_bfloat162*>(&results)[i] = __floats2bfloat162_rn(gated(gate.x, up.x), gated(gate.y, up.y));
  }
  reinterpret_cast<uint4*>(out)[at] = results;
}

extern "C" __global__ void __launch_bounds__(256)
    swiglu_half2(const __half* __restrict__ in, __half* __restrict__ out, int rows, int width) {
  const int per_row = width / vector;
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= rows * per_row) return;
  const int row = at / per_row, column = at % per_row;
  const uint4* from = reinterpret_cast<const uint4*>(in) + static_cast<size_t>(row) * 2 * per_row + column;
  const uint4 gates = __ldg(from), ups = __ldg(from + per_row);
  uint4 results;
  const __half2 one = __float2half2_rn(1.0f), minus_log2_e = __float2half2_rn(-1.4426950408889634f);
#pragma unroll
  for (int i = 0; i < vector / 2; ++i) {
    const __half2 gate = reinterpret_cast<const __half2*>(&gates)[i];
    const __half2 up = reinterpret_cast<const __half2*>(&ups)[i];
    const __half2 below = __hadd2_rn(h2exp2(__hmul2_rn(gate, minus_log2_e)), one);
    reinterpret_cast<__half2*>(&results)[i] = __hmul2_rn(__hmul2_rn(gate, h2rcp(below)), up);
  }
  reinterpret_cast<uint4*>(out)[at] = results;
}
