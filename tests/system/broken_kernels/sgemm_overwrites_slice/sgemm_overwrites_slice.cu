// SPDX-License-Identifier: Apache-2.0
//
// sgemm with a race: nothing keeps a fast warp from staging the next slice while a slow one still reads this one (the
// barrier at the end of the loop is missing).

namespace {
constexpr int threads = 16;              // per side of the CTA
constexpr int results = 4;               // per side and thread
constexpr int tile = threads * results;  // of C, per side
constexpr int slice = 16;                // of the depth
}  // namespace

extern "C" __global__ void __launch_bounds__(threads* threads)
    sgemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int rows, int columns,
          int depth, float alpha, float beta) {
  // One word of padding turns the column writes of A into writes of different banks.
  __shared__ float a_slice[slice][tile + 1];
  __shared__ float b_slice[slice][tile];

  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int first_row = blockIdx.y * tile;
  const int first_column = blockIdx.x * tile;
  float sum[results][results] = {};

  for (int first = 0; first < depth; first += slice) {
#pragma unroll
    for (int i = 0; i < results; ++i) {
      // A: a row of 16 threads reads 16 neighbours along the depth. B: neighbours along the columns.
      const int row = first_row + ty + i * threads;
      const int a_depth = first + tx;
      a_slice[tx][ty + i * threads] = row < rows && a_depth < depth ? a[row * depth + a_depth] : 0.0f;
      const int column = first_column + tx + i * threads;
      const int b_depth = first + ty;
      b_slice[ty][tx + i * threads] = column < columns && b_depth < depth ? b[b_depth * columns + column] : 0.0f;
    }
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < slice; ++k) {
      float left[results];
      float right[results];
#pragma unroll
      for (int i = 0; i < results; ++i) {
        left[i] = a_slice[k][ty + i * threads];
        right[i] = b_slice[k][tx + i * threads];
      }
#pragma unroll
      for (int i = 0; i < results; ++i) {
#pragma unroll
        for (int j = 0; j < results; ++j) sum[i][j] = fmaf(left[i], right[j], sum[i][j]);
      }
    }
  }

#pragma unroll
  for (int i = 0; i < results; ++i) {
    const int row = first_row + ty + i * threads;
#pragma unroll
    for (int j = 0; j < results; ++j) {
      const int column = first_column + tx + j * threads;
      if (row < rows && column < columns) {
        float* out = &c[row * columns + column];
        *out = fmaf(alpha, sum[i][j], beta * *out);
      }
    }
  }
}
