// SPDX-License-Identifier: Apache-2.0
//
// Flow of a fluid in a closed box whose lid moves, by the lattice Boltzmann method with 19 velocities (D3Q19) and one
// relaxation time. A cell holds 19 distributions, one for each velocity, and its flags. A step collides the
// distributions of a cell and pushes each to the neighbour it moves to. Obstacles reflect what reaches them. The host
// launches initialise for both grids, then stream_collide for every step and swaps the grids. A CTA is a row of cells
// (x), the grid is y by z. A distribution of all cells is contiguous.

namespace {
constexpr int directions = 19;   // of a cell; after them its flags
constexpr int most_width = 120;  // cells along x, and threads

// Strides of the grid in memory, in cells. The box may be smaller. A margin takes what leaves it.
constexpr int row = 128;
constexpr int slice = 32 * row;
constexpr int margin = slice + row;
constexpr int cells = 24 * slice + 2 * margin;  // from one distribution of a cell to the next

constexpr unsigned obstacle = 1;
constexpr unsigned accelerated = 2;

constexpr float omega = 1.95f;  // 1 / relaxation time
constexpr float lid_x = 0.005f;
constexpr float lid_y = 0.002f;

/// Directions 2n - 1 and 2n are opposite.
__device__ __forceinline__ constexpr int component(int direction, int axis) {
  constexpr int all[directions][3] = {{0, 0, 0},  {0, 1, 0},   {0, -1, 0},  {1, 0, 0},   {-1, 0, 0},
                                      {0, 0, 1},  {0, 0, -1},  {1, 1, 0},   {-1, -1, 0}, {-1, 1, 0},
                                      {1, -1, 0}, {0, 1, 1},   {0, -1, -1}, {0, 1, -1},  {0, -1, 1},
                                      {1, 0, 1},  {-1, 0, -1}, {1, 0, -1},  {-1, 0, 1}};
  return all[direction][axis];
}

__device__ __forceinline__ constexpr int offset(int direction) {
  return component(direction, 0) + component(direction, 1) * row + component(direction, 2) * slice;
}

/// The share of a direction in a fluid at rest.
__device__ __forceinline__ constexpr float weight(int direction) {
  return direction == 0 ? 1.0f / 3.0f : direction < 7 ? 1.0f / 18.0f : 1.0f / 36.0f;
}

__device__ __forceinline__ int cell_of_thread() {
  return margin + static_cast<int>(threadIdx.x) + static_cast<int>(blockIdx.y) * slice +
         static_cast<int>(blockIdx.x) * row;
}
}  // namespace

/// A fluid at rest of the given density. The walls and what is above `threshold` in the picture are obstacles.
extern "C" __global__ void __launch_bounds__(most_width)
    lbm_initialise(const unsigned char* __restrict__ picture, const float* __restrict__ density,
                   float* __restrict__ grid, int width, int height, int depth, int threshold) {
  const int x = threadIdx.x;
  const int y = blockIdx.x;
  const int z = blockIdx.y;
  const int at = (z * height + y) * width + x;
  const int cell = cell_of_thread();
  const float rho = density[at];
#pragma unroll
  for (int d = 0; d < directions; ++d) grid[d * cells + cell] = weight(d) * rho;
  unsigned flags = 0;
  if (x == 0 || x == width - 1 || y == 0 || y == height - 1 || z == 0 || z == depth - 1 || picture[at] > threshold)
    flags = obstacle;
  else if ((z == 1 || z == depth - 2) && x > 1 && x < width - 2 && y > 1 && y < height - 2)
    flags = accelerated;
  grid[directions * cells + cell] = __uint_as_float(flags);
}

extern "C" __global__ void __launch_bounds__(most_width)
    lbm_stream_collide(const float* __restrict__ source, float* __restrict__ target) {
  const int cell = cell_of_thread();
  float f[directions];
#pragma unroll
  for (int d = 0; d < directions; ++d) f[d] = source[d * cells + cell];
  const unsigned flags = __float_as_uint(source[directions * cells + cell]);

  if ((flags & obstacle) != 0) {
#pragma unroll
    for (int d = 1; d < directions; d += 2) {
      const float forth = f[d];
      f[d] = f[d + 1];
      f[d + 1] = forth;
    }
  } else {
    float rho = f[0];
    float u[3] = {0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int d = 1; d < directions; ++d) {
      rho += f[d];
#pragma unroll
      for (int axis = 0; axis < 3; ++axis) {
        if (component(d, axis) > 0) u[axis] += f[d];
        if (component(d, axis) < 0) u[axis] -= f[d];
      }
    }
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) u[axis] /= rho;
    if ((flags & accelerated) != 0) {
      u[0] = lid_x;
      u[1] = lid_y;
      u[2] = 0.0f;
    }
    const float energy = fmaf(1.5f, fmaf(u[0], u[0], fmaf(u[1], u[1], u[2] * u[2])), -1.0f);
#pragma unroll
    for (int d = 0; d < directions; ++d) {
      float along = 0.0f;  // velocity in this direction
#pragma unroll
      for (int axis = 0; axis < 3; ++axis) {
        if (component(d, axis) > 0) along += u[axis];
        if (component(d, axis) < 0) along -= u[axis];
      }
      const float equilibrium = fmaf(along, fmaf(4.5f, along, 3.0f), -energy);
      f[d] = fmaf(1.0f - omega, f[d], weight(d) * omega * rho * equilibrium);
    }
  }

#pragma unroll
  for (int d = 0; d < directions; ++d) target[d * cells + cell + offset(d)] = f[d];
}
