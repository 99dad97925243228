// SPDX-License-Identifier: Apache-2.0
//
// Sorts numbers (Sintorn and Assarsson 2008): a bucket sort distributes them over many buckets of about one size, then
// threads merge the sorted lists of a bucket, four numbers at a time. The host launches histogram, pivots, count,
// offsets, starts, scatter, sort4, then merge, swapping `from` and `to`, until no bucket has two lists, then pack.
// Buckets begin at multiples of four; those of other sizes end in infinities.

namespace {
constexpr int bins = 1024;  // of the histogram
constexpr int most_buckets = 1024;
constexpr int count_threads = 128;
constexpr int histogram_threads = 256;

/// Sums of the first 1, 2, 3, ... elements of `sums`, one element a thread.
__device__ __forceinline__ int running_sum(int* sums, int value) {
  const int t = threadIdx.x;
  sums[t] = value;
  for (int distance = 1; distance < blockDim.x; distance *= 2) {
    __syncthreads();
    const int before = t >= distance ? sums[t - distance] : 0;
    __syncthreads();
    sums[t] += before;
  }
  __syncthreads();
  return sums[t];
}
}  // namespace

/// How many values fall into each of 1024 equal parts of the range; the outer parts have those beyond, too.
extern "C" __global__ void __launch_bounds__(histogram_threads)
    hybridsort_histogram(const float* __restrict__ values, int* __restrict__ histogram, int count, float low,
                         float width) {
  __shared__ int part[bins];
  for (int i = threadIdx.x; i < bins; i += histogram_threads) part[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * histogram_threads + threadIdx.x; i < count; i += gridDim.x * histogram_threads) {
    const int bin = static_cast<int>((values[i] - low) / width);
    atomicAdd(&part[min(max(bin, 0), bins - 1)], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += histogram_threads) {
    if (part[i] > 0) atomicAdd(&histogram[i], part[i]);
  }
}

/// Where buckets begin so that all have about as many values: inside a bin, values count as equally spaced. One CTA of
/// a thread a bin.
extern "C" __global__ void __launch_bounds__(bins)
    hybridsort_pivots(const int* __restrict__ histogram, float* __restrict__ pivots, int count, int buckets, float low,
                      float width) {
  __shared__ int sums[bins];
  const int t = threadIdx.x;
  running_sum(sums, histogram[t]);
  if (t >= buckets) return;
  const int wanted = static_cast<int>(static_cast<float>(count) * static_cast<float>(t) / static_cast<float>(buckets));
  // The first bin at whose end there are more values.
  int bin = 0;
  for (int half = bins / 2; half > 0; half /= 2) {
    if (sums[bin + half - 1] <= wanted) bin += half;
  }
  const int before = bin > 0 ? sums[bin - 1] : 0;
  const float part = static_cast<float>(wanted - before) / static_cast<float>(max(sums[bin] - before, 1));
  pivots[t] = fmaf(static_cast<float>(bin) + part, width, low);
}

/// Finds every value's bucket, and its place among those that this CTA finds for the bucket. A CTA has `band` values a
/// thread.
extern "C" __global__ void __launch_bounds__(count_threads)
    hybridsort_count(const float* __restrict__ values, const float* __restrict__ pivots, int* __restrict__ places,
                     int* __restrict__ cta_counts, int count, int buckets, int band) {
  __shared__ int counts[most_buckets];
  for (int i = threadIdx.x; i < buckets; i += count_threads) counts[i] = 0;
  __syncthreads();
  const int first = blockIdx.x * count_threads * band;
  const int last = min(first + count_threads * band, count);
  for (int i = first + threadIdx.x; i < last; i += count_threads) {
    const float value = values[i];
    int bucket = 0;
    for (int half = buckets / 2; half > 0; half /= 2) {
      if (value >= pivots[bucket + half]) bucket += half;
    }
    places[i] = atomicAdd(&counts[bucket], 1) * most_buckets + bucket;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < buckets; i += count_threads) cta_counts[blockIdx.x * buckets + i] = counts[i];
}

/// Turns a bucket's counts by CTA into where each CTA's values begin in the bucket.
extern "C" __global__ void hybridsort_offsets(int* __restrict__ cta_counts, int* __restrict__ sizes, int ctas,
                                              int buckets) {
  const int bucket = blockIdx.x * blockDim.x + threadIdx.x;
  if (bucket >= buckets) return;
  int size = 0;
  for (int cta = 0; cta < ctas; ++cta) {
    const int here = cta_counts[cta * buckets + bucket];
    cta_counts[cta * buckets + bucket] = size;
    size += here;
  }
  sizes[bucket] = size;
}

/// Where buckets begin, in fours in `starts` and in numbers of the result in `result_starts`; infinities behind their
/// ends. One CTA of a thread a bucket.
extern "C" __global__ void hybridsort_starts(const int* __restrict__ sizes, int* __restrict__ starts,
                                             int* __restrict__ result_starts, float* __restrict__ lists) {
  __shared__ int sums[most_buckets];
  const int bucket = threadIdx.x;
  const int size = sizes[bucket];
  result_starts[bucket] = running_sum(sums, size) - size;
  __syncthreads();
  const int fours = (size + 3) / 4;
  const int end = running_sum(sums, fours);
  starts[bucket] = end - fours;
  if (bucket == blockDim.x - 1) starts[blockDim.x] = end;
  const float infinity = __int_as_float(0x7f800000);
  for (int i = 4 * (end - fours) + size; i < 4 * end; ++i) lists[i] = infinity;
}

/// Puts the values into their buckets. CTAs as in count.
extern "C" __global__ void __launch_bounds__(count_threads)
    hybridsort_scatter(const float* __restrict__ values, const int* __restrict__ places,
                       const int* __restrict__ cta_counts, const int* __restrict__ starts, float* __restrict__ lists,
                       int count, int buckets, int band) {
  __shared__ int begin[most_buckets];
  for (int i = threadIdx.x; i < buckets; i += count_threads)
    begin[i] = 4 * starts[i] + cta_counts[blockIdx.x * buckets + i];
  __syncthreads();
  const int first = blockIdx.x * count_threads * band;
  const int last = min(first + count_threads * band, count);
  for (int i = first + threadIdx.x; i < last; i += count_threads) {
    const int place = places[i];
    lists[begin[place % most_buckets] + place / most_buckets] = values[i];
  }
}

namespace {
__device__ __forceinline__ void order(float& a, float& b) {
  const float low = fminf(a, b);
  b = fmaxf(a, b);
  a = low;
}

/// Sorts four that rise and then fall, or the other way round.
__device__ __forceinline__ void sort_bitonic(float4& v) {
  order(v.x, v.z);
  order(v.y, v.w);
  order(v.x, v.y);
  order(v.z, v.w);
}

/// Of two sorted fours, the four lowest and the four highest, sorted.
__device__ __forceinline__ void merge_fours(float4& low, float4& high) {
  order(low.x, high.w);
  order(low.y, high.z);
  order(low.z, high.y);
  order(low.w, high.x);
  sort_bitonic(low);
  sort_bitonic(high);
}
}  // namespace

/// Sorts every four.
extern "C" __global__ void hybridsort_sort4(float4* __restrict__ lists, const int* __restrict__ starts, int buckets) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= starts[buckets]) return;
  float4 v = lists[i];
  order(v.x, v.y);
  order(v.w, v.z);
  sort_bitonic(v);
  lists[i] = v;
}

