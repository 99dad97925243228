// SPDX-License-Identifier: Apache-2.0
//
// Transposition of a matrix in tiles of 16 x 16, in six kernels that do ever more for the memory: two copies as a
// yardstick, a naive one that stores columns, one that turns each tile in shared memory so that it loads and stores
// rows, the same without bank conflicts, and one that visits the tiles along diagonals, so that the CTAs which run
// together use different channels of the memory.
// The host launches each of them once, in blocks of 16 x 16 threads, a CTA for each tile of `from`; the matrix consists
// of whole tiles. `from` has `height` rows of `width` columns.

namespace {
constexpr int tile = 16;
constexpr int block_rows = 16;  // of threads, a divisor of `tile`: a thread takes tile / block_rows elements
}  // namespace

extern "C" __global__ void transpose_copy(float* __restrict__ to, const float* __restrict__ from, int width) {
  const int x = blockIdx.x * tile + threadIdx.x;
  const int y = blockIdx.y * tile + threadIdx.y;
  const int at = x + width * y;
#pragma unroll
  for (int i = 0; i < tile; i += block_rows) to[at + i * width] = from[at + i * width];
}

extern "C" __global__ void transpose_copy_shared(float* __restrict__ to, const float* __restrict__ from, int width,
                                                 int height) {
  __shared__ float cell[tile][tile];
  const int x = blockIdx.x * tile + threadIdx.x;
  const int y = blockIdx.y * tile + threadIdx.y;
  const int at = x + width * y;
#pragma unroll
  for (int i = 0; i < tile; i += block_rows) {
    if (x < width && y + i < height) cell[threadIdx.y + i][threadIdx.x] = from[at + i * width];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < tile; i += block_rows) {
    if (x < width && y + i < height) to[at + i * width] = cell[threadIdx.y + i][threadIdx.x];
  }
}

extern "C" __global__ void transpose_naive(float* __restrict__ to, const float* __restrict__ from, int width,
                                           int height) {
  const int x = blockIdx.x * tile + threadIdx.x;
  const int y = blockIdx.y * tile + threadIdx.y;
  const int load = x + width * y;
  const int store = y + height * x;
#pragma unroll
  for (int i = 0; i < tile; i += block_rows) to[store + i] = from[load + i * width];
}

namespace {
/// Turns tile (block_x, block_y) of `from`. With a pitch of `tile` the columns of `cell` are in one bank or two.
template <int pitch>
__device__ __forceinline__ void turn(float (*cell)[pitch], float* __restrict__ to, const float* __restrict__ from,
                                     int block_x, int block_y, int width, int height) {
  const int load = block_x * tile + threadIdx.x + (block_y * tile + threadIdx.y) * width;
  const int store = block_y * tile + threadIdx.x + (block_x * tile + threadIdx.y) * height;
#pragma unroll
  for (int i = 0; i < tile; i += block_rows) cell[threadIdx.y + i][threadIdx.x] = from[load + i * width];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < tile; i += block_rows) to[store + i * height] = cell[threadIdx.x][threadIdx.y + i];
}
}  // namespace

extern "C" __global__ void transpose_coalesced(float* __restrict__ to, const float* __restrict__ from, int width,
                                               int height) {
  __shared__ float cell[tile][tile];
  turn<tile>(cell, to, from, blockIdx.x, blockIdx.y, width, height);
}

extern "C" __global__ void transpose_padded(float* __restrict__ to, const float* __restrict__ from, int width,
                                            int height) {
  __shared__ float cell[tile][tile + 1];
  turn<tile + 1>(cell, to, from, blockIdx.x, blockIdx.y, width, height);
}

extern "C" __global__ void transpose_diagonal(float* __restrict__ to, const float* __restrict__ from, int width,
                                              int height) {
  __shared__ float cell[tile][tile + 1];
  int block_x;
  int block_y;
  if (width == height) {
    block_y = blockIdx.x;
    block_x = (blockIdx.x + blockIdx.y) % gridDim.x;
  } else {
    const int block = blockIdx.x + gridDim.x * blockIdx.y;
    block_y = block % gridDim.y;
    block_x = (block / gridDim.y + block_y) % gridDim.x;
  }
  turn<tile + 1>(cell, to, from, block_x, block_y, width, height);
}
