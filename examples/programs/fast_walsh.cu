// SPDX-License-Identifier: Apache-2.0
//
// Fast Walsh transform of integers, there and back: twice the transform is n times the input. A batch in a grid of two
// dimensions, dynamic shared memory, one stream per batch item with priorities.
#include <vector>

#include "check.h"

/// All butterflies of a block of 2 * blockDim.x elements.
__global__ void near_butterflies(int* data, int log_block) {
  extern __shared__ int block[];
  const int size = 1 << log_block, t = threadIdx.x;
  int* own = data + static_cast<std::size_t>(blockIdx.x) * size;
  for (int i = t; i < size; i += blockDim.x) block[i] = own[i];
  for (int distance = 1; distance < size; distance *= 2) {
    __syncthreads();
    const int i = 2 * t - (t & (distance - 1));
    const int a = block[i], b = block[i + distance];
    block[i] = a + b;
    block[i + distance] = a - b;
  }
  __syncthreads();
  for (int i = t; i < size; i += blockDim.x) own[i] = block[i];
}

__global__ void far_butterflies(int* data, int n, int distance) {
  int* own = data + static_cast<std::size_t>(blockIdx.y) * n;
  const int t = blockIdx.x * blockDim.x + threadIdx.x, i = 2 * t - (t & (distance - 1));
  const int a = own[i], b = own[i + distance];
  own[i] = a + b;
  own[i + distance] = a - b;
}

static void transform(int* data, int n, int batch, cudaStream_t stream) {
  constexpr int log_block = 9;
  near_butterflies<<<n / 512 * batch, 256, 512 * sizeof(int), stream>>>(data, log_block);
  for (int distance = 512; distance < n; distance *= 2) {
    far_butterflies<<<dim3(n / 2 / 256, batch), 256, 0, stream>>>(data, n, distance);
  }
  CHECK(cudaGetLastError());
}

int main(int argc, char** argv) {
  constexpr int batch = 3;
  int n = 1024;
  for (const int asked = size_argument(argc, argv, 4096); n < asked;) n *= 2;
  std::vector<int> data(batch * n), expected, once(batch * n), twice(batch * n);
  Random random(19);
  for (int& i : data) i = random.below(201) - 100;
  expected = data;
  for (int b = 0; b < batch; ++b) {
    for (int distance = 1; distance < n; distance *= 2) {
      for (int i = 0; i < n; ++i) {
        if ((i & distance) != 0) continue;
        int& left = expected[b * n + i];
        int& right = expected[b * n + i + distance];
        const int sum = left + right, difference = left - right;
        left = sum;
        right = difference;
      }
    }
  }
  int least = 0, greatest = 0;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
  int* device;
  const std::size_t bytes = data.size() * sizeof(int);
  CHECK(cudaMalloc(&device, bytes));
  CHECK(cudaMemcpyAsync(device, data.data(), bytes, cudaMemcpyHostToDevice, stream));
  transform(device, n, batch, stream);
  CHECK(cudaMemcpyAsync(once.data(), device, bytes, cudaMemcpyDeviceToHost, stream));
  transform(device, n, batch, stream);
  CHECK(cudaMemcpyAsync(twice.data(), device, bytes, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  bool good = once == expected;
  for (std::size_t i = 0; i < data.size(); ++i) good = good && twice[i] == data[i] * n;
  CHECK(cudaFree(device));
  CHECK(cudaStreamDestroy(stream));
  return verdict("fast_walsh", good);
}
