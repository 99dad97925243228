// SPDX-License-Identifier: Apache-2.0
//
// The part of CUDA C++ that the kernels of this folder use, for clang without CUDA's headers (build_ptx.sh includes it
// by force; clang 14 cannot read CUDA 13's). nvcc brings its own of all this.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

#include <__clang_cuda_builtin_vars.h>

struct alignas(8) float2 {
  float x, y;
};
struct float3 {
  float x, y, z;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(4) uchar4 {
  unsigned char x, y, z, w;
};

static __device__ __forceinline__ float2 make_float2(float x, float y) { return {x, y}; }
static __device__ __forceinline__ float3 make_float3(float x, float y, float z) { return {x, y, z}; }
static __device__ __forceinline__ float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static __device__ __forceinline__ int2 make_int2(int x, int y) { return {x, y}; }
static __device__ __forceinline__ uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }

static __device__ __forceinline__ int min(int a, int b) { return a < b ? a : b; }
static __device__ __forceinline__ int max(int a, int b) { return a > b ? a : b; }
static __device__ __forceinline__ unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
static __device__ __forceinline__ unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
static __device__ __forceinline__ int abs(int a) { return a < 0 ? -a : a; }
static __device__ __forceinline__ int __popc(unsigned a) { return __builtin_popcount(a); }
static __device__ __forceinline__ int __clz(int a) { return a == 0 ? 32 : __builtin_clz(static_cast<unsigned>(a)); }
static __device__ __forceinline__ int __ffs(int a) { return __builtin_ffs(a); }
static __device__ __forceinline__ unsigned __brev(unsigned a) { return __builtin_bitreverse32(a); }
static __device__ __forceinline__ unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}

// f32. Where PTX has an instruction that is rounded correctly it is named; the rest comes from libdevice, CUDA's
// mathematical library in LLVM bitcode, as it does under nvcc.
extern "C" __device__ float __nv_expf(float);
extern "C" __device__ float __nv_logf(float);
extern "C" __device__ double __nv_exp(double);
extern "C" __device__ float __nv_exp2f(float);
extern "C" __device__ float __nv_log2f(float);
extern "C" __device__ float __nv_powf(float, float);
extern "C" __device__ float __nv_sinf(float);
extern "C" __device__ float __nv_cosf(float);
extern "C" __device__ float __nv_atanf(float);
extern "C" __device__ float __nv_atan2f(float, float);
extern "C" __device__ float __nv_acosf(float);
extern "C" __device__ float __nv_tanhf(float);
extern "C" __device__ float __nv_erfcf(float);
extern "C" __device__ float __nv_rsqrtf(float);
extern "C" __device__ float __nv_fmodf(float, float);
static __device__ __forceinline__ float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
static __device__ __forceinline__ double fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
static __device__ __forceinline__ double exp(double a) { return __nv_exp(a); }
static __device__ __forceinline__ float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
static __device__ __forceinline__ float fabsf(float a) { return __builtin_fabsf(a); }
static __device__ __forceinline__ float fminf(float a, float b) { return __builtin_fminf(a, b); }
static __device__ __forceinline__ float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
static __device__ __forceinline__ float expf(float a) { return __nv_expf(a); }
static __device__ __forceinline__ float logf(float a) { return __nv_logf(a); }
static __device__ __forceinline__ float exp2f(float a) { return __nv_exp2f(a); }
static __device__ __forceinline__ float log2f(float a) { return __nv_log2f(a); }
static __device__ __forceinline__ float powf(float a, float b) { return __nv_powf(a, b); }
static __device__ __forceinline__ float sinf(float a) { return __nv_sinf(a); }
static __device__ __forceinline__ float cosf(float a) { return __nv_cosf(a); }
// The approximations have few digits; nvcc's code for __expf has this constant.
static __device__ __forceinline__ float __sinf(float a) { return __nvvm_sin_approx_f(a); }
static __device__ __forceinline__ float __cosf(float a) { return __nvvm_cos_approx_f(a); }
static __device__ __forceinline__ float __expf(float a) { return __nvvm_ex2_approx_f(a * 1.4426950216f); }
static __device__ __forceinline__ float atanf(float a) { return __nv_atanf(a); }
static __device__ __forceinline__ float atan2f(float a, float b) { return __nv_atan2f(a, b); }
static __device__ __forceinline__ float acosf(float a) { return __nv_acosf(a); }
static __device__ __forceinline__ float tanhf(float a) { return __nv_tanhf(a); }
static __device__ __forceinline__ float erfcf(float a) { return __nv_erfcf(a); }
static __device__ __forceinline__ float rsqrtf(float a) { return __nv_rsqrtf(a); }
static __device__ __forceinline__ float fmodf(float a, float b) { return __nv_fmodf(a, b); }
static __device__ __forceinline__ float floorf(float a) { return __builtin_floorf(a); }
static __device__ __forceinline__ float ceilf(float a) { return __builtin_ceilf(a); }
static __device__ __forceinline__ float truncf(float a) { return __builtin_truncf(a); }
static __device__ __forceinline__ float rintf(float a) { return __builtin_rintf(a); }

