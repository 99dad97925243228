// SPDX-License-Identifier: Apache-2.0
//
// The device's part of cuda_runtime.h. CUDA's mathematical library is not needed: exp and log are the approximations of
// PTX, a few units in the last place less precise.
#pragma once

#include <__clang_cuda_builtin_vars.h>

#define REGATTA_BOTH static inline __host__ __device__
#define REGATTA_DEVICE static inline __device__

REGATTA_BOTH float2 make_float2(float x, float y) { return {x, y}; }
REGATTA_BOTH float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
REGATTA_BOTH uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }

extern "C" {
__device__ int vprintf(const char*, const char*);
__device__ int printf(const char*, ...);  // clang makes it vprintf
}

REGATTA_DEVICE int min(int a, int b) { return a < b ? a : b; }
REGATTA_DEVICE int max(int a, int b) { return a > b ? a : b; }
REGATTA_DEVICE float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
REGATTA_DEVICE float rsqrtf(float a) { return __nvvm_rsqrt_approx_f(a); }
REGATTA_DEVICE float fabsf(float a) { return __builtin_fabsf(a); }
REGATTA_DEVICE float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
REGATTA_DEVICE float expf(float a) { return __nvvm_ex2_approx_f(a * 1.4426950408f); }
REGATTA_DEVICE float logf(float a) { return __nvvm_lg2_approx_f(a) * 0.69314718056f; }
REGATTA_DEVICE int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
REGATTA_DEVICE float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
REGATTA_DEVICE int __popc(unsigned a) { return __builtin_popcount(a); }

REGATTA_DEVICE int __syncthreads_or(int predicate) { return __nvvm_bar0_or(predicate); }
REGATTA_DEVICE void __syncwarp(unsigned lanes = 0xffffffffu) { __nvvm_bar_warp_sync(lanes); }
REGATTA_DEVICE unsigned __ballot_sync(unsigned lanes, int predicate) {
  return __nvvm_vote_ballot_sync(lanes, predicate != 0);
}

REGATTA_DEVICE int atomicAdd(int* to, int value) { return __nvvm_atom_add_gen_i(to, value); }
REGATTA_DEVICE unsigned atomicAdd(unsigned* to, unsigned value) {
  return static_cast<unsigned>(__nvvm_atom_add_gen_i(reinterpret_cast<int*>(to), static_cast<int>(value)));
}
REGATTA_DEVICE unsigned long long atomicAdd(unsigned long long* to, unsigned long long value) {
  return static_cast<unsigned long long>(
      __nvvm_atom_add_gen_ll(reinterpret_cast<long long*>(to), static_cast<long long>(value)));
}
REGATTA_DEVICE int atomicMin(int* to, int value) { return __nvvm_atom_min_gen_i(to, value); }
REGATTA_DEVICE int atomicMax(int* to, int value) { return __nvvm_atom_max_gen_i(to, value); }
REGATTA_DEVICE int atomicCAS(int* to, int expected, int value) { return __nvvm_atom_cas_gen_i(to, expected, value); }

/// Shuffles of 4 or 8 bytes; Kind is a function of 4 bytes.
template <typename T, typename Kind>
REGATTA_DEVICE T shuffle_words(T value, Kind kind) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles are of 4 or 8 bytes");
  struct Words {
    int word[sizeof(T) / 4];
  };
  Words words = __builtin_bit_cast(Words, value);
  for (int& word : words.word) word = kind(word);
  return __builtin_bit_cast(T, words);
}
template <typename T>
REGATTA_DEVICE T __shfl_down_sync(unsigned lanes, T value, unsigned by, int width = 32) {
  return shuffle_words(value, [=](int w) { return __nvvm_shfl_sync_down_i32(lanes, w, by, ((32 - width) << 8) | 31); });
}
template <typename T>
REGATTA_DEVICE T __shfl_xor_sync(unsigned lanes, T value, int by, int width = 32) {
  return shuffle_words(value, [=](int w) { return __nvvm_shfl_sync_bfly_i32(lanes, w, by, ((32 - width) << 8) | 31); });
}
template <typename T>
REGATTA_DEVICE T __shfl_up_sync(unsigned lanes, T value, unsigned by, int width = 32) {
  return shuffle_words(value, [=](int w) { return __nvvm_shfl_sync_up_i32(lanes, w, by, (32 - width) << 8); });
}

typedef unsigned long long cudaTextureObject_t;
template <typename T>
REGATTA_DEVICE T tex2D(cudaTextureObject_t texture, float x, float y) {
  float a, b, c, d;
  asm("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
      : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
      : "l"(texture), "f"(x), "f"(y));
  return a;
}
template <typename T>
REGATTA_DEVICE T tex1Dfetch(cudaTextureObject_t texture, int i) {
  float a, b, c, d;
  asm("tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(texture), "r"(i));
  return a;
}
