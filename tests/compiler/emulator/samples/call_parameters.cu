// SPDX-License-Identifier: Apache-2.0
// Functions that read a scalar parameter in parts, and structures of small members.
//   nvcc -ptx -arch=sm_75 -O3 call_parameters.cu -o call_parameters.sm75.ptx
struct Small {
  double a;
  int b;
  short c;
  signed char d;
};
__device__ __noinline__ int product(int v) {
  const short2 s = *reinterpret_cast<short2*>(&v);
  return s.x * s.y;
}
__device__ __noinline__ double neighbour(double v) { return __shfl_xor_sync(0xffffffffu, v, 1); }
__device__ __noinline__ Small next(Small s) {
  s.a += s.b;
  s.c++;
  return s;
}
extern "C" __global__ void call_parameters(int* whole, double* numbers, Small* small) {
  const int i = threadIdx.x;
  whole[i] = product(whole[i]);
  numbers[i] += neighbour(numbers[i]);
  small[i] = next(small[i]);
}
