// SPDX-License-Identifier: Apache-2.0
//
// Exclusive prefix sums of any length: sums of tiles, the sums' own prefix sums by recursion, then the tiles. Memory
// comes from the stream's own allocator (cudaMallocAsync).
#include <vector>

#include "check.h"

constexpr int threads = 256, tile = 4 * threads;

__device__ unsigned scan_warp(unsigned value) {
  for (int step = 1; step < 32; step *= 2) {
    const unsigned left = __shfl_up_sync(0xffffffffu, value, step);
    if (static_cast<int>(threadIdx.x % 32) >= step) value += left;
  }
  return value;
}

/// Prefix sums within each tile of 1,024; the sum of the tile goes to `sums`.
__global__ void scan_tiles(int n, const unsigned* in, unsigned* out, unsigned* sums) {
  __shared__ unsigned of_warp[threads / 32];
  const int first = blockIdx.x * tile + threadIdx.x * 4;
  unsigned values[4], own = 0;
  for (int k = 0; k < 4; ++k) {
    values[k] = first + k < n ? in[first + k] : 0;
    own += values[k];
  }
  const unsigned inclusive = scan_warp(own);
  if (threadIdx.x % 32 == 31) of_warp[threadIdx.x / 32] = inclusive;
  __syncthreads();
  if (threadIdx.x < 32) {
    const unsigned sum = scan_warp(threadIdx.x < threads / 32 ? of_warp[threadIdx.x] : 0);
    if (threadIdx.x < threads / 32) of_warp[threadIdx.x] = sum;
  }
  __syncthreads();
  unsigned before = inclusive - own + (threadIdx.x >= 32 ? of_warp[threadIdx.x / 32 - 1] : 0);
  for (int k = 0; k < 4; ++k) {
    if (first + k < n) out[first + k] = before;
    before += values[k];
  }
  if (threadIdx.x == threads - 1) sums[blockIdx.x] = before;
}

__global__ void add_to_tiles(int n, const unsigned* before, unsigned* out) {
  const unsigned add = before[blockIdx.x];
  for (int i = blockIdx.x * tile + threadIdx.x; i < n && i < static_cast<int>(blockIdx.x + 1) * tile; i += threads) {
    out[i] += add;
  }
}

static void exclusive_scan(int n, const unsigned* in, unsigned* out, cudaStream_t stream) {
  const int tiles = (n + tile - 1) / tile;
  unsigned* sums;
  CHECK(cudaMallocAsync(reinterpret_cast<void**>(&sums), tiles * sizeof(unsigned), stream));
  scan_tiles<<<tiles, threads, 0, stream>>>(n, in, out, sums);
  CHECK(cudaGetLastError());
  if (tiles > 1) {
    exclusive_scan(tiles, sums, sums, stream);
    add_to_tiles<<<tiles, threads, 0, stream>>>(n, sums, out);
    CHECK(cudaGetLastError());
  }
  CHECK(cudaFreeAsync(sums, stream));
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 150001);
  std::vector<unsigned> data(n), expected(n), result(n);
  Random random(4);
  unsigned sum = 0;
  for (int i = 0; i < n; ++i) {
    data[i] = random.next();
    expected[i] = sum;
    sum += data[i];
  }
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  unsigned *in, *out;
  const std::size_t bytes = n * sizeof(unsigned);
  CHECK(cudaMalloc(&in, bytes));
  CHECK(cudaMalloc(&out, bytes));
  CHECK(cudaMemcpy(in, data.data(), bytes, cudaMemcpyHostToDevice));
  exclusive_scan(n, in, out, stream);
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  CHECK(cudaStreamDestroy(stream));
  return verdict("prefix_sum", result == expected);
}
