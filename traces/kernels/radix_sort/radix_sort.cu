// SPDX-License-Identifier: Apache-2.0
//
// Stable sort of integers by digits of four bits, the lowest first. For every digit the host launches radix_sort_count
// (how often each digit occurs in each block of 2,048 keys), radix_sort_scan (where each block's keys of each digit
// begin in the output) and radix_sort_permute, and swaps `keys` and `sorted`. A thread counts its eight neighbouring
// keys in counters of its own.

namespace {
constexpr int threads = 256;
constexpr int keys_per_thread = 8;
constexpr int block = threads * keys_per_thread;
constexpr int digits = 16;
/// Counters of a CTA, by digit, then by thread. In this order their prefix sums are positions in the sorted block.
constexpr int counters = digits * threads;
constexpr int counters_per_thread = counters / threads;

/// Counts the digits of a thread's keys, which it also returns. Keys beyond `count` are not counted.
__device__ __forceinline__ void count_digits(const unsigned* keys, unsigned* key, unsigned short* counter, int count,
                                             int shift) {
  const int first = blockIdx.x * block + threadIdx.x * keys_per_thread;
#pragma unroll
  for (int digit = 0; digit < digits; ++digit) counter[digit * threads + threadIdx.x] = 0;
#pragma unroll
  for (int k = 0; k < keys_per_thread; ++k) {
    key[k] = 0;
    if (first + k < count) {
      key[k] = keys[first + k];
      ++counter[(key[k] >> shift) % digits * threads + threadIdx.x];
    }
  }
}

/// Sum of `value` of this thread and of all before it (Hillis and Steele 1986). `sums` has one element a thread.
__device__ __forceinline__ unsigned scan_threads(unsigned* sums, unsigned value) {
  sums[threadIdx.x] = value;
  __syncthreads();
  for (int distance = 1; distance < threads; distance *= 2) {
    const unsigned before = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
    __syncthreads();
    value += before;
    sums[threadIdx.x] = value;
    __syncthreads();
  }
  return value;
}
}  // namespace

/// `table` has gridDim.x counts for each digit.
extern "C" __global__ void __launch_bounds__(threads)
    radix_sort_count(const unsigned* __restrict__ keys, unsigned* __restrict__ table, int count, int shift) {
  constexpr int parts = threads / digits;  // threads that add up a digit
  __shared__ unsigned short counter[counters];
  __shared__ unsigned partial[threads];

  unsigned key[keys_per_thread];
  count_digits(keys, key, counter, count, shift);
  __syncthreads();

  const int thread = threadIdx.x;
  const int digit = thread / parts;
  unsigned sum = 0;
  for (int i = thread % parts; i < threads; i += parts) sum += counter[digit * threads + i];
  partial[thread] = sum;
  __syncthreads();
  if (thread < digits) {
    unsigned total = 0;
    for (int i = 0; i < parts; ++i) total += partial[thread * parts + i];
    table[thread * gridDim.x + blockIdx.x] = total;
  }
}

/// Exclusive prefix sums of the table, in place, by one CTA.
extern "C" __global__ void __launch_bounds__(threads) radix_sort_scan(unsigned* __restrict__ table, int size) {
  __shared__ unsigned sums[threads];
  unsigned before = 0;
  for (int first = 0; first < size; first += threads) {
    const int i = first + threadIdx.x;
    const unsigned value = i < size ? table[i] : 0;
    const unsigned sum = scan_threads(sums, value);
    if (i < size) table[i] = before + sum - value;
    before += sums[threads - 1];
    __syncthreads();
  }
}

/// Moves every key to its place in the order of the current digit.
extern "C" __global__ void __launch_bounds__(threads)
    radix_sort_permute(const unsigned* __restrict__ keys, const unsigned* __restrict__ table,
                       unsigned* __restrict__ sorted, int count, int shift) {
  __shared__ unsigned short counter[counters];
  __shared__ unsigned sums[threads];
  __shared__ unsigned start[digits];

  unsigned key[keys_per_thread];
  count_digits(keys, key, counter, count, shift);
  __syncthreads();

  // Counters become positions in the sorted block.
  const int thread = threadIdx.x;
  unsigned sum = 0;
  for (int i = 0; i < counters_per_thread; ++i) sum += counter[thread * counters_per_thread + i];
  unsigned position = scan_threads(sums, sum) - sum;
  for (int i = 0; i < counters_per_thread; ++i) {
    unsigned short& at = counter[thread * counters_per_thread + i];
    const unsigned found = at;
    at = static_cast<unsigned short>(position);
    position += found;
  }
  __syncthreads();

  if (thread < digits) start[thread] = table[thread * gridDim.x + blockIdx.x] - counter[thread * threads];
  __syncthreads();

  const int first = blockIdx.x * block + thread * keys_per_thread;
#pragma unroll
  for (int k = 0; k < keys_per_thread; ++k) {
    if (first + k < count) {
      const unsigned digit = (key[k] >> shift) % digits;
      sorted[start[digit] + counter[digit * threads + thread]++] = key[k];
    }
  }
}
