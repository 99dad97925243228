// SPDX-License-Identifier: Apache-2.0
//
// The instructions of sm_90a that CUDA C++ has no names for, as functions: barriers in shared memory that count bytes,
// bulk copies, products of a warpgroup of 128 threads, and the registers that its warps have.
#pragma once

#include "tensor.h"

namespace hopper {

using Barrier = unsigned long long;

static __device__ __forceinline__ void make_barrier(Barrier& barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
               :
               : "r"(tensor::shared_address(&barrier)), "r"(arrivals)
               : "memory");
}

/// Barriers that this thread made are so for asynchronous copies too.
static __device__ __forceinline__ void show_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}

static __device__ __forceinline__ void arrive(Barrier& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(tensor::shared_address(&barrier)) : "memory");
}

/// Arrives, and the phase is not over before so many bytes are there.
static __device__ __forceinline__ void arrive_expecting(Barrier& barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(tensor::shared_address(&barrier)), "r"(bytes)
               : "memory");
}

/// Until the phase of this parity is over; that before the first one has parity 1.
static __device__ __forceinline__ void wait(Barrier& barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred over;\n"
      "AGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
      "@over bra DONE;\n"
      "bra AGAIN;\n"
      "DONE:\n"
      "}"
      :
      : "r"(tensor::shared_address(&barrier)), "r"(parity)
      : "memory");
}

/// Copies bytes (a multiple of 16) that the barrier counts when they arrive.
static __device__ __forceinline__ void copy_bulk(void* to, const void* from, unsigned bytes, Barrier& barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :
               : "r"(tensor::shared_address(to)), "l"(from), "r"(bytes), "r"(tensor::shared_address(&barrier))
               : "memory");
}

/// One thread of the warp, the same one for all.
static __device__ __forceinline__ bool is_elected() {
  unsigned elected;
  asm volatile(
      "{\n"
      ".reg .pred own;\n"
      "elect.sync _|own, 0xffffffff;\n"
      "selp.u32 %0, 1, 0, own;\n"
      "}"
      : "=r"(elected));
  return elected != 0;
}

/// Registers of each thread of the warp from here on: a multiple of 8 from 24 to 256.
template <int registers>
static __device__ __forceinline__ void fewer_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(registers));
}
template <int registers>
static __device__ __forceinline__ void more_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(registers));
}

/// Of a tile whose rows have 128 bytes, swizzled: pieces of 16 bytes are exchanged by their row's number modulo 8. Rows
/// follow one another; the tile begins at a multiple of 1024 bytes.
static __device__ __forceinline__ unsigned long long descriptor(const void* tile) {
  const unsigned long long address = tensor::shared_address(tile);
  return (address & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

/// Registers and shared memory are as the program wrote them before the next products read them.
static __device__ __forceinline__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" : : : "memory"); }
static __device__ __forceinline__ void close_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}
template <int open>
static __device__ __forceinline__ void wait_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(open) : "memory");
}

/// c += a b^T of 64 x 16 and 64 x 16 halves in shared memory; c = a b^T unless `add`.
static __device__ __forceinline__ void multiply_64(float (&c)[32], unsigned long long a, unsigned long long b,
                                                   bool add) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, add, 1, 1, 0, 0;\n"
      "}"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]),
        "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]),
        "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]),
        "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31])
      : "l"(a), "l"(b), "r"(add ? 1 : 0));
}

}  // namespace hopper
