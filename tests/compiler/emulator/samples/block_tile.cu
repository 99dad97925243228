// SPDX-License-Identifier: Apache-2.0
// A tile of two warps: its barriers and its shuffle go through the shared memory that is reserved for the system.
//   nvcc -std=c++17 -ptx -arch=compute_90 -O3 block_tile.cu -o block_tile.sm90.ptx
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void block_tile(float* y) {
  __shared__ cg::block_tile_memory<128> memory;
  extern __shared__ float kept[];
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
  const int i = threadIdx.x;
  kept[i] = y[i];
  tile.sync();
  const float other = kept[i ^ 63];
  y[i] = other + tile.shfl(kept[i], 5);
}
