// SPDX-License-Identifier: Apache-2.0
//
// The discrete cosine transform of JPEG: a picture of -128 to 127 is transformed in blocks of 8 x 8 pixels, its
// coefficients are quantised, and the picture is restored from them. Three times:
// - dct8x8_naive_forward and _inverse multiply the block by the matrix of the transform, a thread for each coefficient;
// - dct8x8_forward and _inverse transform rows, then columns, each thread one of them, in a factorisation of 22
//   multiplications. A CTA of 8 x 4 x 2 threads has a tile of 32 x 16 pixels in shared memory;
// - dct8x8_short_forward and _inverse do so in integers of 16 bits. A CTA of 8 x 4 x 4 threads has a tile of 32 x 32.
// The naive kernels and dct8x8_quantise and dct8x8_short_quantise take blocks of 8 x 8 threads. For each of the three
// the host launches forward, quantise, inverse. The picture consists of whole tiles.

namespace {
constexpr int side = 8;  // of a block
constexpr int tile_width = 32;
constexpr int tile_height = 16;
constexpr int tile_pitch = tile_width + 1;  // keeps columns of a row's threads in different banks
constexpr int short_height = 32;
constexpr int short_pitch = tile_width + 2;  // whole words
constexpr int word_pitch = short_pitch / 2;

// cos(k pi / 16) / 2
constexpr float c1 = 0.4903926402f;
constexpr float c2 = 0.4619397663f;
constexpr float c3 = 0.4157348062f;
constexpr float c4 = 0.3535533906f;
constexpr float c5 = 0.2777851165f;
constexpr float c6 = 0.1913417162f;
constexpr float c7 = 0.0975451610f;

// The same with 12 bits of fraction. Between rows and columns two bits of fraction are kept.
constexpr int fraction = 12;
constexpr int kept = 2;
constexpr int i1 = 2009;
constexpr int i2 = 1892;
constexpr int i3 = 1703;
constexpr int i4 = 1448;
constexpr int i5 = 1138;
constexpr int i6 = 784;
constexpr int i7 = 400;
}  // namespace

/// Row k is the k-th basis function.
__constant__ float basis[side * side] = {
    c4, c4,  c4,  c4,  c4,  c4,  c4,  c4,   //
    c1, c3,  c5,  c7,  -c7, -c5, -c3, -c1,  //
    c2, c6,  -c6, -c2, -c2, -c6, c6,  c2,   //
    c3, -c7, -c1, -c5, c5,  c1,  c7,  -c3,  //
    c4, -c4, -c4, c4,  c4,  -c4, -c4, c4,   //
    c5, -c1, c7,  c3,  -c3, -c7, c1,  -c5,  //
    c6, -c2, c2,  -c6, -c6, c2,  -c2, c6,   //
    c7, -c5, c3,  -c1, c1,  -c3, c5,  -c7,  //
};

/// Luminance of JPEG (ITU-T T.81, Annex K).
__constant__ short quantum[side * side] = {
    16, 11, 10, 16, 24,  40,  51,  61,   //
    12, 12, 14, 19, 26,  58,  60,  55,   //
    14, 13, 16, 24, 40,  57,  69,  56,   //
    14, 17, 22, 29, 51,  87,  80,  62,   //
    18, 22, 37, 56, 68,  109, 103, 77,   //
    24, 35, 55, 64, 81,  104, 113, 92,   //
    49, 64, 78, 87, 103, 121, 120, 101,  //
    72, 92, 95, 98, 112, 100, 103, 99,   //
};

extern "C" __global__ void __launch_bounds__(side* side)
    dct8x8_naive_forward(float* __restrict__ to, const float* __restrict__ from, int pitch) {
  __shared__ float first[side * side];
  __shared__ float second[side * side];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int at = (blockIdx.y * side + ty) * pitch + blockIdx.x * side + tx;
  first[ty * side + tx] = from[at];
  __syncthreads();

  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < side; ++k) sum = fmaf(basis[ty * side + k], first[k * side + tx], sum);
  second[ty * side + tx] = sum;
  __syncthreads();

  sum = 0.0f;