/// Merges pairs of sorted lists of 2^pass fours, a thread a pair. `threads` is how many a bucket has in pass 0, half as
/// many in each later one. `more` becomes 1 if a bucket has two lists still.
extern "C" __global__ void hybridsort_merge(const float4* __restrict__ from, float4* __restrict__ to,
                                            const int* __restrict__ starts, int* __restrict__ more, int buckets,
                                            int threads, int pass) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int share = (threads + (1 << pass) - 1) >> pass;
  const int bucket = thread / share;
  if (bucket >= buckets) return;
  const int size = 1 << pass;
  const int first = starts[bucket];
  const int last = starts[bucket + 1];
  if (last - first > 2 * size) *more = 1;
  for (int at = first + thread % share * 2 * size; at < last; at += share * 2 * size) {
    int a = at;
    const int a_end = min(at + size, last);
    int b = a_end;
    const int b_end = min(at + 2 * size, last);
    float4 low = from[a++];
    int out = at;
    if (b == b_end) {
      // A list without a partner.
      to[out++] = low;
      while (a < a_end) to[out++] = from[a++];
      continue;
    }
    float4 high = from[b++];
    while (true) {
      merge_fours(low, high);
      to[out++] = low;
      if (a == a_end && b == b_end) break;
      const bool from_a = b == b_end || (a < a_end && from[a].x <= from[b].x);
      low = from[from_a ? a : b];
      a += from_a;
      b += !from_a;
    }
    to[out] = high;
  }
}

/// The buckets without the infinities, one CTA a bucket.
extern "C" __global__ void hybridsort_pack(const float* __restrict__ lists, const int* __restrict__ sizes,
                                           const int* __restrict__ starts, const int* __restrict__ result_starts,
                                           float* __restrict__ sorted) {
  const int bucket = blockIdx.x;
  const int size = sizes[bucket];
  const int from = 4 * starts[bucket];
  const int to = result_starts[bucket];
  for (int i = threadIdx.x; i < size; i += blockDim.x) sorted[to + i] = lists[from + i];
}