static __device__ __forceinline__ float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
static __device__ __forceinline__ int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
static __device__ __forceinline__ float __uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }
static __device__ __forceinline__ unsigned __float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }

static __device__ __forceinline__ int __syncthreads_or(int predicate) { return __nvvm_bar0_or(predicate); }
static __device__ __forceinline__ int __syncthreads_and(int predicate) { return __nvvm_bar0_and(predicate); }
static __device__ __forceinline__ int __syncthreads_count(int predicate) { return __nvvm_bar0_popc(predicate); }
static __device__ __forceinline__ void __threadfence() { __nvvm_membar_gl(); }
static __device__ __forceinline__ void __threadfence_block() { __nvvm_membar_cta(); }
static __device__ __forceinline__ unsigned __ballot_sync(unsigned members, int predicate) {
  return __nvvm_vote_ballot_sync(members, predicate != 0);
}
static __device__ __forceinline__ int __any_sync(unsigned members, int predicate) {
  return __nvvm_vote_any_sync(members, predicate != 0);
}
static __device__ __forceinline__ int __all_sync(unsigned members, int predicate) {
  return __nvvm_vote_all_sync(members, predicate != 0);
}

static __device__ __forceinline__ void __syncwarp(unsigned members = 0xffffffffu) { __nvvm_bar_warp_sync(members); }

/// Bits 0-4 of the last operand are the lane beyond which nothing is taken, bits 8-12 the segment a lane belongs to.
static __device__ __forceinline__ float __shfl_down_sync(unsigned members, float value, unsigned distance,
                                                         int width = 32) {
  return __nvvm_shfl_sync_down_f32(members, value, distance, ((32 - width) << 8) | 31);
}
static __device__ __forceinline__ float __shfl_xor_sync(unsigned members, float value, int mask, int width = 32) {
  return __nvvm_shfl_sync_bfly_f32(members, value, mask, ((32 - width) << 8) | 31);
}
static __device__ __forceinline__ int __shfl_sync(unsigned members, int value, int lane, int width = 32) {
  return __nvvm_shfl_sync_idx_i32(members, value, lane, ((32 - width) << 8) | 31);
}
static __device__ __forceinline__ int __shfl_up_sync(unsigned members, int value, unsigned distance, int width = 32) {
  return __nvvm_shfl_sync_up_i32(members, value, distance, (32 - width) << 8);
}

/// Atomics return what was there before.
static __device__ __forceinline__ unsigned atomicAdd(unsigned* at, unsigned value) {
  return __nvvm_atom_add_gen_i(reinterpret_cast<int*>(at), static_cast<int>(value));
}
static __device__ __forceinline__ int atomicAdd(int* at, int value) { return __nvvm_atom_add_gen_i(at, value); }
static __device__ __forceinline__ float atomicAdd(float* at, float value) { return __nvvm_atom_add_gen_f(at, value); }
static __device__ __forceinline__ int atomicMin(int* at, int value) { return __nvvm_atom_min_gen_i(at, value); }
static __device__ __forceinline__ int atomicMax(int* at, int value) { return __nvvm_atom_max_gen_i(at, value); }
static __device__ __forceinline__ int atomicExch(int* at, int value) { return __nvvm_atom_xchg_gen_i(at, value); }
static __device__ __forceinline__ int atomicCAS(int* at, int compare, int value) {
  return __nvvm_atom_cas_gen_i(at, compare, value);
}
