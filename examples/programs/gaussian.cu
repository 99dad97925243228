// SPDX-License-Identifier: Apache-2.0
//
// Gaussian elimination: two launches a column; the host solves the triangle that is left.
#include <vector>

#include "check.h"

/// What is subtracted of row `column` from each row below it.
__global__ void multipliers(int n, int column, const float* m, float* factors) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x + column + 1;
  if (row < n) factors[row] = m[row * n + column] / m[column * n + column];
}

__global__ void eliminate(int n, int column, const float* factors, float* m, float* right) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + column,
            row = blockIdx.y * blockDim.y + threadIdx.y + column + 1;
  if (x >= n || row >= n) return;
  m[row * n + x] -= factors[row] * m[column * n + x];
  if (x == column) right[row] -= factors[row] * right[column];
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 48);
  std::vector<float> matrix(n * n), solution(n), right(n, 0.0f);
  Random random(14);
  for (float& f : matrix) f = random.uniform() - 0.5f;
  for (float& f : solution) f = random.uniform() * 4 - 2;
  for (int r = 0; r < n; ++r) {
    matrix[r * n + r] += static_cast<float>(n) / 2;
    for (int c = 0; c < n; ++c) right[r] += matrix[r * n + c] * solution[c];
  }
  float *device_matrix, *device_right, *factors;
  const std::size_t row = n * sizeof(float);
  CHECK(cudaMalloc(&device_matrix, n * row));
  CHECK(cudaMalloc(&device_right, row));
  CHECK(cudaMalloc(&factors, row));
  CHECK(cudaMemcpy(device_matrix, matrix.data(), n * row, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device_right, right.data(), row, cudaMemcpyHostToDevice));
  const dim3 block(8, 8);
  for (int column = 0; column < n - 1; ++column) {
    const int left = n - column;
    multipliers<<<(left + 63) / 64, 64>>>(n, column, device_matrix, factors);
    eliminate<<<dim3((left + 7) / 8, (left + 7) / 8), block>>>(n, column, factors, device_matrix, device_right);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(matrix.data(), device_matrix, n * row, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(right.data(), device_right, row, cudaMemcpyDeviceToHost));
  bool good = true;
  for (int r = n - 1; r >= 0; --r) {  // back substitution; `right` becomes the solution
    double sum = right[r];
    for (int c = r + 1; c < n; ++c) sum -= static_cast<double>(matrix[r * n + c]) * right[c];
    right[r] = static_cast<float>(sum / matrix[r * n + r]);
    good = good && is_close(right[r], solution[r], 1e-3);
  }
  CHECK(cudaFree(device_matrix));
  CHECK(cudaFree(device_right));
  CHECK(cudaFree(factors));
  return verdict("gaussian", good);
}
