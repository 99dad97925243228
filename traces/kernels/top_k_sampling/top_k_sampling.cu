// SPDX-License-Identifier: Apache-2.0
//
// The next token of each sequence: one of the k most likely, drawn by their probabilities at a temperature. A CTA per
// sequence finds the k-th largest logit digit by digit, eight bits at a time, with histograms in shared memory (radix
// selection), collects the logits from there on, sorts them, and walks over the sum of their probabilities.
#include "../warp.h"

namespace {
constexpr int threads = 256;
constexpr int digits = 256;
constexpr int most = 64;  // candidates; k is at most this

/// In the order of the floats.
__device__ __forceinline__ unsigned ordered(float value) {
  const unsigned bits = __float_as_uint(value);
  return bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u);
}
__device__ __forceinline__ float original(unsigned key) {
  return __uint_as_float(key ^ ((key >> 31) != 0 ? 0x80000000u : 0xffffffffu));
}

/// Of a warp's histogram of 256 counts, eight a lane, the digit that holds the `rank`-th largest key (from 1), and how
/// many keys have larger digits. All lanes get both.
__device__ __forceinline__ void find_digit(const unsigned* counts, unsigned rank, unsigned& digit, unsigned& above) {
  const int lane = threadIdx.x % warp::lanes;
  // Lane 0 has the largest digits.
  const unsigned first = digits - 8 * (lane + 1);
  unsigned sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += counts[first + i];
  unsigned up_to = sum;
#pragma unroll
  for (int distance = 1; distance < warp::lanes; distance *= 2) {
    const unsigned other = __shfl_up_sync(warp::all_lanes, up_to, distance);
    if (lane >= distance) up_to += other;
  }
  const int holder = __ffs(static_cast<int>(__ballot_sync(warp::all_lanes, up_to >= rank))) - 1;
  digit = 0;
  above = up_to - sum;
  if (lane == holder) {
    for (int i = 7; i >= 0; --i) {
      const unsigned here = counts[first + i];
      if (above + here >= rank) {
        digit = first + i;
        break;
      }
      above += here;
    }
  }
  digit = __shfl_sync(warp::all_lanes, digit, holder);
  above = __shfl_sync(warp::all_lanes, above, holder);
}
}  // namespace

/// `chance`: a number from 0 to 1 a sequence. `tokens` gets the token, `candidates` the k tokens from the likeliest on,
/// equal ones by number. Logits equal to the k-th may be at most 64 - k more.
extern "C" __global__ void __launch_bounds__(threads)
    top_k_sampling(const float* __restrict__ logits, const float* __restrict__ chance, int* __restrict__ tokens,
                   int* __restrict__ candidates, int vocabulary, int k, float inverse_temperature) {
  __shared__ unsigned counts[digits];
  __shared__ unsigned long long found[most];
  __shared__ unsigned prefix, rank, number;
  const float* row = logits + static_cast<size_t>(blockIdx.x) * vocabulary;
  if (threadIdx.x == 0) {
    prefix = 0;
    rank = k;
    number = 0;
  }
  for (int shift = 24; shift >= 0; shift -= 8) {
    counts[threadIdx.x] = 0;
    __syncthreads();
    const unsigned known = prefix;
    for (int i = threadIdx.x; i < vocabulary; i += threads) {
      const unsigned key = ordered(__ldg(row + i));
      if (shift == 24 || (key ^ known) >> (shift + 8) == 0) atomicAdd(&counts[key >> shift & (digits - 1)], 1u);
    }
    __syncthreads();
    if (threadIdx.x < warp::lanes) {
      unsigned digit, above;
      find_digit(counts, rank, digit, above);
      __syncwarp();
      if (threadIdx.x == 0) {
        prefix |= digit << shift;
        rank -= above;
      }
    }
    __syncthreads();
  }

  // `prefix` is the k-th largest key. The token is inverted so that equal keys are in the order of tokens.
  if (threadIdx.x < most) found[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < vocabulary; i += threads) {
    const unsigned key = ordered(__ldg(row + i));
    if (key < prefix) continue;
    const unsigned at = atomicAdd(&number, 1u);
    if (at < most) found[at] = static_cast<unsigned long long>(key) << 32 | ~static_cast<unsigned>(i);
  }
  __syncthreads();

  // Bitonic, descending; a thread has a pair.
  for (int size = 2; size <= most; size *= 2) {
    for (int distance = size / 2; distance > 0; distance /= 2) {
      if (threadIdx.x < most / 2) {
        const int at = 2 * threadIdx.x - (threadIdx.x & (distance - 1));
        const unsigned long long a = found[at], b = found[at + distance];
        if (((at & size) == 0) != (a > b)) {
          found[at] = b;
          found[at + distance] = a;
        }
      }
      __syncthreads();
    }
  }

  if (threadIdx.x < warp::lanes) {
    // Two candidates a lane: 2 * lane and the next.
    const int lane = threadIdx.x;
    const float largest = original(static_cast<unsigned>(found[0] >> 32));
    float share[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const unsigned long long own = found[2 * lane + i];
      const bool counts_too = 2 * lane + i < k;
      const float logit = original(static_cast<unsigned>(own >> 32));
      share[i] = counts_too ? __expf((logit - largest) * inverse_temperature) : 0.0f;
      if (counts_too) candidates[blockIdx.x * k + 2 * lane + i] = static_cast<int>(~static_cast<unsigned>(own));
    }
    float up_to = share[0] + share[1];
#pragma unroll
    for (int distance = 1; distance < warp::lanes; distance *= 2) {
      const float other = __shfl_up_sync(warp::all_lanes, up_to, distance);
      if (lane >= distance) up_to += other;
    }
    const float all = __shfl_sync(warp::all_lanes, up_to, warp::lanes - 1);
    const float wanted = __ldg(chance + blockIdx.x) * all;
    const unsigned reached = __ballot_sync(warp::all_lanes, up_to > wanted);
    const int holder = reached == 0 ? (k - 1) / 2 : __ffs(static_cast<int>(reached)) - 1;
    if (lane == holder) {
      const int which = up_to - share[1] > wanted || 2 * lane + 1 >= k ? 0 : 1;
      tokens[blockIdx.x] = static_cast<int>(~static_cast<unsigned>(found[2 * lane + which]));
    }
  }
}
