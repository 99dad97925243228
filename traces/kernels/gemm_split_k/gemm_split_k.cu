// SPDX-License-Identifier: Apache-2.0
//
// out = gelu(A B + bias) for few rows and a great depth, in bf16: gridDim.z CTAs share the depth of a tile of 64 x 64
// results and leave sums of f32, which a second kernel adds in order. A's slices go through registers to one of two
// buffers while the other one is used, as kernels did before copies were asynchronous.
#include <cuda_bf16.h>

#include "../tensor.h"

namespace {
constexpr int threads = 128;
constexpr int tile = 64;
constexpr int depth = 32;
constexpr int piece = 8;                                          // elements in 16 bytes
constexpr int padded_a = depth + piece, padded_b = tile + piece;  // rows that share no banks
constexpr int warp_tile = 32;
constexpr int pieces = tile * depth / piece / threads;  // of a thread, of each matrix

struct Slice {
  uint4 a[pieces], b[pieces];
};

__device__ __forceinline__ void load(Slice& slice, const __nv_bfloat16* a, const __nv_bfloat16* b, int row, int column,
                                     int k, int m, int n, int depths) {
#pragma unroll
  for (int i = 0; i < pieces; ++i) {
    const int at = i * threads + threadIdx.x;
    const int r = row + at / (depth / piece), p = k + at % (depth / piece) * piece;
    slice.a[i] =
        r < m ? __ldg(reinterpret_cast<const uint4*>(a + static_cast<size_t>(r) * depths + p)) : make_uint4(0, 0, 0, 0);
    const int t = k + at / (tile / piece), q = column + at % (tile / piece) * piece;
    slice.b[i] = __ldg(reinterpret_cast<const uint4*>(b + static_cast<size_t>(t) * n + q));
  }
}
}  // namespace

/// A: m x k, B: k x n, `partial`: gridDim.z times m x n. n is a multiple of 64, k of 32 * gridDim.z.
extern "C" __global__ void __launch_bounds__(threads)
    gemm_split_k(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b, float* __restrict__ partial,
                 int m, int n, int k) {
  __shared__ __align__(16) __nv_bfloat16 of_a[2][tile][padded_a];
  __shared__ __align__(16) __nv_bfloat16 of_b[2][depth][padded_b];
  const int row = blockIdx.y * tile, column = blockIdx.x * tile;
  const int lane = threadIdx.x % 32, own_warp = threadIdx.x / 32;
  const int warp_row = own_warp / 2 * warp_tile, warp_column = own_warp % 2 * warp_tile;
  const int share = k / static_cast<int>(gridDim.z), first = static_cast<int>(blockIdx.z) * share;

  float sum[warp_tile / 16][warp_tile / 8][4] = {};
  Slice slice;
  load(slice, a, b, row, column, first, m, n, k);
  for (int s = 0; s < share / depth; ++s) {
    const int now = s % 2;
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      const int at = i * threads + threadIdx.x;
      *reinterpret_cast<uint4*>(&of_a[now][at / (depth / piece)][at % (depth / piece) * piece]) = slice.a[i];
      *reinterpret_cast<uint4*>(&of_b[now][at / (tile / piece)][at % (tile / piece) * piece]) = slice.b[i];
    }
    __syncthreads();  // the other buffer is read before the next round writes it
    if ((s + 1) * depth < share) load(slice, a, b, row, column, first + (s + 1) * depth, m, n, k);
#pragma unroll
    for (int part = 0; part < depth; part += 16) {
      unsigned x[warp_tile / 16][4], y[warp_tile / 16][4];
#pragma unroll
      for (int i = 0; i < warp_tile / 16; ++i)
        tensor::load_matrices(x[i], &of_a[now][warp_row + i * 16 + lane % 16][part + lane / 16 * piece]);
#pragma unroll
      for (int j = 0; j < warp_tile / 16; ++j)
        tensor::load_transposed(y[j], &of_b[now][part + lane % 16][warp_column + j * 16 + lane / 16 * piece]);
#pragma unroll
      for (int i = 0; i < warp_tile / 16; ++i) {
#pragma unroll
        for (int j = 0; j < warp_tile / 8; ++j)
          tensor::multiply_bf16(sum[i][j], x[i], y[j / 2][j % 2 * 2], y[j / 2][j % 2 * 2 + 1]);
      }
    }
  }

  float* own = partial + static_cast<size_t>(blockIdx.z) * m * n;
#pragma unroll
  for (int i = 0; i < warp_tile / 16; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int r = row + warp_row + i * 16 + half * 8 + lane / 4;
      if (r >= m) continue;
#pragma unroll
      for (int j = 0; j < warp_tile / 8; ++j)
        *reinterpret_cast<float2*>(own + static_cast<size_t>(r) * n + column + warp_column + j * 8 + lane % 4 * 2) =
            make_float2(sum[i][j][2 * half], sum[i][j][2 * half + 1]);
    }
  }
}

namespace {
/// x / 2 (1 + tanh(...)): the usual approximation of x times the normal distribution.
__device__ __forceinline__ float gelu(float x) {
  const float inner = 0.7978845608f * fmaf(0.044715f * x * x, x, x);
  float tanh_of;
  asm("tanh.approx.f32 %0, %1;" : "=f"(tanh_of) : "f"(inner));
  return 0.5f * x * (1.0f + tanh_of);
}
}  // namespace

/// A thread per four results of m x n; `splits` is gemm_split_k's gridDim.z.
extern "C" __global__ void __launch_bounds__(256)
    gemm_split_k_sum(const float4* __restrict__ partial, const __nv_bfloat16* __restrict__ bias,
                     __nv_bfloat16* __restrict__ out, int m, int n, int splits) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= m * n / 4) return;
  float4 sum = __ldg(partial + at);
  for (int s = 1; s < splits; ++s) {
    const float4 next = __ldg(partial + static_cast<size_t>(s) * (m * n / 4) + at);
    sum.x += next.x;
    sum.y += next.y;
    sum.z += next.z;
    sum.w += next.w;
  }
  const __nv_bfloat162* biases = reinterpret_cast<const __nv_bfloat162*>(bias + at * 4 % n);
  const float2 low = __bfloat1622float2(__ldg(biases)), high = __bfloat1622float2(__ldg(biases + 1));
  __nv_bfloat162* result = reinterpret_cast<__nv_bfloat162*>(out + static_cast<size_t>(at) * 4);
  result[0] = __floats2bfloat162_rn(gelu(sum.x + low.x), gelu(sum.y + low.y));
  result[1] = __floats2bfloat162_rn(gelu(sum.z + high.x), gelu(sum.w + high.y));
}
