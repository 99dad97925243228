// SPDX-License-Identifier: Apache-2.0
// 128-bit quotients and remainders, of numbers of which the low half stands first. nvcc's own sequence for them reads
// the carry of a subtraction. nvcc -ptx -arch=sm_75 -O3 wide_division.cu -o wide_division.sm75.ptx
using Half = unsigned long long;
using Whole = unsigned __int128;

extern "C" __global__ void wide_division(const Half* a, const Half* b, Half* quotients, Half* remainders) {
  const int i = 2 * threadIdx.x;
  const Whole x = Whole{a[i + 1]} << 64 | a[i];
  const Whole y = Whole{b[i + 1]} << 64 | b[i];
  const Whole q = x / y, r = x % y;
  quotients[i] = static_cast<Half>(q);
  quotients[i + 1] = static_cast<Half>(q >> 64);
  remainders[i] = static_cast<Half>(r);
  remainders[i + 1] = static_cast<Half>(r >> 64);
}
