// SPDX-License-Identifier: Apache-2.0
//
// C = A B in tiles, the tile's size a template parameter. The large variant asks for more than 48 KB of dynamic shared
// memory, which a kernel may only have after cudaFuncSetAttribute.
#include <vector>

#include "check.h"

/// A CTA of 16 x 16 threads computes Tile x Tile elements; Depth is how much of a row of A is staged at a time.
template <int Tile, int Depth>
__global__ void multiply(int n, const float* a, const float* b, float* c) {
  extern __shared__ float staged[];
  float* staged_a = staged;                 // Tile rows of Depth
  float* staged_b = staged + Tile * Depth;  // Depth rows of Tile
  constexpr int each = Tile / 16;
  const int row = blockIdx.y * Tile, column = blockIdx.x * Tile;
  const int thread = threadIdx.y * 16 + threadIdx.x;
  float sums[each][each] = {};
  for (int from = 0; from < n; from += Depth) {
    for (int i = thread; i < Tile * Depth; i += 256) {
      const int ar = row + i / Depth, ac = from + i % Depth, br = from + i / Tile, bc = column + i % Tile;
      staged_a[i] = ar < n && ac < n ? a[ar * n + ac] : 0;
      staged_b[i] = br < n && bc < n ? b[br * n + bc] : 0;
    }
    __syncthreads();
    for (int k = 0; k < Depth; ++k) {
      for (int i = 0; i < each; ++i) {
        const float left = staged_a[(threadIdx.y + i * 16) * Depth + k];
        for (int j = 0; j < each; ++j) sums[i][j] += left * staged_b[k * Tile + threadIdx.x + j * 16];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < each; ++i) {
    for (int j = 0; j < each; ++j) {
      const int r = row + threadIdx.y + i * 16, s = column + threadIdx.x + j * 16;
      if (r < n && s < n) c[r * n + s] = sums[i][j];
    }
  }
}

template <int Tile, int Depth>
static bool run(int n, const float* a, const float* b, float* c, const std::vector<float>& expected) {
  const std::size_t shared = 2 * Tile * Depth * sizeof(float);
  const auto kernel = multiply<Tile, Depth>;
  if (shared > 48 * 1024) {
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  }
  int resident = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, 256, shared));
  std::printf("tile %d: %zu bytes of shared memory, %d CTAs fit an SM\n", Tile, shared, resident);
  CHECK(cudaMemset(c, 0xff, n * n * sizeof(float)));
  const dim3 grid((n + Tile - 1) / Tile, (n + Tile - 1) / Tile), block(16, 16);
  kernel<<<grid, block, shared>>>(n, a, b, c);
  CHECK(cudaGetLastError());
  std::vector<float> result(n * n);
  CHECK(cudaMemcpy(result.data(), c, n * n * sizeof(float), cudaMemcpyDeviceToHost));
  bool good = resident > 0;
  for (int i = 0; i < n * n; ++i) good = good && is_close(result[i], expected[i]);
  return good;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 72);
  std::vector<float> a(n * n), b(n * n), expected(n * n);
  Random random;
  for (float& f : a) f = random.uniform() - 0.5f;
  for (float& f : b) f = random.uniform() - 0.5f;
  for (int r = 0; r < n; ++r) {
    for (int k = 0; k < n; ++k) {
      for (int s = 0; s < n; ++s) expected[r * n + s] += a[r * n + k] * b[k * n + s];
    }
  }
  float *device_a, *device_b, *device_c;
  const std::size_t bytes = n * n * sizeof(float);
  CHECK(cudaMalloc(&device_a, bytes));
  CHECK(cudaMalloc(&device_b, bytes));
  CHECK(cudaMalloc(&device_c, bytes));
  CHECK(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice));
  bool good = run<16, 16>(n, device_a, device_b, device_c, expected);
  good = run<32, 32>(n, device_a, device_b, device_c, expected) && good;
  good = run<64, 104>(n, device_a, device_b, device_c, expected) && good;
  CHECK(cudaFree(device_a));
  CHECK(cudaFree(device_b));
  CHECK(cudaFree(device_c));
  return verdict("matrix_multiplication", good);
}
