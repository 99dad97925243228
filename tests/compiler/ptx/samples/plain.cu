// SPDX-License-Identifier: Apache-2.0
// Source of plain.*.ptx, without CUDA headers. clang++ -x cuda --cuda-device-only -S -nocudainc -nocudalib plain.cu
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __syncthreads() asm volatile("bar.sync 0;" ::: "memory")
#define TX __nvvm_read_ptx_sreg_tid_x()
#define BX __nvvm_read_ptx_sreg_ctaid_x()
struct S {
  int a;
  float b;
  double c;
  char d[20];
};
__constant__ float filt[64];
__device__ int tab[4] = {1, 2, 3, 4};
__device__ int* ptab;
__device__ __attribute__((noinline)) int helper(S s, int b) { return s.a * b + s.d[b & 15]; }
__device__ __attribute__((noinline)) float fh(float a, double b, char c) {
  if (a > 3) return (float)b;
  return a * b + c;
}
extern "C" __global__ void mm(const float* a, const float* b, float* c, int n) {
  __shared__ float As[256], Bs[256];
  int tx = TX & 15, ty = TX >> 4;
  float s = 0;
  for (int t = 0; t < n; t += 16) {
    As[TX] = a[ty * n + tx + t];
    Bs[TX] = b[(t + ty) * n + tx];
    __syncthreads();
    for (int k = 0; k < 16; k++) s += As[ty * 16 + k] * Bs[k * 16 + tx];
    __syncthreads();
  }
  c[ty * n + tx] = s + filt[tx];
}
extern "C" __global__ void cl(int* a, S s, float* f, double* d, char* c) {
  S t = s;
  t.a += a[1];
  t.d[a[0] & 15] = 4;
  a[TX] = helper(t, a[2]) + ptab[a[3] & 1];
  f[TX] = fh(f[1], d[2], c[3]) + (float)(unsigned char)c[4];
  d[3] = (double)(long long)a[5] / d[5];
}
extern "C" __global__ void sw(int* a, int n) {
  int l[16];
  for (int i = 0; i < 16; i++) l[i] = a[i];
  switch (a[TX]) {
    case 0:
      a[1] = 3;
      break;
    case 1:
      a[2] = l[n & 15];
      break;
    case 2:
      a[5] = 6;
      break;
    case 3:
      a[8] = n / 7;
      break;
    case 4:
      a[9] = n % 3;
    default:
      a[7] = 1;
  }
  short q = (short)a[8];
  a[10] = q * (short)n;
  long long L = a[1];
  L *= n;
  a[11] = (int)(L >> 7);
  a[12] = __builtin_popcount(n) + __builtin_clz(n) + __builtin_abs(n);
}