#pragma unroll
  for (int k = 0; k < side; ++k) sum = fmaf(second[ty * side + k], basis[tx * side + k], sum);
  to[at] = sum;
}

extern "C" __global__ void __launch_bounds__(side* side)
    dct8x8_naive_inverse(float* __restrict__ to, const float* __restrict__ from, int pitch) {
  __shared__ float first[side * side];
  __shared__ float second[side * side];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int at = (blockIdx.y * side + ty) * pitch + blockIdx.x * side + tx;
  first[ty * side + tx] = from[at];
  __syncthreads();

  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < side; ++k) sum = fmaf(basis[k * side + ty], first[k * side + tx], sum);
  second[ty * side + tx] = sum;
  __syncthreads();

  sum = 0.0f;
#pragma unroll
  for (int k = 0; k < side; ++k) sum = fmaf(second[ty * side + k], basis[k * side + tx], sum);
  to[at] = sum;
}

extern "C" __global__ void __launch_bounds__(side* side) dct8x8_quantise(float* __restrict__ coefficients, int pitch) {
  const int at = (blockIdx.y * side + threadIdx.y) * pitch + blockIdx.x * side + threadIdx.x;
  const float step = static_cast<float>(quantum[threadIdx.y * side + threadIdx.x]);
  coefficients[at] = rintf(coefficients[at] / step) * step;
}

namespace {

/// Eight numbers, `stride` apart.
template <int stride>
__device__ __forceinline__ void transform(float* v) {
  const float s07 = v[0] + v[7 * stride];
  const float d07 = v[0] - v[7 * stride];
  const float s16 = v[1 * stride] + v[6 * stride];
  const float d16 = v[1 * stride] - v[6 * stride];
  const float s25 = v[2 * stride] + v[5 * stride];
  const float d25 = v[2 * stride] - v[5 * stride];
  const float s34 = v[3 * stride] + v[4 * stride];
  const float d34 = v[3 * stride] - v[4 * stride];
  const float outer = s07 + s34;
  const float inner = s16 + s25;
  const float outer_difference = s07 - s34;
  const float inner_difference = s16 - s25;
  v[0] = c4 * (outer + inner);
  v[1 * stride] = fmaf(c1, d07, fmaf(c3, d16, fmaf(c5, d25, c7 * d34)));
  v[2 * stride] = fmaf(c2, outer_difference, c6 * inner_difference);
  v[3 * stride] = fmaf(c3, d07, fmaf(-c7, d16, fmaf(-c1, d25, -c5 * d34)));
  v[4 * stride] = c4 * (outer - inner);
  v[5 * stride] = fmaf(c5, d07, fmaf(-c1, d16, fmaf(c7, d25, c3 * d34)));
  v[6 * stride] = fmaf(c6, outer_difference, -c2 * inner_difference);
  v[7 * stride] = fmaf(c7, d07, fmaf(-c5, d16, fmaf(c3, d25, -c1 * d34)));
}

template <int stride>
__device__ __forceinline__ void restore(float* v) {
  const float v1 = v[1 * stride];
  const float v3 = v[3 * stride];
  const float v5 = v[5 * stride];
  const float v7 = v[7 * stride];
  const float sum = c4 * (v[0] + v[4 * stride]);
  const float difference = c4 * (v[0] - v[4 * stride]);
  const float outer = fmaf(c2, v[2 * stride], c6 * v[6 * stride]);
  const float inner = fmaf(c6, v[2 * stride], -c2 * v[6 * stride]);
  const float s07 = sum + outer;
  const float s34 = sum - outer;
  const float s16 = difference + inner;
  const float s25 = difference - inner;
  const float d07 = fmaf(c1, v1, fmaf(c3, v3, fmaf(c5, v5, c7 * v7)));
  const float d16 = fmaf(c3, v1, fmaf(-c7, v3, fmaf(-c1, v5, -c5 * v7)));
  const float d25 = fmaf(c5, v1, fmaf(-c1, v3, fmaf(c7, v5, c3 * v7)));
  const float d34 = fmaf(c7, v1, fmaf(-c5, v3, fmaf(c3, v5, -c1 * v7)));
  v[0] = s07 + d07;
  v[1 * stride] = s16 + d16;
  v[2 * stride] = s25 + d25;
  v[3 * stride] = s34 + d34;
  v[4 * stride] = s34 - d34;
  v[5 * stride] = s25 - d25;
  v[6 * stride] = s16 - d16;
  v[7 * stride] = s07 - d07;
}

/// A tile of 4 x 2 blocks. Each thread loads and stores a column of a block and transforms a row and that column.
template <bool forward>
__device__ __forceinline__ void transform_tile(float* tile, float* __restrict__ to, const float* __restrict__ from,
                                               int pitch) {
  const int x = threadIdx.y * side + threadIdx.x;
  const int y = threadIdx.z * side;
  const int at = (blockIdx.y * tile_height + y) * pitch + blockIdx.x * tile_width + x;
  float* const column = tile + y * tile_pitch + x;
  float* const row = tile + (y + threadIdx.x) * tile_pitch + threadIdx.y * side;

#pragma unroll
  for (int i = 0; i < side; ++i) column[i * tile_pitch] = from[at + i * pitch];
  __syncthreads();
  forward ? transform<1>(row) : restore<1>(row);
  __syncthreads();
  forward ? transform<tile_pitch>(column) : restore<tile_pitch>(column);
#pragma unroll
  for (int i = 0; i < side; ++i) to[at + i * pitch] = column[i * tile_pitch];
}

}  // namespace

