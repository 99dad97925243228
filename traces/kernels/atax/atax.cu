// SPDX-License-Identifier: Apache-2.0
//
// y = A^T (A x), a matrix of `rows` x `columns`, row by row. The host launches atax_ax, then atax_aty. A thread has one
// element of the result and adds up in global memory: the pointers may alias, so every term is stored.

/// product = A x: neighbouring threads load elements of different rows.
extern "C" __global__ void atax_ax(const float* a, const float* x, float* product, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  product[row] = 0.0f;
  for (int column = 0; column < columns; ++column) {
    product[row] = fmaf(a[row * columns + column], x[column], product[row]);
  }
}

/// y = A^T product: neighbouring threads load neighbouring elements of a row.
extern "C" __global__ void atax_aty(const float* a, const float* product, float* y, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  y[column] = 0.0f;
  for (int row = 0; row < rows; ++row) y[column] = fmaf(a[row * columns + column], product[row], y[column]);
}
