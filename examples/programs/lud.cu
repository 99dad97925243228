// SPDX-License-Identifier: Apache-2.0
//
// LU decomposition in blocks of 16 x 16, in place and without pivoting: three launches a block of the diagonal, 3 n /
// 16 in all, whose grids shrink.
#include <vector>

#include "check.h"

constexpr int block = 16;

/// One CTA of 16 threads decomposes the block on the diagonal.
__global__ void diagonal(float* m, int n, int at) {
  __shared__ float tile[block][block];
  const int t = threadIdx.x;
  for (int r = 0; r < block; ++r) tile[r][t] = m[(at + r) * n + at + t];
  __syncthreads();
  for (int k = 0; k < block - 1; ++k) {
    if (t > k) {
      tile[t][k] /= tile[k][k];
      for (int c = k + 1; c < block; ++c) tile[t][c] -= tile[t][k] * tile[k][c];
    }
    __syncthreads();
  }
  for (int r = 0; r < block; ++r) m[(at + r) * n + at + t] = tile[r][t];
}

/// Blocks right of the diagonal (threads 0 to 15) and below it (16 to 31).
__global__ void perimeter(float* m, int n, int at) {
  __shared__ float corner[block][block], right[block][block], below[block][block];
  const int t = threadIdx.x % block, next = at + (blockIdx.x + 1) * block;
  const bool is_right = threadIdx.x < block;
  for (int r = 0; r < block; ++r) {
    if (is_right) {
      corner[r][t] = m[(at + r) * n + at + t];
      right[r][t] = m[(at + r) * n + next + t];
    } else {
      below[r][t] = m[(next + r) * n + at + t];
    }
  }
  __syncthreads();
  if (is_right) {
    for (int r = 1; r < block; ++r) {
      for (int k = 0; k < r; ++k) right[r][t] -= corner[r][k] * right[k][t];
    }
  } else {
    for (int c = 0; c < block; ++c) {
      for (int k = 0; k < c; ++k) below[t][c] -= below[t][k] * corner[k][c];
      below[t][c] /= corner[c][c];
    }
  }
  __syncthreads();
  for (int r = 0; r < block; ++r) {
    if (is_right) {
      m[(at + r) * n + next + t] = right[r][t];
    } else {
      m[(next + r) * n + at + t] = below[r][t];
    }
  }
}

__global__ void interior(float* m, int n, int at) {
  __shared__ float left[block][block], top[block][block];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = at + (blockIdx.y + 1) * block + y, column = at + (blockIdx.x + 1) * block + x;
  left[y][x] = m[row * n + at + x];
  top[y][x] = m[(at + y) * n + column];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < block; ++k) sum += left[y][k] * top[k][x];
  m[row * n + column] -= sum;
}

int main(int argc, char** argv) {
  const int blocks = (size_argument(argc, argv, 128) + block - 1) / block, n = blocks * block;
  std::vector<float> matrix(n * n), result(n * n);
  Random random(12);
  for (float& f : matrix) f = random.uniform();
  for (int i = 0; i < n; ++i) matrix[i * n + i] += static_cast<float>(n);
  float* device;
  CHECK(cudaMalloc(&device, n * n * sizeof(float)));
  CHECK(cudaMemcpy(device, matrix.data(), n * n * sizeof(float), cudaMemcpyHostToDevice));
  for (int b = 0; b < blocks; ++b) {
    const int left = blocks - b - 1;
    diagonal<<<1, block>>>(device, n, b * block);
    if (left == 0) break;
    perimeter<<<left, 2 * block>>>(device, n, b * block);
    interior<<<dim3(left, left), dim3(block, block)>>>(device, n, b * block);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(result.data(), device, n * n * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device));
  bool good = true;
  for (int r = 0; r < n; ++r) {  // L times U is the matrix again
    for (int c = 0; c < n; ++c) {
      double sum = r <= c ? result[r * n + c] : 0;
      for (int k = 0; k < r && k <= c; ++k) sum += static_cast<double>(result[r * n + k]) * result[k * n + c];
      good = good && is_close(sum, matrix[r * n + c]);
    }
  }
  return verdict("lud", good);
}
