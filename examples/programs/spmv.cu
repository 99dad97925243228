// SPDX-License-Identifier: Apache-2.0
//
// Sparse matrix times vector, a warp of 8 lanes a row. The matrix is a structure in device memory that holds pointers
// to device memory; the vectors come as a structure by value. The power method runs it until its eigenvalue settles.
#include <vector>

#include "check.h"

struct Matrix {  // compressed rows
  int rows;
  const int* begin;
  const int* columns;
  const float* values;
};

struct Vectors {
  const float* in;
  float* out;
  float scale;
};

__global__ void multiply(const Matrix* matrix, Vectors v) {
  const int lane = threadIdx.x % 8, row = (blockIdx.x * blockDim.x + threadIdx.x) / 8;
  float sum = 0;
  if (row < matrix->rows) {
    for (int i = matrix->begin[row] + lane; i < matrix->begin[row + 1]; i += 8) {
      sum += matrix->values[i] * v.in[matrix->columns[i]];
    }
  }
  for (int step = 4; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step, 8);
  if (lane == 0 && row < matrix->rows) v.out[row] = sum * v.scale;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 4000), threads = 256;
  std::vector<int> begin{0}, columns;
  std::vector<float> values;
  Random random(6);
  for (int r = 0; r < n; ++r) {
    const int entries = random.below(24);
    columns.push_back(r);
    values.push_back(4.0f + random.uniform());
    for (int e = 0; e < entries; ++e) {
      columns.push_back(random.below(n));
      values.push_back(random.uniform());
    }
    begin.push_back(static_cast<int>(columns.size()));
  }

  int *device_begin, *device_columns;
  float *device_values, *x, *y;
  Matrix* device_matrix;
  CHECK(cudaMalloc(&device_begin, begin.size() * sizeof(int)));
  CHECK(cudaMalloc(&device_columns, columns.size() * sizeof(int)));
  CHECK(cudaMalloc(&device_values, values.size() * sizeof(float)));
  CHECK(cudaMalloc(&x, n * sizeof(float)));
  CHECK(cudaMalloc(&y, n * sizeof(float)));
  CHECK(cudaMalloc(&device_matrix, sizeof(Matrix)));
  CHECK(cudaMemcpy(device_begin, begin.data(), begin.size() * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device_columns, columns.data(), columns.size() * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device_values, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
  const Matrix matrix{n, device_begin, device_columns, device_values};
  CHECK(cudaMemcpy(device_matrix, &matrix, sizeof matrix, cudaMemcpyHostToDevice));

  std::vector<float> vector(n, 1.0f), expected(n, 1.0f), next(n);
  CHECK(cudaMemcpy(x, vector.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  double eigenvalue = 0, before = -1;
  float scale = 1;
  int rounds = 0;
  for (; std::fabs(eigenvalue - before) > 1e-7 * eigenvalue && rounds < 8; ++rounds) {
    multiply<<<(n * 8 + threads - 1) / threads, threads>>>(device_matrix, Vectors{x, y, scale});
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(vector.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int r = 0; r < n; ++r) {
      double sum = 0;
      for (int i = begin[r]; i < begin[r + 1]; ++i) sum += values[i] * expected[columns[i]];
      next[r] = static_cast<float>(sum * scale);
    }
    expected.swap(next);
    double length = 0;
    for (const float f : vector) length += static_cast<double>(f) * f;
    before = eigenvalue;
    eigenvalue = std::sqrt(length / n);
    scale = static_cast<float>(1 / eigenvalue);
    CHECK(cudaMemcpy(x, y, n * sizeof(float), cudaMemcpyDeviceToDevice));
  }
  std::printf("%d products\n", rounds);
  bool good = rounds > 2;
  for (int i = 0; i < n; ++i) good = good && is_close(vector[i], expected[i], 1e-3);
  for (void* p :
       {static_cast<void*>(device_begin), static_cast<void*>(device_columns), static_cast<void*>(device_values),
        static_cast<void*>(x), static_cast<void*>(y), static_cast<void*>(device_matrix)}) {
    CHECK(cudaFree(p));
  }
  return verdict("spmv", good);
}
