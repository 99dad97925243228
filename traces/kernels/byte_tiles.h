// SPDX-License-Identifier: Apache-2.0
//
// Tiles of products of two matrices of bytes, both with the depth along their rows: a CTA of four warps makes 128 x 64
// results, a warp 64 x 32. Slices are 64 deep and arrive by cp.async.
#pragma once

#include "tensor.h"

namespace byte_tiles {

constexpr int threads = 128;
constexpr int rows = 128, columns = 64;
constexpr int depth = 64;
constexpr int piece = 16;
constexpr int row_tile = 64, column_tile = 32;  // of a warp

/// Where piece `p` of row `r` is, in pieces.
__device__ __forceinline__ int place(int r, int p) { return r * (depth / piece) + (p ^ (r >> 1 & 3)); }

struct Stage {
  uint4 a[rows * depth / piece];
  uint4 b[columns * depth / piece];
};

/// `stride`: bytes of a row of both. Rows beyond `m` and `n` are zero.
static __device__ __forceinline__ void load(Stage& stage, const unsigned char* a, const unsigned char* b, int row,
                                            int column, int k, int m, int n, int stride) {
#pragma unroll
  for (int i = 0; i < rows * depth / piece / threads; ++i) {
    const int at = i * threads + threadIdx.x, r = at / (depth / piece), p = at % (depth / piece);
    const bool there = row + r < m;
    tensor::copy_async(&stage.a[place(r, p)], there ? a + static_cast<size_t>(row + r) * stride + k + p * piece : a,
                       there);
  }
#pragma unroll
  for (int i = 0; i < columns * depth / piece / threads; ++i) {
    const int at = i * threads + threadIdx.x, r = at / (depth / piece), p = at % (depth / piece);
    const bool there = column + r < n;
    tensor::copy_async(&stage.b[place(r, p)], there ? b + static_cast<size_t>(column + r) * stride + k + p * piece : b,
                       there);
  }
}

/// Fragments of one step of 32 bytes of depth.
struct Fragments {
  unsigned a[row_tile / 16][4];
  unsigned b[column_tile / 16][4];
};

static __device__ __forceinline__ void fragments(Fragments& f, const Stage& stage, int warp_row, int warp_column,
                                                 int step) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < row_tile / 16; ++i)
    tensor::load_matrices(f.a[i], &stage.a[place(warp_row + i * 16 + lane % 16, step * 2 + lane / 16)]);
    // Of eight columns both halves of the depth, then of the next eight.
#pragma unroll
  for (int j = 0; j < column_tile / 16; ++j)
    tensor::load_matrices(f.b[j],
                          &stage.b[place(warp_column + j * 16 + lane / 16 * 8 + lane % 8, step * 2 + lane / 8 % 2)]);
}

}  // namespace byte_tiles
