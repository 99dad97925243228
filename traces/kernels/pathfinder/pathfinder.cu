// SPDX-License-Identifier: Apache-2.0
//
// The cheapest way down a grid of weights, where a step leads to the cell below or to one beside that: dynamic
// programming by rows. A launch goes down `height` rows. Threads of a CTA depend on their neighbours only, so a CTA
// computes `height` columns more than its own on either side, of which one a row becomes useless, and need not talk to
// other CTAs in between. The host swaps `above` and `below` between launches.

namespace {
constexpr int threads = 256;
constexpr int height = 8;                  // rows a launch goes down
constexpr int own = threads - 2 * height;  // columns that a CTA stores
constexpr int unreachable = 0x7fffffff;    // beyond the grid
}  // namespace

/// `above` holds what the cheapest ways to the cells of row `first_row - 1` cost; `below` gets it for the row `height`
/// further down, or the last.
extern "C" __global__ void __launch_bounds__(threads)
    pathfinder(const unsigned char* __restrict__ weights, const int* __restrict__ above, int* __restrict__ below,
               int rows, int columns, int first_row) {
  __shared__ int cost[2][threads];

  const int thread = threadIdx.x;
  const int column = static_cast<int>(blockIdx.x) * own + thread - height;
  const bool inside = column >= 0 && column < columns;
  const int left = max(thread - 1, 0);
  const int right = min(thread + 1, threads - 1);
  const int last_row = min(first_row + height, rows);

  int mine = inside ? above[column] : unreachable;
  int now = 0;
  cost[now][thread] = mine;
  __syncthreads();
  for (int row = first_row; row < last_row; ++row) {
    if (inside) mine = weights[row * columns + column] + min(mine, min(cost[now][left], cost[now][right]));
    now ^= 1;
    cost[now][thread] = mine;
    __syncthreads();
  }
  if (inside && thread >= height && thread < threads - height) below[column] = mine;
}
