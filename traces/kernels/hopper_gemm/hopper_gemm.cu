// SPDX-License-Identifier: Apache-2.0
//
// C = A B^T for halves as it is computed on Hopper: of a CTA's three warpgroups one gives its registers away and
// fetches tiles in bulk, and two, which take them, multiply tiles in shared memory, 64 x 64 results each in 32
// accumulators a thread. Barriers count the bytes of a tile, and the consumers that are done with one. hopper_gemm_pack
// puts a matrix into the order of the tiles, swizzled as the products read them, so that a tile is one copy.
#include <cuda_fp16.h>

#include "../hopper.h"

namespace {
constexpr int group = 128;    // threads
constexpr int consumers = 2;  // warpgroups
constexpr int tile = 64;      // rows of a tile, and of a consumer's part
constexpr int depth = 64;     // halves: 128 bytes
constexpr int piece = 8;
constexpr int tile_bytes = tile * depth * 2;
constexpr int stages = 3;

struct Stage {
  uint4 a[consumers][tile * depth / piece];
  uint4 b[tile * depth / piece];
};
}  // namespace

/// A thread per 16 bytes of a matrix of `rows` x `depths` (multiples of 64). Tiles of a row of tiles follow one
/// another.
extern "C" __global__ void __launch_bounds__(256)
    hopper_gemm_pack(const uint4* __restrict__ in, uint4* __restrict__ out, int rows, int depths) {
  const int per_row = depths / piece;
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= rows * per_row) return;
  const int row = at / per_row, p = at % per_row;
  const int number = row / tile * (depths / depth) + p / (depth / piece);
  out[static_cast<size_t>(number) * (tile * depth / piece) + row % tile * (depth / piece) +
      (p % (depth / piece) ^ row % 8)] = __ldg(in + at);
}

/// A: m x k, B: n x k, both packed; C: m x n. m is a multiple of 128, n and k are of 64. Dynamic shared memory: three
/// stages of 24 KB and 1 KB to align them.
extern "C" __global__ void __launch_bounds__((consumers + 1) * group, 1)
    hopper_gemm(const uint4* __restrict__ a, const uint4* __restrict__ b, __half* __restrict__ c, int m, int n, int k) {
  extern __shared__ unsigned char memory[];
  __shared__ hopper::Barrier full[stages], empty[stages];
  const unsigned begin = tensor::shared_address(memory);
  Stage* stage = reinterpret_cast<Stage*>(memory + ((begin + 1023) / 1024 * 1024 - begin));
  const int slices = k / depth;
  const int own = threadIdx.x / group;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      hopper::make_barrier(full[s], 1);
      hopper::make_barrier(empty[s], consumers * group / 32);  // an arrival of each warp
    }
    hopper::show_barriers();
  }
  __syncthreads();

  if (own == consumers) {
    hopper::fewer_registers<40>();
    if (threadIdx.x / 32 == consumers * group / 32 && hopper::is_elected()) {
      const uint4* from_a = a + static_cast<size_t>(blockIdx.y) * consumers * slices * (tile * depth / piece);
      const uint4* from_b = b + static_cast<size_t>(blockIdx.x) * slices * (tile * depth / piece);
      int now = 0;
      unsigned parity = 1;
      for (int s = 0; s < slices; ++s) {
        hopper::wait(empty[now], parity);
        hopper::arrive_expecting(full[now], (consumers + 1) * tile_bytes);
#pragma unroll
        for (int i = 0; i < consumers; ++i)
          hopper::copy_bulk(stage[now].a[i], from_a + static_cast<size_t>(i * slices + s) * (tile * depth / piece),
                            tile_bytes, full[now]);
        hopper::copy_bulk(stage[now].b, from_b + static_cast<size_t>(s) * (tile * depth / piece), tile_bytes,
                          full[now]);
        if (++now == stages) {
          now = 0;
          parity ^= 1;
        }
      }
    }
    return;
  }

  hopper::more_registers<232>();
  float sum[32];
  int now = 0;
  unsigned parity = 0;
  for (int s = 0; s < slices; ++s) {
    hopper::wait(full[now], parity);
    const unsigned long long of_a = hopper::descriptor(stage[now].a[own]), of_b = hopper::descriptor(stage[now].b);
    hopper::begin_products();
#pragma unroll
    for (int part = 0; part < depth / 16; ++part)  // 32 bytes further along the rows
      hopper::multiply_64(sum, of_a + 2 * part, of_b + 2 * part, s != 0 || part != 0);
    hopper::close_products();
    hopper::wait_products<0>();
    if (threadIdx.x % 32 == 0) hopper::arrive(empty[now]);
    if (++now == stages) {
      now = 0;
      parity ^= 1;
    }
  }

  const int lane = threadIdx.x % 32, own_warp = threadIdx.x % group / 32;
  const int row = static_cast<int>(blockIdx.y * consumers + own) * tile + own_warp * 16 + lane / 4;
#pragma unroll
  for (int j = 0; j < tile / 8; ++j) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
      *reinterpret_cast<__half2*>(c + static_cast<size_t>(row + half * 8) * n + blockIdx.x * tile + j * 8 +
                                  lane % 4 * 2) = __floats2half2_rn(sum[4 * j + 2 * half], sum[4 * j + 2 * half + 1]);
  }
}
