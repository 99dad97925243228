// SPDX-License-Identifier: Apache-2.0
//
// A picture convolved with a filter that is the product of a row and a column: first along the rows, then along the
// columns, 17 taps each. A CTA keeps a tile and one block of rim on either side in shared memory, and each thread makes
// eight pixels. Beyond the picture lies zero.
// The host launches convolution_separable_rows from `source` to `between` in blocks of 16 x 4 threads, then
// convolution_separable_columns from `between` to `result` in blocks of 16 x 8. A CTA covers 128 x 4 and 16 x 64
// pixels; the picture consists of whole tiles.

namespace {
constexpr int radius = 8;
constexpr int taps = 2 * radius + 1;
constexpr int results = 8;  // of a thread
constexpr int rim = 1;      // blocks of threads on either side, which cover the radius
constexpr int rows_x = 16;
constexpr int rows_y = 4;
constexpr int columns_x = 16;
constexpr int columns_y = 8;
}  // namespace

__constant__ float filter_taps[taps];

extern "C" __global__ void __launch_bounds__(rows_x* rows_y)
    convolution_separable_rows(const float* __restrict__ source, float* __restrict__ result, int width, int pitch) {
  __shared__ float tile[rows_y][(results + 2 * rim) * rows_x];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  // Where the rim on the left begins.
  const int column = (static_cast<int>(blockIdx.x) * results - rim) * rows_x + tx;
  const int row = blockIdx.y * rows_y + ty;
  source += row * pitch + column;
  result += row * pitch + column;

#pragma unroll
  for (int i = rim; i < rim + results; ++i) tile[ty][tx + i * rows_x] = source[i * rows_x];
#pragma unroll
  for (int i = 0; i < rim; ++i) tile[ty][tx + i * rows_x] = column >= -i * rows_x ? source[i * rows_x] : 0.0f;
#pragma unroll
  for (int i = rim + results; i < 2 * rim + results; ++i)
    tile[ty][tx + i * rows_x] = width - column > i * rows_x ? source[i * rows_x] : 0.0f;
  __syncthreads();

#pragma unroll
  for (int i = rim; i < rim + results; ++i) {
    float sum = 0.0f;
#pragma unroll
    for (int j = -radius; j <= radius; ++j) sum = fmaf(filter_taps[radius - j], tile[ty][tx + i * rows_x + j], sum);
    result[i * rows_x] = sum;
  }
}

extern "C" __global__ void __launch_bounds__(columns_x* columns_y)
    convolution_separable_columns(const float* __restrict__ source, float* __restrict__ result, int height, int pitch) {
  // A column of the picture is a row of the tile, whose odd length keeps the threads of a warp in different banks.
  __shared__ float tile[columns_x][(results + 2 * rim) * columns_y + 1];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int column = blockIdx.x * columns_x + tx;
  // Where the rim above begins.
  const int row = (static_cast<int>(blockIdx.y) * results - rim) * columns_y + ty;
  source += row * pitch + column;
  result += row * pitch + column;

#pragma unroll
  for (int i = rim; i < rim + results; ++i) tile[tx][ty + i * columns_y] = source[i * columns_y * pitch];
#pragma unroll
  for (int i = 0; i < rim; ++i)
    tile[tx][ty + i * columns_y] = row >= -i * columns_y ? source[i * columns_y * pitch] : 0.0f;
#pragma unroll
  for (int i = rim + results; i < 2 * rim + results; ++i)
    tile[tx][ty + i * columns_y] = height - row > i * columns_y ? source[i * columns_y * pitch] : 0.0f;
  __syncthreads();

#pragma unroll
  for (int i = rim; i < rim + results; ++i) {
    float sum = 0.0f;
#pragma unroll
    for (int j = -radius; j <= radius; ++j) sum = fmaf(filter_taps[radius - j], tile[tx][ty + i * columns_y + j], sum);
    result[i * columns_y * pitch] = sum;
  }
}
