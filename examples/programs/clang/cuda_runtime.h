// SPDX-License-Identifier: Apache-2.0
//
// What the programs here use of CUDA's header of this name, for clang without CUDA (clang 14 cannot read CUDA 13's
// headers): build.sh puts this folder in front. Layouts and numbers are those of CUDA 13.
#pragma once

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))

#include <cmath>
#include <cstddef>
#include <cstdio>

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};

#include "device.h"
#include "host.h"
