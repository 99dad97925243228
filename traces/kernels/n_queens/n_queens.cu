// SPDX-License-Identifier: Apache-2.0
//
// Counts the ways to place n queens on a board of n x n so that none attacks another. The first rows are filled in all
// possible ways; each such beginning is then completed by one thread, which backtracks on stacks in shared memory. A
// mirrored board is another solution: only the left half of the first row is tried, and counted twice, and if n is odd
// its middle, counted once.
//
// The host launches `first`, `expand` for every other row to be filled, swapping the four buffers with their `next`
// ones, `solve` and `total`, all that for the left half and again for the middle. Three bit masks describe a beginning:
// which columns have a queen, and which are attacked in the next row along either diagonal.

namespace {
constexpr int threads = 96;    // of a CTA of solve
constexpr int most_rows = 10;  // that a thread fills
constexpr int expand_threads = 128;
}  // namespace

/// Queens in row 0, columns `begin` to `end` - 1. One thread each.
extern "C" __global__ void n_queens_first(unsigned* __restrict__ columns, unsigned* __restrict__ lefts,
                                          unsigned* __restrict__ rights, int* __restrict__ count, int begin, int end) {
  const int t = threadIdx.x;
  if (t == 0) *count = end - begin;
  if (begin + t >= end) return;
  const unsigned queen = 1u << (begin + t);
  columns[t] = queen;
  lefts[t] = queen << 1;
  rights[t] = queen >> 1;
}

/// Adds a row to every beginning. One CTA, so that the beginnings are in an order: it counts and places the new ones
/// of 128 old ones at a time.
extern "C" __global__ void __launch_bounds__(expand_threads)
    n_queens_expand(const unsigned* __restrict__ columns, const unsigned* __restrict__ lefts,
                    const unsigned* __restrict__ rights, const int* __restrict__ count,
                    unsigned* __restrict__ next_columns, unsigned* __restrict__ next_lefts,
                    unsigned* __restrict__ next_rights, int* __restrict__ next_count, int n) {
  __shared__ int sums[expand_threads];
  const int t = threadIdx.x;
  const unsigned board = (1u << n) - 1;
  const int end = *count;
  int placed = 0;
  for (int first = 0; first < end; first += expand_threads) {
    const int i = first + t;
    unsigned column = 0;
    unsigned left = 0;
    unsigned right = 0;
    unsigned open = 0;
    if (i < end) {
      column = columns[i];
      left = lefts[i];
      right = rights[i];
      open = board & ~(column | left | right);
    }
    const int children = __popc(open);
    sums[t] = children;
    for (int distance = 1; distance < expand_threads; distance *= 2) {
      __syncthreads();
      const int before = t >= distance ? sums[t - distance] : 0;
      __syncthreads();
      sums[t] += before;
    }
    __syncthreads();
    for (int to = placed + sums[t] - children; open != 0; ++to) {
      const unsigned queen = open & (0u - open);
      open ^= queen;
      next_columns[to] = column | queen;
      next_lefts[to] = (left | queen) << 1;
      next_rights[to] = (right | queen) >> 1;
    }
    placed += sums[expand_threads - 1];
    __syncthreads();
  }
  if (t == 0) *next_count = placed;
}

/// In how many ways the beginnings of this CTA can be completed by `rows` rows.
extern "C" __global__ void __launch_bounds__(threads)
    n_queens_solve(const unsigned* __restrict__ columns, const unsigned* __restrict__ lefts,
                   const unsigned* __restrict__ rights, const int* __restrict__ count, int* __restrict__ results, int n,
                   int rows) {
  __shared__ unsigned column[threads][most_rows];
  __shared__ unsigned left[threads][most_rows];
  __shared__ unsigned right[threads][most_rows];
  __shared__ unsigned untried[threads][most_rows];
  __shared__ int sum[threads];

  const int t = threadIdx.x;
  const int i = blockIdx.x * threads + t;
  const unsigned board = (1u << n) - 1;
  int solutions = 0;
  if (i < *count) {
    column[t][0] = columns[i];
    left[t][0] = lefts[i];
    right[t][0] = rights[i];
    untried[t][0] = board & ~(column[t][0] | left[t][0] | right[t][0]);
    int row = 0;
    while (row >= 0) {
      const unsigned open = untried[t][row];
      if (open == 0) {
        --row;
        continue;
      }
      const unsigned queen = open & (0u - open);
      untried[t][row] = open ^ queen;
      if (row + 1 == rows) {
        ++solutions;
        continue;
      }
      const unsigned c = column[t][row] | queen;
      const unsigned l = (left[t][row] | queen) << 1;
      const unsigned r = (right[t][row] | queen) >> 1;
      ++row;
      column[t][row] = c;
      left[t][row] = l;
      right[t][row] = r;
      untried[t][row] = board & ~(c | l | r);
    }
  }

  sum[t] = solutions;
  __syncthreads();
  if (t < 32) sum[t] += sum[t + 64];
  for (int half = 32; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) sum[t] += sum[t + half];
  }
  if (t == 0) results[blockIdx.x] = sum[0];
}

/// Adds the CTAs' results, each `weight` times.
extern "C" __global__ void n_queens_total(const int* __restrict__ results, int* __restrict__ total, int ctas,
                                          int weight) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < ctas) atomicAdd(total, weight * results[i]);
}
