// SPDX-License-Identifier: Apache-2.0
//
// The cheapest way down a wall of stones, a step left, straight or right in each row. The kernel is in another
// translation unit, and this one has a kernel of the same name.
#include "step.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "../check.h"

namespace {

/// Makes the wall on the device: stones that cost 0 to 9.
__global__ void steps(int count, unsigned seed, int* wall) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) wall[i] = static_cast<int>((i * 2654435761u + seed) >> 7) % 10;
}

}  // namespace

int main(int argc, char** argv) {
  const int columns = size_argument(argc, argv, 3000), rows = 41;
  int *wall, *before, *after;
  CHECK(cudaMalloc(&wall, rows * columns * sizeof(int)));
  CHECK(cudaMalloc(&before, columns * sizeof(int)));
  CHECK(cudaMalloc(&after, columns * sizeof(int)));
  steps<<<(rows * columns + 127) / 128, 128>>>(rows * columns, 77, wall);
  CHECK(cudaGetLastError());
  std::vector<int> stones(rows * columns), result(columns);
  CHECK(cudaMemcpy(stones.data(), wall, stones.size() * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(before, wall, columns * sizeof(int), cudaMemcpyDeviceToDevice));
  for (int row = 1; row < rows; row += 8) {
    CHECK(advance(columns, std::min(8, rows - row), wall + row * columns, before, after, nullptr));
    std::swap(before, after);
  }
  CHECK(cudaMemcpy(result.data(), before, columns * sizeof(int), cudaMemcpyDeviceToHost));

  std::vector<int> costs(stones.begin(), stones.begin() + columns), next(columns);
  for (int row = 1; row < rows; ++row) {
    for (int c = 0; c < columns; ++c) {
      int best = costs[c];
      if (c > 0) best = std::min(best, costs[c - 1]);
      if (c + 1 < columns) best = std::min(best, costs[c + 1]);
      next[c] = best + stones[row * columns + c];
    }
    costs.swap(next);
  }
  std::printf("the cheapest way costs %d\n", *std::min_element(result.begin(), result.end()));
  CHECK(cudaFree(wall));
  CHECK(cudaFree(before));
  CHECK(cudaFree(after));
  return verdict("pathfinder", result == costs);
}
