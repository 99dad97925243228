// SPDX-License-Identifier: Apache-2.0
//
// Sum, least and largest of a vector in launches that shrink by 512 each, with shuffles inside of a warp. The operation
// is a template parameter, the element too.
#include <algorithm>
#include <utility>
#include <vector>

#include "check.h"

template <typename T>
struct Sum {
  __host__ __device__ T operator()(T a, T b) const { return a + b; }
};
template <typename T>
struct Least {
  __host__ __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T>
struct Largest {
  __host__ __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};

template <typename T, typename Operation>
__global__ void reduce(int n, T neutral, Operation operation, const T* in, T* out) {
  __shared__ T of_warp[8];
  const int i = blockIdx.x * 512 + threadIdx.x;
  T value = i < n ? in[i] : neutral;
  if (i + 256 < n) value = operation(value, in[i + 256]);
  for (int step = 16; step > 0; step /= 2) value = operation(value, __shfl_xor_sync(0xffffffffu, value, step));
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 8) return;
  value = of_warp[threadIdx.x];
  for (int step = 4; step > 0; step /= 2) value = operation(value, __shfl_xor_sync(0xffu, value, step));
  if (threadIdx.x == 0) out[blockIdx.x] = value;
}

template <typename T, typename Operation>
static T on_device(const std::vector<T>& data, T neutral, Operation operation) {
  T *from, *to;
  int n = static_cast<int>(data.size());
  CHECK(cudaMalloc(&from, n * sizeof(T)));
  CHECK(cudaMalloc(&to, (n + 511) / 512 * sizeof(T)));
  CHECK(cudaMemcpy(from, data.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  do {
    const int ctas = (n + 511) / 512;
    reduce<<<ctas, 256>>>(n, neutral, operation, from, to);
    CHECK(cudaGetLastError());
    std::swap(from, to);
    n = ctas;
  } while (n > 1);
  T result;
  CHECK(cudaMemcpy(&result, from, sizeof result, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(from));
  CHECK(cudaFree(to));
  return result;
}

template <typename T, typename Operation>
static bool agrees(const char* what, const std::vector<T>& data, T neutral, Operation operation) {
  T expected = neutral;
  for (const T& value : data) expected = operation(expected, value);
  const T result = on_device(data, neutral, operation);
  std::printf("%s: %g\n", what, static_cast<double>(result));
  return is_close(static_cast<double>(result), static_cast<double>(expected));
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 100003);
  std::vector<int> integers(n);
  std::vector<float> floats(n);
  std::vector<double> doubles(n);
  Random random(9);
  for (int i = 0; i < n; ++i) {
    integers[i] = random.below(2001) - 1000;
    floats[i] = random.uniform() - 0.25f;
    doubles[i] = random.uniform();
  }
  bool good = agrees("sum of integers", integers, 0, Sum<int>());
  good = agrees("largest integer", integers, -100000, Largest<int>()) && good;
  good = agrees("least number", floats, 1e30f, Least<float>()) && good;
  good = agrees("sum of doubles", doubles, 0.0, Sum<double>()) && good;
  return verdict("reduction", good);
}
