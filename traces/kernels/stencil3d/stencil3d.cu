// SPDX-License-Identifier: Apache-2.0
//
// A star of radius 2 in three dimensions (13 points), as in a finite-difference wave or diffusion solver: next =
// centre * here + near * (six neighbours) + far * (six beyond them). Cells within 2 of a face stay as they are.
//
// A CTA of 32 x 8 threads stands on a tile of x and y and walks along z. A thread keeps its column's five values of z
// in registers; the plane it is in lies in shared memory with a rim of 2. The host swaps `now` and `next`.

namespace {
constexpr int radius = 2;
constexpr int tile_x = 32;
constexpr int tile_y = 8;
}  // namespace

extern "C" __global__ void __launch_bounds__(tile_x* tile_y)
    stencil3d(const float* __restrict__ now, float* __restrict__ next, int nx, int ny, int nz, float centre, float near,
              float far) {
  __shared__ float plane[tile_y + 2 * radius][tile_x + 2 * radius];

  const int tx = threadIdx.x + radius;
  const int ty = threadIdx.y + radius;
  const int x = blockIdx.x * tile_x + threadIdx.x;
  const int y = blockIdx.y * tile_y + threadIdx.y;
  const int layer = nx * ny;
  // Threads outside follow the last column; what they load is the rim of the others.
  const int x_in = min(x, nx - 1);
  const int y_in = min(y, ny - 1);
  const int here = y_in * nx + x_in;
  const bool inner_xy = x >= radius && x < nx - radius && y >= radius && y < ny - radius;

  // column[radius] is the cell itself, the others those below and above it.
  float column[2 * radius + 1];
#pragma unroll
  for (int i = 0; i < 2 * radius; ++i) column[i + 1] = i < radius ? 0.0f : now[(i - radius) * layer + here];

  for (int z = 0; z < nz; ++z) {
#pragma unroll
    for (int i = 0; i < 2 * radius; ++i) column[i] = column[i + 1];
    if (z + radius < nz) column[2 * radius] = now[(z + radius) * layer + here];

    const float* of_layer = now + z * layer;
    __syncthreads();  // the plane before has been read
    plane[ty][tx] = column[radius];
    if (threadIdx.x < radius) plane[ty][tx - radius] = of_layer[y_in * nx + max(x_in - radius, 0)];
    if (threadIdx.x >= tile_x - radius) plane[ty][tx + radius] = of_layer[y_in * nx + min(x_in + radius, nx - 1)];
    if (threadIdx.y < radius) plane[ty - radius][tx] = of_layer[max(y_in - radius, 0) * nx + x_in];
    if (threadIdx.y >= tile_y - radius) plane[ty + radius][tx] = of_layer[min(y_in + radius, ny - 1) * nx + x_in];
    __syncthreads();

    float value = column[radius];
    if (inner_xy && z >= radius && z < nz - radius) {
      const float beside = (plane[ty][tx - 1] + plane[ty][tx + 1]) + (plane[ty - 1][tx] + plane[ty + 1][tx]);
      const float beyond = (plane[ty][tx - 2] + plane[ty][tx + 2]) + (plane[ty - 2][tx] + plane[ty + 2][tx]);
      value = fmaf(far, beyond + (column[0] + column[4]), fmaf(near, beside + (column[1] + column[3]), centre * value));
    }
    if (x < nx && y < ny) next[z * layer + here] = value;
  }
}
