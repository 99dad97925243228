// SPDX-License-Identifier: Apache-2.0
//
// Jacobi iteration for a tridiagonal system in a single cooperative launch: all CTAs are resident and meet at
// grid.sync() in every step, until the largest change is small.
#include <cooperative_groups.h>

#include <vector>

#include "check.h"

namespace cg = cooperative_groups;

/// 4 x[i] - x[i-1] - x[i+1] = right[i]. `change` has three words in turn, so that one may be cleared while another is
/// read.
__global__ void solve(int n, float tolerance, int most, const float* right, float* x, float* next, int* change,
                      int* steps) {
  const cg::grid_group grid = cg::this_grid();
  const int thread = static_cast<int>(grid.thread_rank()), threads = static_cast<int>(grid.size());
  int step = 0;
  for (; step < most; ++step) {
    float largest = 0;
    for (int i = thread; i < n; i += threads) {
      const float left = i > 0 ? x[i - 1] : 0, after = i + 1 < n ? x[i + 1] : 0;
      next[i] = 0.25f * (right[i] + left + after);
      largest = fmaxf(largest, fabsf(next[i] - x[i]));
    }
    atomicMax(&change[step % 3], __float_as_int(largest));
    if (thread == 0) change[(step + 1) % 3] = 0;
    grid.sync();
    if (__int_as_float(*static_cast<volatile int*>(&change[step % 3])) <= tolerance) break;
    float* other = x;
    x = next;
    next = other;
  }
  if (thread == 0) *steps = step;
}

int main(int argc, char** argv) {
  int n = size_argument(argc, argv, 3000), most = 100, supported = 0, sms = 0, resident = 0, threads = 128;
  CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, solve, threads, 0));
  if (supported == 0) {
    std::printf("this device has no cooperative launches\n");
    return verdict("grid_sync", true);
  }
  std::vector<float> right(n), solution(n), result(2 * n, 0.0f);
  Random random(20);
  for (float& f : solution) f = random.uniform();
  for (int i = 0; i < n; ++i) {
    right[i] = 4 * solution[i] - (i > 0 ? solution[i - 1] : 0) - (i + 1 < n ? solution[i + 1] : 0);
  }
  float *device_right, *x, tolerance = 1e-5f;
  int *change, *device_steps, steps = 0;
  CHECK(cudaMalloc(&device_right, n * sizeof(float)));
  CHECK(cudaMalloc(&x, 2 * n * sizeof(float)));
  CHECK(cudaMalloc(&change, 3 * sizeof(int)));
  CHECK(cudaMalloc(&device_steps, sizeof(int)));
  CHECK(cudaMemcpy(device_right, right.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(x, 0, 2 * n * sizeof(float)));
  CHECK(cudaMemset(change, 0, 3 * sizeof(int)));
  float* next = x + n;
  const int fit = sms * resident, ctas = fit < 8 ? fit : 8;
  void* arguments[] = {&n, &tolerance, &most, &device_right, &x, &next, &change, &device_steps};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(solve), dim3(ctas), dim3(threads), arguments, 0, nullptr));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(&steps, device_steps, sizeof steps, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(result.data(), x, 2 * n * sizeof(float), cudaMemcpyDeviceToHost));
  std::printf("%d CTAs, %d steps\n", ctas, steps);
  bool good = steps > 3 && steps < most;
  for (int i = 0; i < 2 * n; ++i) good = good && std::fabs(result[i] - solution[i % n]) < 1e-4f;
  CHECK(cudaFree(device_right));
  CHECK(cudaFree(x));
  CHECK(cudaFree(change));
  CHECK(cudaFree(device_steps));
  return verdict("grid_sync", good);
}
