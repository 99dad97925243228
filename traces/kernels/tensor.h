// SPDX-License-Identifier: Apache-2.0
//
// The instructions of sm_80 and later that CUDA C++ has no names for, as functions: fragments from shared memory,
// matrix products of a warp, asynchronous copies. Kernels that use them have files of PTX for sm_80 or sm_89
// (build_ptx.sh).
#pragma once

namespace tensor {

/// Address in shared memory, as the instructions take it.
static __device__ __forceinline__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

/// Four matrices of 8 x 8 elements of 16 bits. Lanes 0-7 have the addresses of the first one's rows, 8-15 of the
/// second one's, and so on; lane l gets elements 2 * (l % 4) and 2 * (l % 4) + 1 of row l / 4 of each.
static __device__ __forceinline__ void load_matrices(unsigned (&m)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(shared_address(row))
               : "memory");
}

/// Two of them, by the addresses of lanes 0-15.
static __device__ __forceinline__ void load_matrices(unsigned (&m)[2], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(m[0]), "=r"(m[1])
               : "r"(shared_address(row))
               : "memory");
}

/// The same, each transposed: lane l gets elements l / 4 of rows 2 * (l % 4) and 2 * (l % 4) + 1.
static __device__ __forceinline__ void load_transposed(unsigned (&m)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(shared_address(row))
               : "memory");
}
static __device__ __forceinline__ void load_transposed(unsigned (&m)[2], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(m[0]), "=r"(m[1])
               : "r"(shared_address(row))
               : "memory");
}

/// c += a b for a of 16 x 16 and b of 16 x 8 halves.
static __device__ __forceinline__ void multiply_f16(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// The same for bf16.
static __device__ __forceinline__ void multiply_bf16(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// The same with halves to add to.
static __device__ __forceinline__ void multiply_f16(unsigned (&c)[2], const unsigned (&a)[4], unsigned b0,
                                                    unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
               : "+r"(c[0]), "+r"(c[1])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// c += a b for a of 16 x 32 and b of 32 x 8 bytes with sign.
static __device__ __forceinline__ void multiply_s8(int (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// The same for floats of 8 bits, 4 of exponent and 3 of mantissa (sm_89).
static __device__ __forceinline__ void multiply_e4m3(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Copies 16 bytes from global to shared memory, past the L1, until a wait. Both addresses are multiples of 16.
static __device__ __forceinline__ void copy_async(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(shared_address(to)), "l"(from) : "memory");
}

/// The same, or 16 zeros unless `there`.
static __device__ __forceinline__ void copy_async(void* to, const void* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(shared_address(to)), "l"(from), "r"(there ? 16 : 0)
               : "memory");
}

/// Copies 4 bytes, or 4 zeros unless `there`, through the L1.
static __device__ __forceinline__ void copy_async_word(void* to, const void* from, bool there) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :
               : "r"(shared_address(to)), "l"(from), "r"(there ? 4 : 0)
               : "memory");
}

/// The thread's copies since the last call are a group.
static __device__ __forceinline__ void close_group() { asm volatile("cp.async.commit_group;" : : : "memory"); }

/// All groups of the thread but the last `open` have arrived.
template <int open>
static __device__ __forceinline__ void wait_groups() {
  asm volatile("cp.async.wait_group %0;" : : "n"(open) : "memory");
}

}  // namespace tensor
