// SPDX-License-Identifier: Apache-2.0
//
// A histogram of bytes in managed memory, which host and device address alike: per CTA in shared memory, then added up
// by atomics. The host changes the data between two launches without any copy.
#include <vector>

#include "check.h"

constexpr int bins = 256;
__managed__ unsigned total[bins];
__managed__ int launches;

__global__ void count_bytes(const unsigned char* data, std::size_t n) {
  __shared__ unsigned counts[bins];
  for (int b = threadIdx.x; b < bins; b += blockDim.x) counts[b] = 0;
  __syncthreads();
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) atomicAdd(&counts[data[i]], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x) {
    if (counts[b] != 0) atomicAdd(&total[b], counts[b]);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) ++launches;
}

int main(int argc, char** argv) {
  const std::size_t n = size_argument(argc, argv, 100000);
  unsigned char* data;
  CHECK(cudaMallocManaged(reinterpret_cast<void**>(&data), n));
  std::vector<unsigned> expected(bins, 0);
  Random random(2);
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < n; ++i) {
      data[i] = static_cast<unsigned char>(round == 0 ? random.next() & random.next() : data[i] ^ 0x55u);
      ++expected[data[i]];
    }
    count_bytes<<<16, 192>>>(data, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
  }
  bool good = launches == 2;
  for (int b = 0; b < bins; ++b) good = good && total[b] == expected[b];
  CHECK(cudaFree(data));
  return verdict("histogram", good);
}
