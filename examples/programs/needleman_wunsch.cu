// SPDX-License-Identifier: Apache-2.0
//
// Alignment of two sequences: a wavefront of tiles over launches, a wavefront of cells inside of a tile of one warp, a
// table of scores in constant memory. The host walks the table back.
#include <algorithm>
#include <string>
#include <vector>

#include "check.h"

constexpr int tile = 32, letters = 4, gap = 3;
__constant__ signed char scores[letters][letters];

/// `table` has (n + 1) x (n + 1) cells; CTA i works on the tile in row `first` + i of antidiagonal `diagonal`.
__global__ void align(int n, int diagonal, int first, const unsigned char* a, const unsigned char* b, int* table) {
  __shared__ int cells[tile + 1][tile + 1];
  const int tile_row = first + blockIdx.x, tile_column = diagonal - tile_row;
  const int row = tile_row * tile, column = tile_column * tile, t = threadIdx.x, width = n + 1;
  cells[t + 1][0] = table[(row + t + 1) * width + column];
  cells[0][t + 1] = table[row * width + column + t + 1];
  if (t == 0) cells[0][0] = table[row * width + column];
  __syncwarp();
  const int letter = a[row + t];
  for (int step = 0; step < 2 * tile - 1; ++step) {
    const int c = step - t;
    if (c >= 0 && c < tile) {
      const int match = cells[t][c] + scores[letter][b[column + c]];
      cells[t + 1][c + 1] = max(match, max(cells[t][c + 1], cells[t + 1][c]) - gap);
    }
    __syncwarp();
  }
  for (int r = 0; r < tile; ++r) table[(row + r + 1) * width + column + t + 1] = cells[r + 1][t + 1];
}

int main(int argc, char** argv) {
  const int tiles = (size_argument(argc, argv, 192) + tile - 1) / tile, n = tiles * tile, width = n + 1;
  signed char score[letters][letters];
  std::vector<unsigned char> a(n), b(n);
  Random random(13);
  for (int i = 0; i < letters; ++i) {
    for (int j = 0; j <= i; ++j)
      score[i][j] = score[j][i] = static_cast<signed char>(i == j ? 5 + i : -1 - random.below(3));
  }
  for (int i = 0; i < n; ++i) {
    a[i] = static_cast<unsigned char>(random.below(letters));
    b[i] = random.below(4) == 0 ? static_cast<unsigned char>(random.below(letters)) : a[i];
  }
  std::vector<int> expected(width * width), result(width * width, 0);
  for (int i = 0; i <= n; ++i) expected[i] = expected[i * width] = result[i] = result[i * width] = -gap * i;
  for (int r = 1; r <= n; ++r) {
    for (int c = 1; c <= n; ++c) {
      expected[r * width + c] = std::max(expected[(r - 1) * width + c - 1] + score[a[r - 1]][b[c - 1]],
                                         std::max(expected[(r - 1) * width + c], expected[r * width + c - 1]) - gap);
    }
  }

  unsigned char *device_a, *device_b;
  int* table;
  const std::size_t bytes = result.size() * sizeof(int);
  CHECK(cudaMemcpyToSymbol(scores, score, sizeof score));
  CHECK(cudaMalloc(&device_a, n));
  CHECK(cudaMalloc(&device_b, n));
  CHECK(cudaMalloc(&table, bytes));
  CHECK(cudaMemcpy(device_a, a.data(), n, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device_b, b.data(), n, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(table, result.data(), bytes, cudaMemcpyHostToDevice));
  for (int diagonal = 0; diagonal < 2 * tiles - 1; ++diagonal) {
    const int first = std::max(0, diagonal - tiles + 1), last = std::min(diagonal, tiles - 1);
    align<<<last - first + 1, tile>>>(n, diagonal, first, device_a, device_b, table);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(result.data(), table, bytes, cudaMemcpyDeviceToHost));
  int r = n, c = n, matches = 0;
  while (r > 0 && c > 0) {
    const int here = result[r * width + c];
    if (here == result[(r - 1) * width + c - 1] + score[a[r - 1]][b[c - 1]]) {
      matches += a[--r] == b[--c];
    } else if (here == result[(r - 1) * width + c] - gap) {
      --r;
    } else {
      --c;
    }
  }
  std::printf("score %d, %d of %d letters match\n", result.back(), matches, n);
  CHECK(cudaFree(device_a));
  CHECK(cudaFree(device_b));
  CHECK(cudaFree(table));
  return verdict("needleman_wunsch", result == expected && matches > n / 2);
}
