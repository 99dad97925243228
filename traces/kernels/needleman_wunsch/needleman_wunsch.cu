// SPDX-License-Identifier: Apache-2.0
//
// Global alignment of two sequences (Needleman and Wunsch 1970) with a linear gap penalty: the matrix of best scores,
// of which every cell depends on those above, to the left and above to the left. Tiles of 32 x 32 cells lie in the same
// order; the host launches one diagonal of tiles after the other. One warp makes a tile, a thread a column of it, along
// the tile's own diagonals.

namespace {
constexpr int tile = 32;     // cells per side, and threads
constexpr int symbols = 24;  // of the alphabet
// Threads on a diagonal are pitch - 1 words apart: odd, so that they use different banks.
constexpr int pitch = tile + 2;
}  // namespace

/// What it is worth to align a symbol of one sequence with one of the other.
__constant__ int substitution[symbols * symbols];

/// Row 0 and column 0: nothing but gaps. `score` has (rows + 1) x (columns + 1) cells.
extern "C" __global__ void needleman_wunsch_border(int* __restrict__ score, int rows, int columns, int gap) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= columns) score[i] = -gap * i;
  if (i <= rows && i > 0) score[i * (columns + 1)] = -gap * i;
}

/// The tiles of one diagonal. The grid is a row of tiles; those whose place on the diagonal is outside do nothing.
extern "C" __global__ void __launch_bounds__(tile)
    needleman_wunsch_tiles(const unsigned char* __restrict__ down, const unsigned char* __restrict__ across,
                           int* __restrict__ score, int rows, int columns, int gap, int diagonal) {
  __shared__ int cell[tile + 1][pitch];
  __shared__ int row_symbol[tile];

  const int first_row = (diagonal - static_cast<int>(blockIdx.x)) * tile;
  if (first_row < 0 || first_row >= rows) return;
  const int first_column = blockIdx.x * tile;
  const int stride = columns + 1;
  const int t = threadIdx.x;
  // Cells outside the matrix are computed from its last ones and not stored.
  const int column = min(first_column + t, columns - 1);
  const int row = min(first_row + t, rows - 1);

  cell[0][t + 1] = score[first_row * stride + column + 1];
  cell[t + 1][0] = score[(row + 1) * stride + first_column];
  if (t == 0) cell[0][0] = score[first_row * stride + first_column];
  row_symbol[t] = down[row];
  const int column_symbol = across[column];
  __syncwarp();

  for (int step = 0; step < 2 * tile - 1; ++step) {
    const int y = step - t;
    if (y >= 0 && y < tile) {
      const int aligned = cell[y][t] + substitution[row_symbol[y] * symbols + column_symbol];
      const int gapped = max(cell[y][t + 1], cell[y + 1][t]) - gap;
      cell[y + 1][t + 1] = max(aligned, gapped);
    }
    __syncwarp();
  }

  if (first_column + t < columns) {
    const int last = min(tile, rows - first_row);
    for (int y = 0; y < last; ++y) score[(first_row + y + 1) * stride + column + 1] = cell[y + 1][t + 1];
  }
}
