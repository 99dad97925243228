// SPDX-License-Identifier: Apache-2.0
//
// Matrix times vector, for a matrix stored by rows. A CTA of 32 threads has 32 rows, a thread a row. It goes through
// its rows in tiles of 32 x 32 elements: the threads load a row of the tile together (coalesced) into shared memory,
// then each of them multiplies its own row of the tile with the vector. A row of shared memory has 33 elements, so that
// the 32 elements of a column are in different banks. Elements outside the matrix count as zero.

namespace {
constexpr int side = 32;
}  // namespace

extern "C" __global__ void __launch_bounds__(side)
    matrix_vector(const float* __restrict__ matrix, const float* __restrict__ vector, float* __restrict__ product,
                  int rows, int columns) {
  __shared__ float tile[side][side + 1];

  const int thread = threadIdx.x;
  const int first_row = blockIdx.x * side;
  const int row = first_row + thread;
  const int tile_rows = min(side, rows - first_row);
  float sum = 0.0f;

  for (int first_column = 0; first_column < columns; first_column += side) {
    const int column = first_column + thread;
    const float* from = matrix + first_row * columns + column;
#pragma unroll 8
    for (int i = 0; i < side; ++i) {
      tile[i][thread] = i < tile_rows && column < columns ? *from : 0.0f;
      from += columns;
    }
    __syncthreads();

    const int tile_columns = min(side, columns - first_column);
    if (tile_columns == side) {
#pragma unroll
      for (int i = 0; i < side; ++i) sum = fmaf(tile[thread][i], vector[first_column + i], sum);
    } else {
      for (int i = 0; i < tile_columns; ++i) sum = fmaf(tile[thread][i], vector[first_column + i], sum);
    }
    __syncthreads();
  }
  if (row < rows) product[row] = sum;
}
