// SPDX-License-Identifier: Apache-2.0
//
// A bitonic sort of keys with values: short distances in shared memory, long ones by a launch each, driven by the host.
#include <algorithm>
#include <utility>
#include <vector>

#include "check.h"

constexpr int tile = 1024;  // pairs of a CTA, two a thread

__device__ void order(uint2& a, uint2& b, bool up) {
  if ((a.x > b.x) == up) {
    const uint2 c = a;
    a = b;
    b = c;
  }
}

/// All steps up to blocks of `tile` (first) or the last steps of blocks of `size`.
__global__ void sort_in_tile(uint2* data, int size, bool first) {
  __shared__ uint2 pairs[tile];
  uint2* own = data + blockIdx.x * tile;
  const int t = threadIdx.x;
  pairs[t] = own[t];
  pairs[t + tile / 2] = own[t + tile / 2];
  for (int block = first ? 2 : size; block <= size; block *= 2) {
    for (int distance = block < tile ? block / 2 : tile / 2; distance > 0; distance /= 2) {
      __syncthreads();
      const int i = 2 * t - (t & (distance - 1));
      order(pairs[i], pairs[i + distance], ((blockIdx.x * tile + i) & block) == 0);
    }
  }
  __syncthreads();
  own[t] = pairs[t];
  own[t + tile / 2] = pairs[t + tile / 2];
}

__global__ void merge_far(uint2* data, int block, int distance) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = 2 * t - (t & (distance - 1));
  uint2 a = data[i], b = data[i + distance];
  order(a, b, (i & block) == 0);
  data[i] = a;
  data[i + distance] = b;
}

int main(int argc, char** argv) {
  int n = tile;  // a power of two, at least what was asked for
  for (const int asked = size_argument(argc, argv, 8192); n < asked;) n *= 2;
  std::vector<uint2> data(n), result(n);
  Random random(8);
  for (int i = 0; i < n; ++i) data[i] = make_uint2(random.next() * 256u + random.next() % 256u, i);
  uint2* device;
  CHECK(cudaMalloc(&device, n * sizeof(uint2)));
  CHECK(cudaMemcpy(device, data.data(), n * sizeof(uint2), cudaMemcpyHostToDevice));
  sort_in_tile<<<n / tile, tile / 2>>>(device, tile, true);
  for (int block = 2 * tile; block <= n; block *= 2) {
    for (int distance = block / 2; distance >= tile; distance /= 2) {
      merge_far<<<n / 2 / 256, 256>>>(device, block, distance);
    }
    sort_in_tile<<<n / tile, tile / 2>>>(device, block, false);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(result.data(), device, n * sizeof(uint2), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device));
  std::vector<bool> seen(n, false);
  bool good = true;
  for (int i = 0; good && i < n; ++i) {  // in order, and each pair that went in comes out once
    good = (i == 0 || result[i - 1].x <= result[i].x) && result[i].y < static_cast<unsigned>(n) && !seen[result[i].y] &&
           data[result[i].y].x == result[i].x;
    if (good) seen[result[i].y] = true;
  }
  return verdict("bitonic_sort", good);
}
