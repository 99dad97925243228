// SPDX-License-Identifier: Apache-2.0
//
// LU decomposition of a square matrix in place, without pivoting (Doolittle): afterwards U is on and above the
// diagonal, L below it, and the ones of L's diagonal are not stored. The matrix is cut into blocks of 16 x 16. For
// every block of the diagonal the host launches diagonal (that block), perimeter (the blocks right of it and below it)
// and internal (all blocks right of and below those), so that grids shrink; for the last block diagonal alone. The size
// is a multiple of 16.

namespace {
constexpr int block = 16;
}  // namespace

/// Makes the matrix solvable without pivoting: adds `weight` to the diagonal.
extern "C" __global__ void lud_weigh(float* __restrict__ matrix, int size, float weight) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) matrix[i * size + i] += weight;
}

/// Decomposes the block at (offset, offset). One CTA of 16 threads.
extern "C" __global__ void __launch_bounds__(block) lud_diagonal(float* __restrict__ matrix, int size, int offset) {
  __shared__ float cell[block][block];
  const int t = threadIdx.x;

  int at = offset * size + offset;
  for (int i = 0; i < block; ++i) {
    cell[i][t] = matrix[at + t];
    at += size;
  }
  __syncthreads();
  for (int i = 0; i < block - 1; ++i) {
    // Column i of L, then row i + 1 of U.
    if (t > i) {
      float value = cell[t][i];
      for (int k = 0; k < i; ++k) value = fmaf(-cell[t][k], cell[k][i], value);
      cell[t][i] = value / cell[i][i];
    }
    __syncthreads();
    if (t > i) {
      float value = cell[i + 1][t];
      for (int k = 0; k <= i; ++k) value = fmaf(-cell[i + 1][k], cell[k][t], value);
      cell[i + 1][t] = value;
    }
    __syncthreads();
  }
  // Row 0 is as it was.
  at = (offset + 1) * size + offset;
  for (int i = 1; i < block; ++i) {
    matrix[at + t] = cell[i][t];
    at += size;
  }
}

/// CTA b takes the blocks that are b + 1 blocks right of the diagonal's and below it. Threads 0 to 15 make a column
/// each of the former (U), threads 16 to 31 a row each of the latter (L).
extern "C" __global__ void __launch_bounds__(2 * block)
    lud_perimeter(float* __restrict__ matrix, int size, int offset) {
  __shared__ float diagonal[block][block];
  __shared__ float row_block[block][block];
  __shared__ float column_block[block][block];
  const int further = (blockIdx.x + 1) * block;

  if (threadIdx.x < block) {
    const int t = threadIdx.x;
    int at = offset * size + offset;
    for (int i = 0; i < block / 2; ++i) {
      diagonal[i][t] = matrix[at + t];
      at += size;
    }
    at = offset * size + offset + further;
    for (int i = 0; i < block; ++i) {
      row_block[i][t] = matrix[at + t];
      at += size;
    }
  } else {
    const int t = threadIdx.x - block;
    int at = (offset + block / 2) * size + offset;
    for (int i = block / 2; i < block; ++i) {
      diagonal[i][t] = matrix[at + t];
      at += size;
    }
    at = (offset + further) * size + offset;
    for (int i = 0; i < block; ++i) {
      column_block[i][t] = matrix[at + t];
      at += size;
    }
  }
  __syncthreads();

  if (threadIdx.x < block) {
    const int t = threadIdx.x;
    for (int i = 1; i < block; ++i) {
      float value = row_block[i][t];
      for (int k = 0; k < i; ++k) value = fmaf(-diagonal[i][k], row_block[k][t], value);
      row_block[i][t] = value;
    }
  } else {
    const int t = threadIdx.x - block;
    for (int i = 0; i < block; ++i) {
      float value = column_block[t][i];
      for (int k = 0; k < i; ++k) value = fmaf(-column_block[t][k], diagonal[k][i], value);
      column_block[t][i] = value / diagonal[i][i];
    }
  }
  __syncthreads();

  if (threadIdx.x < block) {
    const int t = threadIdx.x;
    int at = (offset + 1) * size + offset + further;
    for (int i = 1; i < block; ++i) {
      matrix[at + t] = row_block[i][t];
      at += size;
    }
  } else {
    const int t = threadIdx.x - block;
    int at = (offset + further) * size + offset;
    for (int i = 0; i < block; ++i) {
      matrix[at + t] = column_block[i][t];
      at += size;
    }
  }
}

/// Subtracts L U of the perimeter from the blocks inside it, one CTA of 16 x 16 threads a block.
extern "C" __global__ void __launch_bounds__(block* block)
    lud_internal(float* __restrict__ matrix, int size, int offset) {
  __shared__ float row_block[block][block];
  __shared__ float column_block[block][block];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int row = offset + (blockIdx.y + 1) * block + ty;
  const int column = offset + (blockIdx.x + 1) * block + tx;

  row_block[ty][tx] = matrix[(offset + ty) * size + column];
  column_block[ty][tx] = matrix[row * size + offset + tx];
  __syncthreads();

  float sum = 0.0f;
  for (int k = 0; k < block; ++k) sum = fmaf(column_block[ty][k], row_block[k][tx], sum);
  matrix[row * size + column] -= sum;
}
