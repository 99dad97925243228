// SPDX-License-Identifier: Apache-2.0
//
// C = A B^T for floats of 8 bits (e4m3) with scales of blocks: 128 elements along a row of A share one, and 64 x 128 of
// B. Tensor cores keep the sum of a block alone; it is then scaled and added in f32, which needs a second set of
// accumulators. gemm_e4m3_quantise makes such matrices of bf16.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "../byte_tiles.h"
#include "../warp.h"

namespace {
using namespace byte_tiles;
constexpr int block = 128;
constexpr int stages = 2;  // of half a block each
}  // namespace

/// Blocks of `rows` rows and 128 columns of a matrix of k columns: the largest becomes 448. A CTA per block; blocks
/// along a row follow one another in the grid's x.
extern "C" __global__ void __launch_bounds__(threads)
    gemm_e4m3_quantise(const __nv_bfloat16* __restrict__ in, unsigned char* __restrict__ out,
                       float* __restrict__ scales, int rows, int k) {
  __shared__ float scratch[threads / warp::lanes];
  const int lane = threadIdx.x % warp::lanes, own_warp = threadIdx.x / warp::lanes;
  const size_t first = static_cast<size_t>(blockIdx.y) * rows * k + blockIdx.x * block + lane * 4;
  float most = 0.0f;
  for (int r = own_warp; r < rows; r += threads / warp::lanes) {
    const uint2 four = __ldg(reinterpret_cast<const uint2*>(in + first + static_cast<size_t>(r) * k));
    const __nv_bfloat162 pairs = __hmax2(__habs2(*reinterpret_cast<const __nv_bfloat162*>(&four.x)),
                                         __habs2(*reinterpret_cast<const __nv_bfloat162*>(&four.y)));
    most = fmaxf(most, fmaxf(__low2float(pairs), __high2float(pairs)));
  }
  most = fmaxf(warp::largest_of_cta<threads>(most, scratch), 1.0e-10f);
  const float factor = 448.0f / most;
  if (threadIdx.x == 0) scales[blockIdx.y * gridDim.x + blockIdx.x] = most / 448.0f;
  for (int r = own_warp; r < rows; r += threads / warp::lanes) {
    const uint2 four = __ldg(reinterpret_cast<const uint2*>(in + first + static_cast<size_t>(r) * k));
    const float2 low = __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(&four.x));
    const float2 high = __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(&four.y));
    const unsigned lower =
        __nv_cvt_float2_to_fp8x2(make_float2(low.x * factor, low.y * factor), __NV_SATFINITE, __NV_E4M3);
    const unsigned upper =
        __nv_cvt_float2_to_fp8x2(make_float2(high.x * factor, high.y * factor), __NV_SATFINITE, __NV_E4M3);
    *reinterpret_cast<unsigned*>(out + first + static_cast<size_t>(r) * k) = lower | upper << 16;
  }
}

/// A: m x k, B: n x k, C: m x n; k is a multiple of 128, n of 64. `scale_a`: k / 128 for each row, `scale_b`: k / 128
/// for every 64 columns.
extern "C" __global__ void __launch_bounds__(threads)
    gemm_e4m3(const unsigned char* __restrict__ a, const unsigned char* __restrict__ b,
              const float* __restrict__ scale_a, const float* __restrict__ scale_b, __nv_bfloat16* __restrict__ c,
              int m, int n, int k) {
  __shared__ Stage stage[stages];
  const int row = blockIdx.y * rows, column = blockIdx.x * columns;
  const int lane = threadIdx.x % 32, own_warp = threadIdx.x / 32;
  const int warp_row = own_warp / 2 * row_tile, warp_column = own_warp % 2 * column_tile;
  const int blocks = k / block;
  float sum[row_tile / 16][column_tile / 8][4] = {};
  load(stage[0], a, b, row, column, 0, m, n, k);
  tensor::close_group();
  for (int s = 0; s < blocks; ++s) {
    float of_block[row_tile / 16][column_tile / 8][4] = {};
#pragma unroll
    for (int part = 0; part < stages; ++part) {
      // The next slice comes in while this one is used.
      const int next = s * block + (part + 1) * depth;
      if (next < k) load(stage[(part + 1) % stages], a, b, row, column, next, m, n, k);
      tensor::close_group();
      tensor::wait_groups<1>();
      __syncthreads();
#pragma unroll
      for (int step = 0; step < depth / 32; ++step) {
        Fragments f;
        fragments(f, stage[part], warp_row, warp_column, step);
#pragma unroll
        for (int i = 0; i < row_tile / 16; ++i) {
#pragma unroll
          for (int j = 0; j < column_tile / 8; ++j)
            tensor::multiply_e4m3(of_block[i][j], f.a[i], f.b[j / 2][j % 2 * 2], f.b[j / 2][j % 2 * 2 + 1]);
        }
      }
      __syncthreads();
    }
    const float of_columns = __ldg(scale_b + blockIdx.x * blocks + s);
#pragma unroll
    for (int i = 0; i < row_tile / 16; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int r = min(row + warp_row + i * 16 + half * 8 + lane / 4, m - 1);
        const float scale = __ldg(scale_a + static_cast<size_t>(r) * blocks + s) * of_columns;
#pragma unroll
        for (int j = 0; j < column_tile / 8; ++j) {
          sum[i][j][2 * half] = fmaf(of_block[i][j][2 * half], scale, sum[i][j][2 * half]);
          sum[i][j][2 * half + 1] = fmaf(of_block[i][j][2 * half + 1], scale, sum[i][j][2 * half + 1]);
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < row_tile / 16; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int r = row + warp_row + i * 16 + half * 8 + lane / 4;
      if (r >= m) continue;
#pragma unroll
      for (int j = 0; j < column_tile / 8; ++j)
        *reinterpret_cast<__nv_bfloat162*>(c + static_cast<size_t>(r) * n + column + warp_column + j * 8 +
                                           lane % 4 * 2) =
            __floats2bfloat162_rn(sum[i][j][2 * half], sum[i][j][2 * half + 1]);
    }
  }
}
