// SPDX-License-Identifier: Apache-2.0
//
// Finite differences in time of an electromagnetic field in two dimensions: the electric field (ex, ey) on the edges of
// the cells and the magnetic field (hz) in their middle. A source drives the first row of ey with another value every
// step. The host launches fdtd2d_create once and then, for every step, fdtd2d_ey, fdtd2d_ex and fdtd2d_hz, a thread a
// cell. hz has `rows` x `columns` elements, ex one column more and ey one row more.

/// Smooth fields that grow with row and column.
extern "C" __global__ void fdtd2d_create(float* __restrict__ ex, float* __restrict__ ey, float* __restrict__ hz,
                                         int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const float scale = static_cast<float>(rows);
  if (row < rows && column <= columns) {
    ex[row * (columns + 1) + column] = static_cast<float>(row * (column + 1) + 1) / scale;
  }
  if (row <= rows && column < columns) {
    ey[row * columns + column] = static_cast<float>((row - 1) * (column + 2) + 2) / scale;
  }
  if (row < rows && column < columns) {
    hz[row * columns + column] = static_cast<float>((row - 9) * (column + 4) + 3) / scale;
  }
}

extern "C" __global__ void fdtd2d_ey(const float* __restrict__ source, float* __restrict__ ey,
                                     const float* __restrict__ hz, int rows, int columns, int step) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const int at = row * columns + column;
  if (row == 0) {
    ey[at] = source[step];
  } else {
    ey[at] = fmaf(-0.5f, hz[at] - hz[at - columns], ey[at]);
  }
}

extern "C" __global__ void fdtd2d_ex(float* __restrict__ ex, const float* __restrict__ hz, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns || column == 0) return;
  const int at = row * columns + column;
  const int at_ex = row * (columns + 1) + column;
  ex[at_ex] = fmaf(-0.5f, hz[at] - hz[at - 1], ex[at_ex]);
}

extern "C" __global__ void fdtd2d_hz(const float* __restrict__ ex, const float* __restrict__ ey, float* __restrict__ hz,
                                     int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const int at = row * columns + column;
  const int at_ex = row * (columns + 1) + column;
  const float curl = ex[at_ex + 1] - ex[at_ex] + ey[at + columns] - ey[at];
  hz[at] = fmaf(-0.7f, curl, hz[at]);
}
