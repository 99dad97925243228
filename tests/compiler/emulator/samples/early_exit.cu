// SPDX-License-Identifier: Apache-2.0
// Threads that leave a kernel before barriers that others of their warp come to.
//   nvcc -ptx -arch=sm_75 -O3 early_exit.cu -o early_exit.sm75.ptx
//   clang++-14 -x cuda --cuda-device-only --cuda-gpu-arch=sm_35 -nocudainc -nocudalib -O3 -S early_exit.cu -o early_exit.sm35.ptx
#ifdef __clang__
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#include <__clang_cuda_builtin_vars.h>
#define __syncthreads_count(p) __nvvm_bar0_popc(p)
#endif

// What most kernels begin with: threads beyond n leave before the barriers.
extern "C" __global__ void early_exit(int n, const float* x, float* y) {
  __shared__ float tile[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  tile[threadIdx.x] = x[i];
  __syncthreads();
  float sum = tile[threadIdx.x];
  if (i + 1 < n && threadIdx.x + 1 < blockDim.x) sum += tile[threadIdx.x + 1];
  __syncthreads();
  tile[threadIdx.x] = sum;
  __syncthreads();
  y[i] = sum + tile[0];
}
// Those that leave have work of their own, with a loop and a store.
extern "C" __global__ void tail_work(int n, const float* x, float* y, int* left) {
  __shared__ float tile[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    int steps = 0;
    for (int k = i; k != 1 && steps < 64; k = (k & 1) ? 3 * k + 1 : k / 2) ++steps;
    left[i] = steps;
    return;
  }
  tile[threadIdx.x] = x[i];
  int some = __syncthreads_count(x[i] > 0.5f);
  y[i] = tile[0] + some;
}
// Lanes leave a loop of barriers one after the other.
extern "C" __global__ void leave_loop(const int* turns, int* y) {
  __shared__ int total;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  int n = turns[i];
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    if (threadIdx.x == blockDim.x - 1) total = total + 1;
    __syncthreads();
  }
  y[i] = n;
}
// Threads that skip the first barrier come to the second.
extern "C" __global__ void real_divergence(int n, int* y) {
  __shared__ int tile[128];
  int i = threadIdx.x;
  if (i < n) {
    tile[i] = i;
    __syncthreads();
    y[i] = tile[(i + 1) % n];
  }
  __syncthreads();
  if (i >= n) y[i] = tile[0];
}
