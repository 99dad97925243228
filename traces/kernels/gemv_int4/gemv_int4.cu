// SPDX-License-Identifier: Apache-2.0
//
// y = W x for weights of 4 bits, as language models are served at batch one: groups of 128 weights along a row share a
// scale (a half) and a zero point (4 bits). The conversion is that of AWQ and Marlin: a nibble in the mantissa of a
// half of 1024 is 1024 plus its value, so one lop3 makes two halves. The nibbles of a word are stored interleaved for
// it: element e is nibble e / 2 + 4 * (e % 2).
#include <cuda_fp16.h>

#include "../warp.h"

namespace {
constexpr int threads = 128;
constexpr int warps = threads / warp::lanes;
constexpr int rows_of_warp = 2;
constexpr int group = 128;
constexpr int most_columns = 4096;

__device__ __forceinline__ __half2 as_halves(unsigned bits) { return *reinterpret_cast<__half2*>(&bits); }

/// (word & mask) | magic
__device__ __forceinline__ unsigned in_mantissa(unsigned word, unsigned mask) {
  unsigned result;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(result) : "r"(word), "r"(mask), "n"(0x64006400));
  return result;
}

/// Sixteen bytes that no one reads again.
__device__ __forceinline__ uint4 load_once(const uint4* at) {
  uint4 word;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
               : "l"(at));
  return word;
}

/// The sum of eight products, in halves.
__device__ __forceinline__ __half2 products(unsigned word, const __half2* x, __half2 zero, __half2 zero_16) {
  const __half2 one = __float2half2_rn(1.0f), sixteenth = __float2half2_rn(0.0625f);
  const unsigned upper = word >> 8;
  // 1024 + q less 1024 + z; 1024 + 16 q, by 16, less 64 + z: both exact.
  __half2 sum = __hmul2_rn(__hfma2(as_halves(in_mantissa(word, 0x000f000f)), one, zero), x[0]);
  sum = __hfma2(__hfma2(as_halves(in_mantissa(word, 0x00f000f0)), sixteenth, zero_16), x[1], sum);
  sum = __hfma2(__hfma2(as_halves(in_mantissa(upper, 0x000f000f)), one, zero), x[2], sum);
  return __hfma2(__hfma2(as_halves(in_mantissa(upper, 0x00f000f0)), sixteenth, zero_16), x[3], sum);
}
}  // namespace

/// Packs weights that are there as bytes, of which the low four bits count: eight of a row into a word.
extern "C" __global__ void gemv_int4_pack(const unsigned char* __restrict__ bytes, unsigned* __restrict__ words,
                                          int count) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= count) return;
  const uint2 eight = __ldg(reinterpret_cast<const uint2*>(bytes) + at);
  // prmt takes the even bytes to the lower half and the odd ones to the upper half, then nibbles close up.
  const unsigned even = __byte_perm(eight.x, eight.y, 0x6420) & 0x0f0f0f0fu;
  const unsigned odd = __byte_perm(eight.x, eight.y, 0x7531) & 0x0f0f0f0fu;
  const unsigned low = __byte_perm(even | even >> 4, 0, 0x4420), high = __byte_perm(odd | odd >> 4, 0, 0x4420);
  words[at] = low | high << 16;
}

/// W has `rows` rows of `columns` weights (a multiple of 1024, at most 4096). Zero points: eight groups in a word, in
/// order. A warp computes two rows.
extern "C" __global__ void __launch_bounds__(threads)
    gemv_int4(const unsigned* __restrict__ weights, const __half* __restrict__ scales,
              const unsigned* __restrict__ zeros, const __half* __restrict__ x, __half* __restrict__ y, int rows,
              int columns) {
  __shared__ __align__(16) __half2 kept[most_columns / 2];
  for (int at = threadIdx.x; at < columns / 8; at += threads)
    reinterpret_cast<uint4*>(kept)[at] = __ldg(reinterpret_cast<const uint4*>(x) + at);
  __syncthreads();

  const int lane = threadIdx.x % warp::lanes;
  const int first = (blockIdx.x * warps + threadIdx.x / warp::lanes) * rows_of_warp;
  const int groups = columns / group;
  for (int row = first; row < first + rows_of_warp && row < rows; ++row) {
    const uint4* of_row = reinterpret_cast<const uint4*>(weights + static_cast<size_t>(row) * (columns / 8));
    float sum = 0.0f;
    for (int at = lane; at * 32 < columns; at += warp::lanes) {
      const uint4 four = load_once(of_row + at);
      const int number = at * 32 / group;
      const float scale = __half2float(__ldg(scales + row * groups + number));
      const int nibble = __ldg(zeros + (row * groups + number) / 8) >> 4 * (number % 8) & 15;
      const __half2 zero = __half2half2(__int2half_rn(-1024 - nibble));
      const __half2 zero_16 = __half2half2(__int2half_rn(-64 - nibble));
      const uint4* factors = reinterpret_cast<const uint4*>(kept) + at * 4;
      const unsigned word[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const uint4 eight = factors[i];
        const float2 two = __half22float2(products(word[i], reinterpret_cast<const __half2*>(&eight), zero, zero_16));
        sum = fmaf(scale, two.x + two.y, sum);
      }
    }
    sum = warp::sum(sum);
    if (lane == 0) y[row] = __float2half_rn(sum);
  }
}
