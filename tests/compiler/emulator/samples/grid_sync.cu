// SPDX-License-Identifier: Apache-2.0
// nvcc -std=c++17 -arch=compute_75 -ptx grid_sync.cu
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

/// Every thread reads what a thread of another CTA wrote before the barrier.
__global__ void grid_sync(int* a, int* b, int n) {
  const cg::grid_group grid = cg::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  a[i] = i * 3;
  grid.sync();
  b[i] = a[(i + 37) % n];
  grid.sync();
  a[i] += b[n - 1 - i];
}
