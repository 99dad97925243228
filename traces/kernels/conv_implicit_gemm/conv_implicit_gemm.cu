// SPDX-License-Identifier: Apache-2.0
//
// A convolution of 3 x 3 with a rim of zeros as a product of matrices that are never stored: rows are pixels, columns
// are filters, the depth goes over the filter's places and the channels. Sixteen bytes are eight channels of one
// pixel, so the address of a piece is found once for each; pieces outside of the picture arrive as zeros. A CTA makes
// 64 x 64 results, a warp 32 x 32; then the bias and the rectifier.
#include <cuda_fp16.h>

#include "../tensor.h"

namespace {
constexpr int threads = 128;
constexpr int tile = 64;
constexpr int depth = 32;
constexpr int stages = 3;
constexpr int piece = 8;
constexpr int pieces = tile * depth / piece / threads;  // of a thread, of each matrix
constexpr int warp_tile = 32;
constexpr int side = 3;

__device__ __forceinline__ int place(int r, int p) { return r * (depth / piece) + (p ^ (r >> 1 & 3)); }

struct Stage {
  uint4 pixels[tile * depth / piece];
  uint4 filters[tile * depth / piece];
};
}  // namespace

/// `in`: [picture][row][column][channel], `filters`: [filter][row of 3][column of 3][channel], `out`: [picture][row]
/// [column][filter]. Channels: a multiple of 8, filters: of 64.
extern "C" __global__ void __launch_bounds__(threads)
    conv_implicit_gemm(const __half* __restrict__ in, const __half* __restrict__ filters,
                       const float* __restrict__ bias, __half* __restrict__ out, int pictures, int height, int width,
                       int channels, int count) {
  __shared__ Stage stage[stages];
  const int pixels = pictures * height * width, depths = side * side * channels;
  const int row = blockIdx.y * tile, column = blockIdx.x * tile;
  const int lane = threadIdx.x % 32, own_warp = threadIdx.x / 32;
  const int warp_row = own_warp / 2 * warp_tile, warp_column = own_warp % 2 * warp_tile;

  // Pixels that this thread loads for; beyond the last one no row of the picture is right.
  int x[pieces], y[pieces];
  const __half* pixel[pieces];
#pragma unroll
  for (int i = 0; i < pieces; ++i) {
    const int number = row + (i * threads + static_cast<int>(threadIdx.x)) / (depth / piece);
    x[i] = number % width;
    y[i] = number < pixels ? number / width % height : -side;
    pixel[i] = in + static_cast<size_t>(number < pixels ? number : 0) * channels;
  }
  const auto load = [&](Stage& to, int k) {
    // Of a thread all pieces of a slice have the same depth.
    const int own = k + static_cast<int>(threadIdx.x) % (depth / piece) * piece;
    const int at = own / channels, channel = own - at * channels;
    const int dy = at / side - 1, dx = at % side - 1;
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      const int number = i * threads + threadIdx.x, r = number / (depth / piece), p = number % (depth / piece);
      const bool inside = own < depths && static_cast<unsigned>(y[i] + dy) < static_cast<unsigned>(height) &&
                          static_cast<unsigned>(x[i] + dx) < static_cast<unsigned>(width);
      tensor::copy_async(&to.pixels[place(r, p)], inside ? pixel[i] + (dy * width + dx) * channels + channel : in,
                         inside);
      const bool there = own < depths;
      tensor::copy_async(&to.filters[place(r, p)],
                         there ? filters + static_cast<size_t>(column + r) * depths + own : filters, there);
    }
  };

  const int slices = (depths + depth - 1) / depth;
  float sum[warp_tile / 16][warp_tile / 8][4] = {};
#pragma unroll
  for (int s = 0; s < stages - 1; ++s) {
    if (s < slices) load(stage[s], s * depth);
    tensor::close_group();
  }
  int now = 0, next = stages - 1;
  for (int s = 0; s < slices; ++s) {
    tensor::wait_groups<stages - 2>();
    __syncthreads();
    if (s + stages - 1 < slices) load(stage[next], (s + stages - 1) * depth);
    tensor::close_group();
    const Stage& slice = stage[now];
#pragma unroll
    for (int part = 0; part < depth / 16; ++part) {
      unsigned of_pixels[warp_tile / 16][4], of_filters[warp_tile / 16][4];
#pragma unroll
      for (int i = 0; i < warp_tile / 16; ++i)
        tensor::load_matrices(of_pixels[i], &slice.pixels[place(warp_row + i * 16 + lane % 16, part * 2 + lane / 16)]);
#pragma unroll
      for (int j = 0; j < warp_tile / 16; ++j)
        tensor::load_matrices(
            of_filters[j],
            &slice.filters[place(warp_column + j * 16 + lane / 16 * 8 + lane % 8, part * 2 + lane / 8 % 2)]);
#pragma unroll
      for (int i = 0; i < warp_tile / 16; ++i) {
#pragma unroll
        for (int j = 0; j < warp_tile / 8; ++j)
          tensor::multiply_f16(sum[i][j], of_pixels[i], of_filters[j / 2][j % 2 * 2], of_filters[j / 2][j % 2 * 2 + 1]);
      }
    }
    now = now + 1 == stages ? 0 : now + 1;
    next = next + 1 == stages ? 0 : next + 1;
  }

#pragma unroll
  for (int j = 0; j < warp_tile / 8; ++j) {
    const int filter = column + warp_column + j * 8 + lane % 4 * 2;
    const float2 of_filter = __ldg(reinterpret_cast<const float2*>(bias + filter));
#pragma unroll
    for (int i = 0; i < warp_tile / 16; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int number = row + warp_row + i * 16 + half * 8 + lane / 4;
        if (number < pixels)
          *reinterpret_cast<__half2*>(out + static_cast<size_t>(number) * count + filter) = __floats2half2_rn(
              fmaxf(sum[i][j][2 * half] + of_filter.x, 0.0f), fmaxf(sum[i][j][2 * half + 1] + of_filter.y, 0.0f));
      }
    }
  }
}
