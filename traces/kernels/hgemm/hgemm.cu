// SPDX-License-Identifier: Apache-2.0
//
// C = alpha A B for halves in rows, as libraries compute it on Ampere: a CTA of four warps makes 128 x 128 results, a
// warp 64 x 64 in 128 accumulators. Slices of the matrices, 32 deep, arrive by cp.async in three stages ahead of their
// use; ldmatrix makes fragments of them. Sixteen-byte pieces are swizzled so that neither has bank conflicts.
#include <cuda_fp16.h>

#include "../tensor.h"

namespace {
constexpr int threads = 128;
constexpr int tile = 128;  // rows of A and columns of B
constexpr int depth = 32;
constexpr int stages = 3;
constexpr int piece = 8;  // halves in 16 bytes
constexpr int warp_tile = 64;

/// Where piece `p` of row `r` is, in pieces: of A's slice, 128 rows of 4, ...
__device__ __forceinline__ int place_a(int r, int p) { return r * (depth / piece) + (p ^ (r >> 1 & 3)); }
/// ... and of B's, 32 rows of 16.
__device__ __forceinline__ int place_b(int r, int p) { return r * (tile / piece) + (p ^ (r & 7)); }

struct Stage {
  uint4 a[tile * depth / piece];
  uint4 b[tile * depth / piece];
};

/// Pieces beyond the matrices are zero.
__device__ __forceinline__ void load(Stage& stage, const __half* a, const __half* b, int row, int column, int k, int m,
                                     int n, int depths) {
#pragma unroll
  for (int i = 0; i < tile * depth / piece / threads; ++i) {
    const int at = i * threads + threadIdx.x;
    const int r = at / (depth / piece), p = at % (depth / piece);
    const bool there = row + r < m && k + p * piece < depths;
    tensor::copy_async(&stage.a[place_a(r, p)], there ? a + static_cast<size_t>(row + r) * depths + k + p * piece : a,
                       there);
  }
#pragma unroll
  for (int i = 0; i < tile * depth / piece / threads; ++i) {
    const int at = i * threads + threadIdx.x;
    const int r = at / (tile / piece), p = at % (tile / piece);
    const bool there = k + r < depths && column + p * piece < n;
    tensor::copy_async(&stage.b[place_b(r, p)], there ? b + static_cast<size_t>(k + r) * n + column + p * piece : b,
                       there);
  }
}
}  // namespace

/// A: m x k, B: k x n, C: m x n; k and n are multiples of 8.
extern "C" __global__ void __launch_bounds__(threads) hgemm(const __half* __restrict__ a, const __half* __restrict__ b,
                                                            __half* __restrict__ c, int m, int n, int k, float alpha) {
  __shared__ Stage stage[stages];
  const int row = blockIdx.y * tile, column = blockIdx.x * tile;
  const int lane = threadIdx.x % 32, own_warp = threadIdx.x / 32;
  const int warp_row = own_warp / 2 * warp_tile, warp_column = own_warp % 2 * warp_tile;
  const int slices = (k + depth - 1) / depth;

  float sum[warp_tile / 16][warp_tile / 8][4] = {};
#pragma unroll
  for (int s = 0; s < stages - 1; ++s) {
    if (s < slices) load(stage[s], a, b, row, column, s * depth, m, n, k);
    tensor::close_group();
  }
  int now = 0, next = stages - 1;
  for (int s = 0; s < slices; ++s) {
    tensor::wait_groups<stages - 2>();
    __syncthreads();  // this slice is there for all, and all are done with the one before
    if (s + stages - 1 < slices) load(stage[next], a, b, row, column, (s + stages - 1) * depth, m, n, k);
    tensor::close_group();
    const Stage& slice = stage[now];
#pragma unroll
    for (int part = 0; part < depth / 16; ++part) {
      unsigned of_a[warp_tile / 16][4], of_b[warp_tile / 16][4];
#pragma unroll
      for (int i = 0; i < warp_tile / 16; ++i)
        tensor::load_matrices(of_a[i], &slice.a[place_a(warp_row + i * 16 + lane % 16, part * 2 + lane / 16)]);
#pragma unroll
      for (int j = 0; j < warp_tile / 16; ++j)
        tensor::load_transposed(of_b[j],
                                &slice.b[place_b(part * 16 + lane % 16, (warp_column + j * 16) / piece + lane / 16)]);
#pragma unroll
      for (int i = 0; i < warp_tile / 16; ++i) {
#pragma unroll
        for (int j = 0; j < warp_tile / 8; ++j)
          tensor::multiply_f16(sum[i][j], of_a[i], of_b[j / 2][j % 2 * 2], of_b[j / 2][j % 2 * 2 + 1]);
      }
    }
    now = now + 1 == stages ? 0 : now + 1;
    next = next + 1 == stages ? 0 : next + 1;
  }

#pragma unroll
  for (int i = 0; i < warp_tile / 16; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int r = row + warp_row + i * 16 + half * 8 + lane / 4;
      if (r >= m) continue;
#pragma unroll
      for (int j = 0; j < warp_tile / 8; ++j) {
        const int at = column + warp_column + j * 8 + lane % 4 * 2;
        if (at < n)
          *reinterpret_cast<__half2*>(c + static_cast<size_t>(r) * n + at) =
              __floats2half2_rn(alpha * sum[i][j][2 * half], alpha * sum[i][j][2 * half + 1]);
      }
    }
  }
}
