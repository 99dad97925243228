// SPDX-License-Identifier: Apache-2.0
//
// Exclusive prefix sums of a large array (Blelloch 1990). A CTA sums 512 elements in shared memory, up a tree and down
// again. The host launches scan_blocks on the array, on the sums of its blocks and on the sums of those, and then
// scan_add, which adds what is before a block, from the last level to the first.

namespace {
constexpr int threads = 256;
constexpr int block = 2 * threads;  // elements of a CTA
constexpr int banks = 32;

/// Where element i is in shared memory: distances of powers of two would meet in the same bank.
__device__ __forceinline__ int place(int i) { return i + i / banks; }
}  // namespace

/// Prefix sums inside each block of 512 elements, and the sum of each block.
extern "C" __global__ void __launch_bounds__(threads)
    scan_blocks(const unsigned* __restrict__ in, unsigned* __restrict__ out, unsigned* __restrict__ sums, int count) {
  __shared__ unsigned value[block + block / banks];

  const int thread = threadIdx.x;
  const int low = blockIdx.x * block + thread;
  const int high = low + threads;
  value[place(thread)] = low < count ? in[low] : 0;
  value[place(thread + threads)] = high < count ? in[high] : 0;

  int distance = 1;
  for (int pairs = threads; pairs > 0; pairs /= 2) {
    __syncthreads();
    if (thread < pairs) {
      const int left = distance * (2 * thread + 1) - 1;
      value[place(left + distance)] += value[place(left)];
    }
    distance *= 2;
  }

  if (thread == 0) {
    sums[blockIdx.x] = value[place(block - 1)];
    value[place(block - 1)] = 0;
  }

  for (int pairs = 1; pairs <= threads; pairs *= 2) {
    distance /= 2;
    __syncthreads();
    if (thread < pairs) {
      const int left = distance * (2 * thread + 1) - 1;
      const unsigned before = value[place(left + distance)];
      value[place(left + distance)] = before + value[place(left)];
      value[place(left)] = before;
    }
  }
  __syncthreads();

  if (low < count) out[low] = value[place(thread)];
  if (high < count) out[high] = value[place(thread + threads)];
}

/// Adds to each block of 512 elements the sum of all blocks before it.
extern "C" __global__ void __launch_bounds__(threads)
    scan_add(unsigned* __restrict__ out, const unsigned* __restrict__ offsets, int count) {
  __shared__ unsigned offset;
  if (threadIdx.x == 0) offset = offsets[blockIdx.x];
  __syncthreads();
  const int low = blockIdx.x * block + threadIdx.x;
  const int high = low + threads;
  if (low < count) out[low] += offset;
  if (high < count) out[high] += offset;
}
