// SPDX-License-Identifier: Apache-2.0
//
// Bitonic sort (Batcher 1968) of pairs of a key and a value; their number is a power of two, 2,048 or more. The host
// launches bitonic_sort_blocks, which sorts blocks of 1,024 pairs in turn up and down. Then it merges sequences to
// twice their size until one is left: bitonic_sort_merge_far for every distance of 1,024 or more, a distance a launch,
// and bitonic_sort_merge_near for all smaller ones.

namespace {
constexpr int threads = 512;
constexpr int block = 2 * threads;  // pairs that a CTA keeps in shared memory

__device__ __forceinline__ void order(unsigned& key_a, unsigned& value_a, unsigned& key_b, unsigned& value_b,
                                      bool ascending) {
  if ((key_a > key_b) != ascending) return;
  const unsigned key = key_a;
  key_a = key_b;
  key_b = key;
  const unsigned value = value_a;
  value_a = value_b;
  value_b = value;
}

/// First element of the pair that comparator `i` orders: those of a distance lie in groups of twice the distance.
__device__ __forceinline__ int first_of(int i, int distance) { return 2 * i - (i & (distance - 1)); }

/// Merges bitonic sequences of `size` pairs in shared memory.
__device__ __forceinline__ void merge(unsigned* key, unsigned* value, int size, bool ascending) {
  for (int distance = size / 2; distance > 0; distance /= 2) {
    __syncthreads();
    const int at = first_of(threadIdx.x, distance);
    order(key[at], value[at], key[at + distance], value[at + distance], ascending);
  }
}
}  // namespace

/// Sorts blocks of 1,024 pairs, even ones up and odd ones down.
extern "C" __global__ void __launch_bounds__(threads)
    bitonic_sort_blocks(const unsigned* __restrict__ keys_in, const unsigned* __restrict__ values_in,
                        unsigned* __restrict__ keys, unsigned* __restrict__ values) {
  __shared__ unsigned key[block];
  __shared__ unsigned value[block];
  const int thread = threadIdx.x;
  const int at = blockIdx.x * block + thread;
  key[thread] = keys_in[at];
  value[thread] = values_in[at];
  key[thread + threads] = keys_in[at + threads];
  value[thread + threads] = values_in[at + threads];

  for (int size = 2; size < block; size *= 2) merge(key, value, size, (thread & (size / 2)) == 0);
  merge(key, value, block, blockIdx.x % 2 == 0);

  __syncthreads();
  keys[at] = key[thread];
  values[at] = value[thread];
  keys[at + threads] = key[thread + threads];
  values[at + threads] = value[thread + threads];
}

/// One step of merging sequences of `size` pairs: distance size / 2 at step 0, half of it at every further step.
extern "C" __global__ void bitonic_sort_merge_far(unsigned* __restrict__ keys, unsigned* __restrict__ values, int size,
                                                  int step) {
  const int comparator = blockIdx.x * blockDim.x + threadIdx.x;
  const int distance = (size / 2) >> step;
  // Half of the sequences go up, among them the last one, of all pairs.
  const bool ascending = (comparator & (size / 2)) == 0;
  const int a = first_of(comparator, distance);
  const int b = a + distance;
  unsigned key_a = keys[a];
  unsigned value_a = values[a];
  unsigned key_b = keys[b];
  unsigned value_b = values[b];
  order(key_a, value_a, key_b, value_b, ascending);
  keys[a] = key_a;
  values[a] = value_a;
  keys[b] = key_b;
  values[b] = value_b;
}

/// The steps of distances below 1,024 of merging sequences of `size` pairs.
extern "C" __global__ void __launch_bounds__(threads)
    bitonic_sort_merge_near(unsigned* __restrict__ keys, unsigned* __restrict__ values, int size) {
  __shared__ unsigned key[block];
  __shared__ unsigned value[block];
  const int thread = threadIdx.x;
  const int at = blockIdx.x * block + thread;
  key[thread] = keys[at];
  value[thread] = values[at];
  key[thread + threads] = keys[at + threads];
  value[thread + threads] = values[at + threads];

  const int comparator = blockIdx.x * threads + thread;
  merge(key, value, block, (comparator & (size / 2)) == 0);

  __syncthreads();
  keys[at] = key[thread];
  values[at] = value[thread];
  keys[at + threads] = key[thread + threads];
  values[at + threads] = value[thread + threads];
}
