// SPDX-License-Identifier: Apache-2.0
//
// The device's part of pathfinder, a translation unit of its own.
#include "step.h"

namespace {

constexpr int threads = 256, halo = 8;

/// A CTA computes its columns and a rim that gets narrower by one a row, so that no CTA waits for another.
__global__ void steps(int columns, int rows, const int* wall, const int* before, int* after) {
  __shared__ int costs[2][threads];
  const int t = threadIdx.x, column = blockIdx.x * (threads - 2 * halo) + t - halo;
  const bool inside = column >= 0 && column < columns;
  costs[0][t] = inside ? before[column] : 0x3fffffff;
  __syncthreads();
  for (int r = 0; r < rows; ++r) {
    const int* from = costs[r % 2];
    int best = from[t];
    if (t > 0) best = min(best, from[t - 1]);
    if (t < threads - 1) best = min(best, from[t + 1]);
    costs[(r + 1) % 2][t] = inside ? best + wall[r * columns + column] : 0x3fffffff;
    __syncthreads();
  }
  if (inside && t >= halo && t < threads - halo) after[column] = costs[rows % 2][t];
}

}  // namespace

cudaError_t advance(int columns, int rows, const int* wall, const int* before, int* after, cudaStream_t stream) {
  if (rows < 1 || rows > halo) return cudaErrorInvalidValue;
  const int own = threads - 2 * halo;
  steps<<<(columns + own - 1) / own, threads, 0, stream>>>(columns, rows, wall, before, after);
  return cudaGetLastError();
}
