// SPDX-License-Identifier: Apache-2.0
//
// A producer warp group that copies tiles to shared memory, and two consumer warp groups that keep a column of sums each.
// setmaxnreg gives the producer's registers to the consumers.
constexpr int sums = 96, tile = 256;

extern "C" __global__ __launch_bounds__(384, 1) void roles(float* out, const float* in, int tiles) {
  __shared__ float s[2][tile];
  const int group = threadIdx.x / 128, lane = threadIdx.x % 128;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    for (int i = 0; i < tiles; ++i) {
      for (int n = lane; n < tile; n += 128) s[i % 2][n] = in[(blockIdx.x * tiles + i) * tile + n];
      asm volatile("bar.sync 1, 384;" ::: "memory");
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    float acc[sums];
#pragma unroll
    for (int j = 0; j < sums; ++j) acc[j] = 0;
    for (int i = 0; i < tiles; ++i) {
      asm volatile("bar.sync 1, 384;" ::: "memory");
      const float x = s[i % 2][threadIdx.x - 128];
#pragma unroll
      for (int j = 0; j < sums; ++j) acc[j] += x * s[i % 2][(lane + j) % tile];
    }
    float* const column = out + (blockIdx.x * 256 + threadIdx.x - 128) * sums;
#pragma unroll
    for (int j = 0; j < sums; ++j) column[j] = acc[j];
  }
}
