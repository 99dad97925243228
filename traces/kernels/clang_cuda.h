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

struct alignas(16) float4 {
  float x, y, z, w;
};

static __device__ __forceinline__ int min(int a, int b) { return a < b ? a : b; }
static __device__ __forceinline__ int max(int a, int b) { return a > b ? a : b; }

// f32. Where PTX has an instruction that is rounded correctly it is named; the rest comes from libdevice, CUDA's
// mathematical library in LLVM bitcode, as it does under nvcc.
extern "C" __device__ float __nv_expf(float);
extern "C" __device__ float __nv_logf(float);
static __device__ __forceinline__ float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
static __device__ __forceinline__ float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
static __device__ __forceinline__ float fabsf(float a) { return __builtin_fabsf(a); }
static __device__ __forceinline__ float fminf(float a, float b) { return __builtin_fminf(a, b); }
static __device__ __forceinline__ float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
static __device__ __forceinline__ float expf(float a) { return __nv_expf(a); }
static __device__ __forceinline__ float logf(float a) { return __nv_logf(a); }

static __device__ __forceinline__ void __syncwarp(unsigned members = 0xffffffffu) { __nvvm_bar_warp_sync(members); }

/// Bits 0-4 of the last operand are the lane beyond which nothing is taken, bits 8-12 the segment a lane belongs to.
static __device__ __forceinline__ float __shfl_down_sync(unsigned members, float value, unsigned distance,
                                                         int width = 32) {
  return __nvvm_shfl_sync_down_f32(members, value, distance, ((32 - width) << 8) | 31);
}
static __device__ __forceinline__ float __shfl_xor_sync(unsigned members, float value, int mask, int width = 32) {
  return __nvvm_shfl_sync_bfly_f32(members, value, mask, ((32 - width) << 8) | 31);
}

/// Adds and returns what was there before.
static __device__ __forceinline__ unsigned atomicAdd(unsigned* at, unsigned value) {
  return __nvvm_atom_add_gen_i(reinterpret_cast<int*>(at), static_cast<int>(value));
}
