// SPDX-License-Identifier: Apache-2.0
//
// reduction with a race: the first warp reads the sums of the others without waiting for them.

namespace {
constexpr int threads = 256;
constexpr int per_thread = 4;
constexpr int warp = 32;
constexpr int warps = threads / warp;
constexpr unsigned all_lanes = 0xffffffffu;

/// Lane 0 gets the sum over the warp.
__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int distance = warp / 2; distance > 0; distance /= 2) value += __shfl_down_sync(all_lanes, value, distance);
  return value;
}
}  // namespace

extern "C" __global__ void __launch_bounds__(threads)
    reduction(const float* __restrict__ values, float* __restrict__ sums, int count) {
  __shared__ float of_warp[warps];

  const int first = (blockIdx.x * threads + threadIdx.x) * per_thread;
  float sum = 0.0f;
  if (first + per_thread <= count) {
    const float4 four = *reinterpret_cast<const float4*>(values + first);
    sum = ((four.x + four.y) + four.z) + four.w;
  } else {
    for (int i = first; i < count; ++i) sum += values[i];
  }

  sum = warp_sum(sum);
  const int lane = threadIdx.x % warp;
  if (lane == 0) of_warp[threadIdx.x / warp] = sum;
  if (threadIdx.x < warp) {
    sum = warp_sum(lane < warps ? of_warp[lane] : 0.0f);
    if (lane == 0) sums[blockIdx.x] = sum;
  }
}
