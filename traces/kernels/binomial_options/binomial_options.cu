// SPDX-License-Identifier: Apache-2.0
//
// Prices of European calls on a binomial tree (Cox, Ross and Rubinstein 1979), a CTA per option. The leaves of the tree
// are the payoffs at expiry; a node is the discounted mean of its two successors. A CTA takes 32 steps of time at once
// in shared memory on 256 nodes, of which each step makes one fewer, then the next 224 nodes; the nodes of all tiles
// are in global memory in between.

namespace {
constexpr int tile = 256;       // nodes in shared memory, and threads
constexpr int tile_steps = 32;  // of time that a tile takes; even
constexpr int tile_advance = tile - tile_steps;
constexpr int most_options = 512;
}  // namespace

__constant__ float spot[most_options];
__constant__ float strike[most_options];
__constant__ float log_step[most_options];  // logarithm of the factor by which the price rises or falls in a step
__constant__ float up[most_options];        // probability of a rise, discounted by one step
__constant__ float down[most_options];

/// `steps` is a multiple of tile_steps. `nodes` has steps + 1 elements for every option, rounded up to `pitch`.
extern "C" __global__ void __launch_bounds__(tile)
    binomial_options(float* __restrict__ nodes, float* __restrict__ value, int steps, int pitch) {
  __shared__ float even[tile + 1];
  __shared__ float odd[tile + 1];
  const int option = blockIdx.x;
  const int thread = threadIdx.x;
  float* const node = nodes + option * pitch;
  const float s = spot[option];
  const float x = strike[option];
  const float v = log_step[option];
  const float pu = up[option];
  const float pd = down[option];

  for (int i = thread; i <= steps; i += tile) {
    const float payoff = fmaf(s, expf(v * static_cast<float>(2 * i - steps)), -x);
    node[i] = payoff > 0.0f ? payoff : 0.0f;
  }
  // What a tile computes beyond its last node is not used, but read.
  even[thread] = 0.0f;
  if (thread == 0) {
    even[tile] = 0.0f;
    odd[tile] = 0.0f;
  }

  for (int level = steps; level > 0; level -= tile_steps) {
    for (int base = 0; base < level; base += tile_advance) {
      const int first = min(tile - 1, level - base);
      const int last = first - tile_steps;
      __syncthreads();
      if (thread <= first) even[thread] = node[base + thread];
      for (int k = first; k > last; k -= 2) {
        __syncthreads();
        odd[thread] = fmaf(pu, even[thread + 1], pd * even[thread]);
        __syncthreads();
        even[thread] = fmaf(pu, odd[thread + 1], pd * odd[thread]);
      }
      __syncthreads();
      if (thread <= last) node[base + thread] = even[thread];
    }
  }
  if (thread == 0) value[option] = even[0];
}
