// SPDX-License-Identifier: Apache-2.0
//
// C = A B^T for bytes with sign, as quantised networks compute their layers: sums of 32 bits, then halves, scaled by a
// factor of each row (a token's activations) and of each column (a channel's weights).
#include <cuda_fp16.h>

#include "../byte_tiles.h"

namespace {
using namespace byte_tiles;
constexpr int stages = 3;
}  // namespace

/// A: m x k, B: n x k, C: m x n; k is a multiple of 64, n an even number.
extern "C" __global__ void __launch_bounds__(threads)
    gemm_int8(const unsigned char* __restrict__ a, const unsigned char* __restrict__ b,
              const float* __restrict__ scale_a, const float* __restrict__ scale_b, __half* __restrict__ c, int m,
              int n, int k) {
  __shared__ Stage stage[stages];
  const int row = blockIdx.y * rows, column = blockIdx.x * columns;
  const int lane = threadIdx.x % 32, own_warp = threadIdx.x / 32;
  const int warp_row = own_warp / 2 * row_tile, warp_column = own_warp % 2 * column_tile;
  const int slices = k / depth;
  int sum[row_tile / 16][column_tile / 8][4] = {};
#pragma unroll
  for (int s = 0; s < stages - 1; ++s) {
    if (s < slices) load(stage[s], a, b, row, column, s * depth, m, n, k);
    tensor::close_group();
  }
  int now = 0, next = stages - 1;
  for (int s = 0; s < slices; ++s) {
    tensor::wait_groups<stages - 2>();
    __syncthreads();
    if (s + stages - 1 < slices) load(stage[next], a, b, row, column, (s + stages - 1) * depth, m, n, k);
    tensor::close_group();
#pragma unroll
    for (int step = 0; step < depth / 32; ++step) {
      Fragments f;
      fragments(f, stage[now], warp_row, warp_column, step);
#pragma unroll
      for (int i = 0; i < row_tile / 16; ++i) {
#pragma unroll
        for (int j = 0; j < column_tile / 8; ++j)
          tensor::multiply_s8(sum[i][j], f.a[i], f.b[j / 2][j % 2 * 2], f.b[j / 2][j % 2 * 2 + 1]);
      }
    }
    now = now + 1 == stages ? 0 : now + 1;
    next = next + 1 == stages ? 0 : next + 1;
  }
#pragma unroll
  for (int i = 0; i < row_tile / 16; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int r = row + warp_row + i * 16 + half * 8 + lane / 4;
      if (r >= m) continue;
      const float of_row = __ldg(scale_a + r);
#pragma unroll
      for (int j = 0; j < column_tile / 8; ++j) {
        const int at = column + warp_column + j * 8 + lane % 4 * 2;
        if (at >= n) continue;
        const float2 of_column = __ldg(reinterpret_cast<const float2*>(scale_b + at));
        *reinterpret_cast<__half2*>(c + static_cast<size_t>(r) * n + at) =
            __floats2half2_rn(static_cast<float>(sum[i][j][2 * half]) * of_row * of_column.x,
                              static_cast<float>(sum[i][j][2 * half + 1]) * of_row * of_column.y);
      }
    }
  }
}
