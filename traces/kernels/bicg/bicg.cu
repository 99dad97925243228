// SPDX-License-Identifier: Apache-2.0
//
// The two products of a step of the biconjugate gradient method: s = r A and q = A p for a matrix A of `rows` x
// `columns`, row by row. The host launches bicg_s, then bicg_q. A thread has one element of the result and adds up in
// global memory: the pointers may alias, so every term is stored.

/// s = r A: neighbouring threads load neighbouring elements of a row.
extern "C" __global__ void bicg_s(const float* a, const float* r, float* s, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  s[column] = 0.0f;
  for (int row = 0; row < rows; ++row) s[column] = fmaf(a[row * columns + column], r[row], s[column]);
}

/// q = A p: neighbouring threads load elements of different rows.
extern "C" __global__ void bicg_q(const float* a, const float* p, float* q, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  q[row] = 0.0f;
  for (int column = 0; column < columns; ++column) q[row] = fmaf(a[row * columns + column], p[column], q[row]);
}
