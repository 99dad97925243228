// SPDX-License-Identifier: Apache-2.0
// Threads that return from within a divergent branch or loop, while the others of their warp go on together.
//   nvcc -ptx -arch=sm_75 -O3 early_return.cu -o early_return.sm75.ptx
//   clang++-14 -x cuda --cuda-device-only --cuda-gpu-arch=sm_35 -nocudainc -nocudalib -O3 -S early_return.cu -o early_return.sm35.ptx
#ifdef __clang__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#include <__clang_cuda_builtin_vars.h>
#endif

// A return inside an if, with a barrier behind it.
extern "C" __global__ void in_branch(const int* in, int* out, int n) {
  __shared__ int tile[64];
  int t = threadIdx.x, v = in[t];
  tile[t] = -1;
  if (t < n) {
    if (v < 0) return;
    out[64 + t] = 1000 / (v + 1);
  }
  tile[t] = v;
  __syncthreads();
  out[t] = tile[63 - t];
}
// A return inside a loop of divergent length, with a barrier behind it; those that leave store something first.
extern "C" __global__ void in_loop(const int* in, int* out, int n) {
  __shared__ int tile[64];
  int t = threadIdx.x, v = in[t];
  tile[t] = -1;
  for (int i = 0; i < v; ++i) {
    if (in[(t + i) & 63] == n) {
      out[64 + t] = i;
      return;
    }
    v -= in[(i + t) & 63] & 1;
  }
  tile[t] = v;
  __syncthreads();
  out[t] = tile[63 - t];
}
// One error exit for several checks, in a function and in a loop.
__device__ inline bool step(const int* in, int t, int i, int* v) {
  if (in[(t * 3 + i) & 63] == 1000) return false;
  if (*v > (t & 7)) {
    if (in[(t + i * 5) & 63] == 2000) return false;
    *v = *v * 2 - in[i & 63];
  }
  return *v < 100000;
}
extern "C" __global__ void error_exit(const int* in, int* out, int n) {
  __shared__ int tile[64];
  int t = threadIdx.x, v = in[t];
  tile[t] = 0;
  if (in[63 - t] == 3000) goto error;
  for (int i = 0; i < (t & 15) + n; ++i)
    if (!step(in, t, i, &v)) goto error;
  if (v == 7) goto error;
  tile[t] = v;
  __syncthreads();
  out[t] = tile[t ^ 1];
  return;
error:
  out[t] = -v;
  out[64 + t] = t;
}
// A loop over the grid, whose lanes skip an inner loop or return.
extern "C" __global__ void strided(const int* in, int* out, int n) {
  int stride = blockDim.x * gridDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    int v = in[i & 63], sum = 0;
    if (v == 4000) return;
    for (int k = 0; k < (v & 7); ++k) {
      if (in[(i + k) & 63] == 5000) return;
      sum += in[(i ^ k) & 63];
    }
    out[i] = sum;
  }
}
// A search: found, lost and tired lanes leave in different ways.
extern "C" __global__ void search(const int* in, int* out, int n) {
  int t = threadIdx.x, at = 0;
  int key = in[t];
  for (int i = 0; i < n; ++i) {
    int here = in[at & 63];
    if (here == key) {
      out[t] = at;
      return;
    }
    if (key < here) {
      if (in[(2 * at + 2) & 63] < 0) {
        out[t] = -2;
        return;
      }
      at = 2 * at + 1;
    } else {
      at = 2 * at + 2;
    }
    at &= 511;
  }
  out[t] = -1;
}
