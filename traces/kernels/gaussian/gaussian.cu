// SPDX-License-Identifier: Apache-2.0
//
// Gaussian elimination without pivoting, column by column (as in Rodinia's gaussian): turns the square system
// matrix * x = right into an upper triangular one. The host launches create, then for every `column` but the last
// multipliers (Fan1 in Rodinia) and eliminate (Fan2). Their grids cover the whole matrix in every step; the threads
// beyond what is left of it exit. Eliminate has CTAs of 4 x 4 threads, half a warp. Back substitution is the host's.

/// A symmetric matrix whose entries depend on their distance from the diagonal.
extern "C" __global__ void gaussian_create(const float* __restrict__ coefficient, float* __restrict__ matrix,
                                           int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size * size) return;
  const int row = i / size;
  matrix[i] = coefficient[abs(row - (i - row * size))];
}

/// By what the row of the pivot is multiplied before it is subtracted from each of the rows below.
extern "C" __global__ void gaussian_multipliers(float* __restrict__ multipliers, const float* __restrict__ matrix,
                                                int size, int column) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size - 1 - column) return;
  const int at = size * (i + column + 1) + column;
  multipliers[at] = matrix[at] / matrix[size * column + column];
}

extern "C" __global__ void gaussian_eliminate(const float* __restrict__ multipliers, float* matrix, float* right,
                                              int size, int column) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= size - 1 - column) return;
  if (y >= size - column) return;
  const int row = size * (x + 1 + column);
  const float multiplier = multipliers[row + column];
  matrix[row + y + column] = fmaf(-multiplier, matrix[size * column + y + column], matrix[row + y + column]);
  if (y == 0) right[x + 1 + column] = fmaf(-multiplier, right[column], right[x + 1 + column]);
}
