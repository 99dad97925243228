// SPDX-License-Identifier: Apache-2.0
//
// Finite differences in time of a field in space: a symmetric stencil that reaches four cells along each of the six
// directions. A CTA walks along z through a column of 32 x 8 cells. Each thread keeps the nine cells of its own line
// in registers and moves them on by one a plane; the plane itself is in shared memory with a rim of four cells.
// The field has a rim of four cells too, which nothing writes: both buffers must hold the same there. The host launches
// one step after the other, swapping `from` and `to`. `width`, `height` and `depth` count cells without the rim;
// a row takes `width` + 8 cells.

namespace {
constexpr int radius = 4;
constexpr int block_x = 32;
constexpr int most_y = 16;  // threads; the tile is as high whatever the block is
}  // namespace

/// The weight of a cell itself, and of its neighbours by distance.
__constant__ float weights[radius + 1];

extern "C" __global__ void __launch_bounds__(block_x* most_y)
    fdtd3d_step(float* __restrict__ to, const float* __restrict__ from, int width, int height, int depth) {
  __shared__ float tile[most_y + 2 * radius][block_x + 2 * radius];
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int tx = threadIdx.x + radius;
  const int ty = threadIdx.y + radius;
  const int work_y = blockDim.y;
  const int row_stride = width + 2 * radius;
  const int plane_stride = row_stride * (height + 2 * radius);
  // Threads beyond the last cell load what the rim of their tile needs, as far as there is something.
  const bool loads = x < width + radius && y < height + radius;
  const bool stores = x < width && y < height;

  int load = (y + radius) * row_stride + x + radius;
  float behind[radius];
  float here = 0.0f;
  float ahead[radius];
#pragma unroll
  for (int i = radius - 2; i >= 0; --i) {
    behind[i] = loads ? from[load] : 0.0f;
    load += plane_stride;
  }
  behind[radius - 1] = 0.0f;
  if (loads) here = from[load];
  int at = load;
  load += plane_stride;
#pragma unroll
  for (int i = 0; i < radius; ++i) {
    ahead[i] = loads ? from[load] : 0.0f;
    load += plane_stride;
  }

  for (int z = 0; z < depth; ++z) {
#pragma unroll
    for (int i = radius - 1; i > 0; --i) behind[i] = behind[i - 1];
    behind[0] = here;
    here = ahead[0];
#pragma unroll
    for (int i = 0; i < radius - 1; ++i) ahead[i] = ahead[i + 1];
    if (loads) ahead[radius - 1] = from[load];
    load += plane_stride;
    at += plane_stride;
    __syncthreads();

    // The rim above and below, then left and right.
    if (threadIdx.y < radius && x < width + radius) {
      tile[threadIdx.y][tx] = from[at - radius * row_stride];
      if (y + work_y < height + radius) tile[ty + work_y][tx] = from[at + work_y * row_stride];
    }
    if (threadIdx.x < radius && y < height + radius) {
      tile[ty][threadIdx.x] = from[at - radius];
      if (x + block_x < width + radius) tile[ty][tx + block_x] = from[at + block_x];
    }
    tile[ty][tx] = here;
    __syncthreads();

    if (stores) {
      float value = weights[0] * here;
#pragma unroll
      for (int i = 1; i <= radius; ++i) {
        const float sum =
            ahead[i - 1] + behind[i - 1] + tile[ty - i][tx] + tile[ty + i][tx] + tile[ty][tx - i] + tile[ty][tx + i];
        value = fmaf(weights[i], sum, value);
      }
      to[at] = value;
    }
  }
}