extern "C" __global__ void __launch_bounds__(tile_width* tile_height / side)
    dct8x8_forward(float* __restrict__ to, const float* __restrict__ from, int pitch) {
  __shared__ float tile[tile_height * tile_pitch];
  transform_tile<true>(tile, to, from, pitch);
}

extern "C" __global__ void __launch_bounds__(tile_width* tile_height / side)
    dct8x8_inverse(float* __restrict__ to, const float* __restrict__ from, int pitch) {
  __shared__ float tile[tile_height * tile_pitch];
  transform_tile<false>(tile, to, from, pitch);
}

namespace {

/// Without the last `shift` bits, rounded.
template <int shift>
__device__ __forceinline__ int rounded(int value) {
  return (value + (1 << (shift - 1))) >> shift;
}

template <int shift>
__device__ __forceinline__ void short_transform(int (&v)[side]) {
  const int s07 = v[0] + v[7];
  const int d07 = v[0] - v[7];
  const int s16 = v[1] + v[6];
  const int d16 = v[1] - v[6];
  const int s25 = v[2] + v[5];
  const int d25 = v[2] - v[5];
  const int s34 = v[3] + v[4];
  const int d34 = v[3] - v[4];
  v[0] = rounded<shift>(i4 * (s07 + s34 + s16 + s25));
  v[1] = rounded<shift>(i1 * d07 + i3 * d16 + i5 * d25 + i7 * d34);
  v[2] = rounded<shift>(i2 * (s07 - s34) + i6 * (s16 - s25));
  v[3] = rounded<shift>(i3 * d07 - i7 * d16 - i1 * d25 - i5 * d34);
  v[4] = rounded<shift>(i4 * (s07 + s34 - s16 - s25));
  v[5] = rounded<shift>(i5 * d07 - i1 * d16 + i7 * d25 + i3 * d34);
  v[6] = rounded<shift>(i6 * (s07 - s34) - i2 * (s16 - s25));
  v[7] = rounded<shift>(i7 * d07 - i5 * d16 + i3 * d25 - i1 * d34);
}

template <int shift>
__device__ __forceinline__ void short_restore(int (&v)[side]) {
  const int sum = i4 * (v[0] + v[4]);
  const int difference = i4 * (v[0] - v[4]);
  const int outer = i2 * v[2] + i6 * v[6];
  const int inner = i6 * v[2] - i2 * v[6];
  const int d07 = i1 * v[1] + i3 * v[3] + i5 * v[5] + i7 * v[7];
  const int d16 = i3 * v[1] - i7 * v[3] - i1 * v[5] - i5 * v[7];
  const int d25 = i5 * v[1] - i1 * v[3] + i7 * v[5] + i3 * v[7];
  const int d34 = i7 * v[1] - i5 * v[3] + i3 * v[5] - i1 * v[7];
  v[0] = rounded<shift>(sum + outer + d07);
  v[1] = rounded<shift>(difference + inner + d16);
  v[2] = rounded<shift>(difference - inner + d25);
  v[3] = rounded<shift>(sum - outer + d34);
  v[4] = rounded<shift>(sum - outer - d34);
  v[5] = rounded<shift>(difference - inner - d25);
  v[6] = rounded<shift>(difference + inner - d16);
  v[7] = rounded<shift>(sum + outer - d07);
}

/// A tile of 4 x 4 blocks. Memory is accessed in words of two pixels: by half of the threads, each two columns.
template <bool forward>
__device__ __forceinline__ void short_transform_tile(int* tile, short* __restrict__ to, const short* __restrict__ from,
                                                     int pitch) {
  const int x = threadIdx.y * side + threadIdx.x;
  const int y = threadIdx.z * side;
  // In words.
  const int at = ((blockIdx.y * short_height + y) * pitch + blockIdx.x * tile_width) / 2 + x;
  if (x < tile_width / 2) {
    const int* const source = reinterpret_cast<const int*>(from) + at;
#pragma unroll
    for (int i = 0; i < side; ++i) tile[(y + i) * word_pitch + x] = source[i * (pitch / 2)];
  }
  __syncthreads();

  int v[side];
  int* const row = tile + (y + threadIdx.x) * word_pitch + threadIdx.y * (side / 2);
#pragma unroll
  for (int i = 0; i < side; i += 2) {
    const int two = row[i / 2];
    v[i] = static_cast<short>(two);
    v[i + 1] = two >> 16;
  }
  forward ? short_transform<fraction - kept>(v) : short_restore<fraction - kept>(v);
#pragma unroll
  for (int i = 0; i < side; i += 2) row[i / 2] = (v[i] & 0xffff) | v[i + 1] << 16;
  __syncthreads();

  short* const column = reinterpret_cast<short*>(tile) + y * short_pitch + x;
#pragma unroll
  for (int i = 0; i < side; ++i) v[i] = column[i * short_pitch];
  forward ? short_transform<fraction + kept>(v) : short_restore<fraction + kept>(v);
#pragma unroll
  for (int i = 0; i < side; ++i) column[i * short_pitch] = static_cast<short>(v[i]);
  __syncthreads();

  if (x < tile_width / 2) {
    int* const target = reinterpret_cast<int*>(to) + at;
#pragma unroll
    for (int i = 0; i < side; ++i) target[i * (pitch / 2)] = tile[(y + i) * word_pitch + x];
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(tile_width* short_height / side)
    dct8x8_short_forward(short* __restrict__ to, const short* __restrict__ from, int pitch) {
  __shared__ int tile[short_height * word_pitch];
  short_transform_tile<true>(tile, to, from, pitch);
}

extern "C" __global__ void __launch_bounds__(tile_width* short_height / side)
    dct8x8_short_inverse(short* __restrict__ to, const short* __restrict__ from, int pitch) {
  __shared__ int tile[short_height * word_pitch];
  short_transform_tile<false>(tile, to, from, pitch);
}

/// Rounds halves away from zero.
extern "C" __global__ void __launch_bounds__(side* side)
    dct8x8_short_quantise(short* __restrict__ coefficients, int pitch) {
  const int at = (blockIdx.y * side + threadIdx.y) * pitch + blockIdx.x * side + threadIdx.x;
  const int step = quantum[threadIdx.y * side + threadIdx.x];
  int value = coefficients[at];
  if (value < 0) {
    value = -((step / 2 - value) / step);
  } else {
    value = (value + step / 2) / step;
  }
  coefficients[at] = static_cast<short>(value * step);
}
