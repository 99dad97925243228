// SPDX-License-Identifier: Apache-2.0
//
// Exclusive prefix sums in one pass over the data, with decoupled look-back: a CTA takes the next tile, scans it by
// shuffles, publishes its sum, and looks back over the tiles before it, a warp's width at a time, until one of them
// has published the sum up to its end. States have a flag and a value in 64 bits, so that both arrive together.
#include "../warp.h"

namespace {
constexpr int threads = 128;
constexpr int warps = threads / warp::lanes;
constexpr int per_thread = 16;
constexpr int tile = threads * per_thread;

constexpr unsigned long long flag = 1ull << 32;
constexpr unsigned long long sum_known = 1 * flag, prefix_known = 2 * flag;  // else nothing

__device__ __forceinline__ void publish(unsigned long long* state, unsigned long long value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(state), "l"(value) : "memory");
}

__device__ __forceinline__ unsigned long long seen(const unsigned long long* state) {
  unsigned long long value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(state) : "memory");
  return value;
}

/// The sums over the warp's lanes up to this one.
__device__ __forceinline__ unsigned scan_of_warp(unsigned value) {
  const int lane = threadIdx.x % warp::lanes;
#pragma unroll
  for (int distance = 1; distance < warp::lanes; distance *= 2) {
    const unsigned other = __shfl_up_sync(warp::all_lanes, value, distance);
    if (lane >= distance) value += other;
  }
  return value;
}

/// The sum of all tiles before `number`, for every lane of the warp that calls.
__device__ __forceinline__ unsigned look_back(const unsigned long long* states, int number) {
  const int lane = threadIdx.x % warp::lanes;
  unsigned sum = 0;
  for (int last = number - 1;; last -= warp::lanes) {
    unsigned long long state = prefix_known;  // before the first tile
    if (last - lane >= 0) {
      do {
        state = seen(states + last - lane);
      } while (state < flag);
    }
    const unsigned known = __ballot_sync(warp::all_lanes, state >= prefix_known);
    // Lanes up to the nearest tile whose prefix is known count.
    const int nearest = known == 0 ? warp::lanes : __ffs(static_cast<int>(known)) - 1;
    sum += __reduce_add_sync(warp::all_lanes, lane <= nearest ? static_cast<unsigned>(state) : 0u);
    if (known != 0) return sum;
  }
}
}  // namespace

/// `states`: a word of 64 bits for each tile of 2048 elements, zero at first; `next`: zero at first. `count`: a
/// multiple of 4.
extern "C" __global__ void __launch_bounds__(threads)
    scan_lookback(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned long long* states, int* next,
                  int count) {
  __shared__ __align__(16) unsigned values[tile];
  __shared__ unsigned of_warp[warps];
  __shared__ unsigned before_tile;
  __shared__ int taken;
  // Tiles are taken in order, so those before this one are with CTAs that run.
  if (threadIdx.x == 0) taken = atomicAdd(next, 1);
  __syncthreads();
  const int number = taken;
  const int first = number * tile;

  // Neighbours load neighbours; shared memory turns that into sixteen elements a thread.
#pragma unroll
  for (int i = 0; i < per_thread / 4; ++i) {
    const int at = (i * threads + threadIdx.x) * 4;
    reinterpret_cast<uint4*>(values)[at / 4] =
        first + at < count ? __ldg(reinterpret_cast<const uint4*>(in + first + at)) : make_uint4(0, 0, 0, 0);
  }
  __syncthreads();
  unsigned element[per_thread], sum = 0;
#pragma unroll
  for (int i = 0; i < per_thread; i += 4) {
    const uint4 four = reinterpret_cast<const uint4*>(values)[(threadIdx.x * per_thread + i) / 4];
    element[i] = four.x;
    element[i + 1] = four.y;
    element[i + 2] = four.z;
    element[i + 3] = four.w;
    sum += four.x + four.y + four.z + four.w;
  }
  const unsigned up_to = scan_of_warp(sum);
  const int lane = threadIdx.x % warp::lanes, own_warp = threadIdx.x / warp::lanes;
  if (lane == warp::lanes - 1) of_warp[own_warp] = up_to;
  __syncthreads();
  unsigned before = up_to - sum, all = 0;
#pragma unroll
  for (int w = 0; w < warps; ++w) {
    if (w < own_warp) before += of_warp[w];
    all += of_warp[w];
  }

  if (own_warp == 0) {
    if (lane == 0) publish(states + number, (number == 0 ? prefix_known : sum_known) | all);
    const unsigned prefix = number == 0 ? 0 : look_back(states, number);
    if (lane == 0) {
      if (number != 0) publish(states + number, prefix_known | (prefix + all));
      before_tile = prefix;
    }
  }
  __syncthreads();
  before += before_tile;
#pragma unroll
  for (int i = 0; i < per_thread; i += 4) {
    uint4 four;
    four.x = before;
    four.y = four.x + element[i];
    four.z = four.y + element[i + 1];
    four.w = four.z + element[i + 2];
    before = four.w + element[i + 3];
    reinterpret_cast<uint4*>(values)[(threadIdx.x * per_thread + i) / 4] = four;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < per_thread / 4; ++i) {
    const int at = (i * threads + threadIdx.x) * 4;
    if (first + at < count)
      *reinterpret_cast<uint4*>(out + first + at) = reinterpret_cast<const uint4*>(values)[at / 4];
  }
}
