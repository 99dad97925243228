// SPDX-License-Identifier: Apache-2.0
//
// Jacobi iteration for Laplace's equation on a grid in three dimensions: each inner cell becomes the mean of its six
// neighbours, cells on the six faces stay as they are. A CTA of 32 x 4 threads walks along z through a column of the
// grid. Shared memory holds three planes of the column, with a rim of one cell: below, here and above; all three move
// down by one a step. The host launches laplace3d_faces once and then laplace3d for every iteration, swapping `now`
// and `next`.

namespace {
constexpr int tile_x = 32;
constexpr int tile_y = 4;
constexpr int pitch = tile_x + 2;
constexpr int plane = pitch * (tile_y + 2);
}  // namespace

/// Sets all cells on the faces to `value`.
extern "C" __global__ void laplace3d_faces(float* __restrict__ grid, int nx, int ny, int nz, float value) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  const int layer = nx * ny;
  const int column = y * nx + x;
  if (x == 0 || x == nx - 1 || y == 0 || y == ny - 1) {
    for (int z = 0; z < nz; ++z) grid[z * layer + column] = value;
  } else {
    grid[column] = value;
    grid[(nz - 1) * layer + column] = value;
  }
}

extern "C" __global__ void __launch_bounds__(tile_x* tile_y)
    laplace3d(const float* __restrict__ now, float* __restrict__ next, int nx, int ny, int nz) {
  __shared__ float planes[3 * plane];

  // The thread's own cell, and where it is in the middle plane.
  const int x = blockIdx.x * tile_x + threadIdx.x;
  const int y = blockIdx.y * tile_y + threadIdx.y;
  const bool inside = x < nx && y < ny;
  const bool on_side = x == 0 || x == nx - 1 || y == 0 || y == ny - 1;
  const int own = plane + (threadIdx.y + 1) * pitch + threadIdx.x + 1;
  const int layer = nx * ny;
  int at = y * nx + x;

  // 72 threads have a cell of the rim as well: two warps the rows before and after the tile, 8 threads the columns.
  const int thread = threadIdx.y * tile_x + threadIdx.x;
  int rim_x;
  int rim_y;
  if (threadIdx.y < 2) {
    rim_x = threadIdx.x;
    rim_y = threadIdx.y == 0 ? -1 : tile_y;
  } else {
    rim_x = thread % 2 == 0 ? -1 : tile_x;
    rim_y = thread / 2 - tile_x;
  }
  const int rim = plane + (rim_y + 1) * pitch + rim_x + 1;
  rim_x += blockIdx.x * tile_x;
  rim_y += blockIdx.y * tile_y;
  const bool loads_rim = thread < 2 * (tile_x + tile_y) && rim_x >= 0 && rim_x < nx && rim_y >= 0 && rim_y < ny;
  int rim_at = rim_y * nx + rim_x;

  // The plane below the first one is read by nobody, but moved.
  if (inside) {
    planes[own] = 0.0f;
    planes[own + plane] = now[at];
  }
  if (loads_rim) {
    planes[rim] = 0.0f;
    planes[rim + plane] = now[rim_at];
  }

  for (int z = 0; z < nz; ++z) {
    if (inside) {
      planes[own - plane] = planes[own];
      planes[own] = planes[own + plane];
      if (z + 1 < nz) planes[own + plane] = now[at + layer];
    }
    if (loads_rim) {
      planes[rim - plane] = planes[rim];
      planes[rim] = planes[rim + plane];
      if (z + 1 < nz) planes[rim + plane] = now[rim_at + layer];
    }
    __syncthreads();

    if (inside) {
      float value;
      if (on_side || z == 0 || z == nz - 1) {
        value = planes[own];
      } else {
        value = (planes[own - 1] + planes[own + 1] + planes[own - pitch] + planes[own + pitch] + planes[own - plane] +
                 planes[own + plane]) *
                (1.0f / 6.0f);
      }
      next[at] = value;
    }
    at += layer;
    rim_at += layer;
    __syncthreads();
  }
}
