// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms of many rows of 1,024 complex numbers, in place in shared memory by decimation in frequency. A CTA
// of 64 threads has a row. The first stage (radix 2) happens on the way into shared memory; three stages of radix 8
// follow, each thread two butterflies a stage, and a barrier between stages. The row then lies in digit-reversed order,
// in which it is read to be stored in order. Shared memory has one unused element after every 16, to spread strided
// accesses over the banks: 8,704 bytes in all. The host launches fft_roots once, then fft_rows.

namespace {
constexpr int points = 1024;
constexpr int threads = 64;
constexpr float half_root = 0.70710678f;  // of 2

__device__ __forceinline__ float2 plus(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ float2 minus(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ __forceinline__ float2 times(float2 a, float2 b) {
  return make_float2(fmaf(a.x, b.x, -(a.y * b.y)), fmaf(a.x, b.y, a.y * b.x));
}

/// Multiplication with the first three powers of exp(-2 pi i / 8).
__device__ __forceinline__ float2 turn_1(float2 a) {
  return make_float2(half_root * (a.x + a.y), half_root * (a.y - a.x));
}
__device__ __forceinline__ float2 turn_2(float2 a) { return make_float2(a.y, -a.x); }
__device__ __forceinline__ float2 turn_3(float2 a) {
  return make_float2(half_root * (a.y - a.x), -(half_root * (a.x + a.y)));
}

/// Transform of four numbers in place.
__device__ __forceinline__ void transform_4(float2& a0, float2& a1, float2& a2, float2& a3) {
  const float2 even = plus(a0, a2);
  const float2 odd = plus(a1, a3);
  const float2 difference = minus(a0, a2);
  const float2 turned = turn_2(minus(a1, a3));
  a0 = plus(even, odd);
  a1 = plus(difference, turned);
  a2 = minus(even, odd);
  a3 = minus(difference, turned);
}

/// Transform of eight numbers in place.
__device__ __forceinline__ void transform_8(float2* a) {
  float2 sum[4];
  float2 difference[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    sum[i] = plus(a[i], a[i + 4]);
    difference[i] = minus(a[i], a[i + 4]);
  }
  difference[1] = turn_1(difference[1]);
  difference[2] = turn_2(difference[2]);
  difference[3] = turn_3(difference[3]);
  transform_4(sum[0], sum[1], sum[2], sum[3]);
  transform_4(difference[0], difference[1], difference[2], difference[3]);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    a[2 * i] = sum[i];
    a[2 * i + 1] = difference[i];
  }
}

/// Where element `i` of the row is in shared memory.
__device__ __forceinline__ int place(int i) { return i + i / 16; }

/// A stage of radix 8 on pieces of `length` elements.
template <int length>
__device__ __forceinline__ void stage(float2* row, const float2* roots) {
  constexpr int distance = length / 8;
  for (int butterfly = threadIdx.x; butterfly < points / 8; butterfly += threads) {
    const int j = butterfly % distance;
    const int first = butterfly / distance * length + j;
    float2 a[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) a[i] = row[place(first + i * distance)];
    transform_8(a);
    row[place(first)] = a[0];
#pragma unroll
    for (int i = 1; i < 8; ++i) {
      row[place(first + i * distance)] = distance == 1 ? a[i] : times(a[i], roots[i * j * (points / length)]);
    }
  }
}
}  // namespace

/// Element k is exp(-2 pi i k / 1024), from Taylor polynomials up to an eighth of a turn.
extern "C" __global__ void fft_roots(float2* __restrict__ roots) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= points) return;
  const int quarter = k / (points / 4);
  const int in_quarter = k % (points / 4);
  const bool mirrored = in_quarter > points / 8;
  const float angle = static_cast<float>(mirrored ? points / 4 - in_quarter : in_quarter) * (6.2831853f / points);
  const float square = angle * angle;
  float cosine = -1.0f / 3628800.0f;
  cosine = fmaf(cosine, square, 1.0f / 40320.0f);
  cosine = fmaf(cosine, square, -1.0f / 720.0f);
  cosine = fmaf(cosine, square, 1.0f / 24.0f);
  cosine = fmaf(cosine, square, -0.5f);
  cosine = fmaf(cosine, square, 1.0f);
  float sine = 1.0f / 362880.0f;
  sine = fmaf(sine, square, -1.0f / 5040.0f);
  sine = fmaf(sine, square, 1.0f / 120.0f);
  sine = fmaf(sine, square, -1.0f / 6.0f);
  sine = fmaf(sine, square, 1.0f);
  sine *= angle;
  float2 root = mirrored ? make_float2(sine, -cosine) : make_float2(cosine, -sine);
  if (quarter % 2 != 0) root = turn_2(root);
  if (quarter >= 2) root = make_float2(-root.x, -root.y);
  roots[k] = root;
}

extern "C" __global__ void __launch_bounds__(threads)
    fft_rows(const float2* __restrict__ signal, float2* __restrict__ spectrum, const float2* __restrict__ roots) {
  __shared__ float2 row[points + points / 16];
  const float2* from = signal + blockIdx.x * points;
  float2* to = spectrum + blockIdx.x * points;

#pragma unroll
  for (int i = 0; i < points / 2; i += threads) {
    const int j = i + threadIdx.x;
    const float2 a = from[j];
    const float2 b = from[j + points / 2];
    row[place(j)] = plus(a, b);
    row[place(j + points / 2)] = times(minus(a, b), roots[j]);
  }
  __syncthreads();
  stage<512>(row, roots);
  __syncthreads();
  stage<64>(row, roots);
  __syncthreads();
  stage<8>(row, roots);
  __syncthreads();

  // The lowest bit of a frequency is the highest of the element's index, then come three digits of three bits.
#pragma unroll
  for (int i = 0; i < points; i += threads) {
    const int k = i + threadIdx.x;
    const int index = (k & 1) << 9 | (k >> 1 & 7) << 6 | (k >> 4 & 7) << 3 | k >> 7;
    to[k] = row[place(index)];
  }
}
