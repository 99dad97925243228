// SPDX-License-Identifier: Apache-2.0
//
// y = A x for a sparse matrix in compressed rows (CSR): row i's entries are offsets[i] .. offsets[i + 1] - 1. Eight
// threads share a row: they take its entries in turn, so that they load neighbours, and add their sums by shuffles.

namespace {
constexpr int per_row = 8;  // threads
constexpr unsigned all_lanes = 0xffffffffu;
}  // namespace

/// Makes the matrix out of what a launch file can describe. Row i begins at mean * i + jitter[i], jitter from 0 to
/// `mean`, so rows have 0 to 2 * mean entries. `columns` holds distances from the diagonal at first, columns
/// afterwards: those that lead out of the matrix end at its border. `offsets` and `jitter` have rows + 1 elements.
extern "C" __global__ void spmv_build(const int* __restrict__ jitter, int* __restrict__ offsets,
                                      int* __restrict__ columns, int rows, int mean) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row > rows) return;
  const int first = mean * row + jitter[row];
  offsets[row] = first;
  if (row == rows) return;
  const int last = mean * (row + 1) + jitter[row + 1];
  for (int i = first; i < last; ++i) columns[i] = min(max(row + columns[i], 0), rows - 1);
}

extern "C" __global__ void spmv(const int* __restrict__ offsets, const int* __restrict__ columns,
                                const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y,
                                int rows) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = thread / per_row;
  const int lane = thread % per_row;
  float sum = 0.0f;
  // Threads beyond the last row stay: a shuffle needs the whole warp.
  if (row < rows) {
    const int last = offsets[row + 1];
    for (int i = offsets[row] + lane; i < last; i += per_row) sum = fmaf(values[i], x[columns[i]], sum);
  }
#pragma unroll
  for (int distance = per_row / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(all_lanes, sum, distance, per_row);
  if (row < rows && lane == 0) y[row] = sum;
}
