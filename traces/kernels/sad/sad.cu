// SPDX-License-Identifier: Apache-2.0
//
// Sums of absolute differences, by which a video encoder finds where blocks of a frame come from in the frame before.
// `sad_4x4` compares every block of 4 x 4 pixels with all places up to `range` pixels away, a CTA a block. `sad_8` adds
// those of each macroblock of 16 x 16 pixels to blocks of 8 x 4, 4 x 8 and 8 x 8, `sad_16` these to blocks of 16 x 8,
// 8 x 16 and 16 x 16. The host launches them in this order.
//
// The result has 41 blocks a macroblock, by size: 16 x 16 of all macroblocks, then 16 x 8 (2 a macroblock), 8 x 16 (2),
// 8 x 8 (4), 8 x 4 (8), 4 x 8 (8), 4 x 4 (16), and of a block the 16-bit sums of all places, row by row, padded with
// zeros to `padded`. Blocks of 4 x 4 to 8 x 8 of a macroblock are numbered by quarters of it, in each as in `sad_8`.

namespace {
constexpr int side = 4;  // of a small block
constexpr int lanes = 32;

// Where the sizes begin, in blocks a macroblock.
constexpr int first_16x16 = 0;
constexpr int first_16x8 = 1;
constexpr int first_8x16 = 3;
constexpr int first_8x8 = 5;
constexpr int first_8x4 = 9;
constexpr int first_4x8 = 17;
constexpr int first_4x4 = 25;

/// The sums of block `block` of `count` a macroblock, two in a word.
__device__ __forceinline__ unsigned* words(unsigned* sums, int macroblocks, int first, int macroblock, int count,
                                           int block, int pairs) {
  return sums + (first * macroblocks + macroblock * count + block) * pairs;
}
}  // namespace

/// One block of 4 x 4 with all places, `each` of them a thread. The frame before ends in its outermost pixels,
/// repeated. Dynamic shared memory: two bytes for each of `padded` places.
extern "C" __global__ void sad_4x4(const unsigned short* __restrict__ frame, const unsigned short* __restrict__ before,
                                   unsigned* __restrict__ sums, int width, int height, int stride, int range, int each,
                                   int padded) {
  extern __shared__ unsigned place_sums[];
  unsigned short* sum_of = reinterpret_cast<unsigned short*>(place_sums);
  const int x = blockIdx.x * side;
  const int y = blockIdx.y * side;
  const int across = 2 * range + 1;
  const int places = across * across;

  int pixel[side][side];
#pragma unroll
  for (int row = 0; row < side; ++row) {
#pragma unroll
    for (int column = 0; column < side; ++column) pixel[row][column] = frame[(y + row) * stride + x + column];
  }

  const int first = threadIdx.x * each;
  int dy = first / across - range;
  int dx = first % across - range;
  for (int place = first; place < min(first + each, padded); ++place) {
    int sum = 0;
    if (place < places) {
#pragma unroll
      for (int row = 0; row < side; ++row) {
        const unsigned short* line = before + min(max(y + dy + row, 0), height - 1) * stride;
#pragma unroll
        for (int column = 0; column < side; ++column)
          sum += abs(pixel[row][column] - line[min(max(x + dx + column, 0), width - 1)]);
      }
    }
    sum_of[place] = static_cast<unsigned short>(sum);
    if (++dx > range) {
      dx = -range;
      ++dy;
    }
  }
  __syncthreads();

  // Blocks of a macroblock: quarter by quarter.
  const int macroblocks = gridDim.x / 4 * (gridDim.y / 4);
  const int macroblock = blockIdx.y / 4 * (gridDim.x / 4) + blockIdx.x / 4;
  const int quarter = blockIdx.y / 2 % 2 * 2 + blockIdx.x / 2 % 2;
  const int block = quarter * 4 + blockIdx.y % 2 * 2 + blockIdx.x % 2;
  unsigned* to = words(sums, macroblocks, first_4x4, macroblock, 16, block, padded / 2);
  for (int i = threadIdx.x; i < padded / 2; i += blockDim.x) to[i] = place_sums[i];
}

/// A CTA a macroblock, a row of threads a quarter, two places a thread at a time: no sum exceeds 16 bits, so that one
/// addition adds both.
extern "C" __global__ void __launch_bounds__(lanes * 4) sad_8(unsigned* __restrict__ sums, int padded) {
  const int macroblocks = gridDim.x * gridDim.y;
  const int macroblock = blockIdx.y * gridDim.x + blockIdx.x;
  const int quarter = threadIdx.y;
  const int pairs = padded / 2;
  const unsigned* small = words(sums, macroblocks, first_4x4, macroblock, 16, 4 * quarter, pairs);
  unsigned* wide = words(sums, macroblocks, first_8x4, macroblock, 8, 2 * quarter, pairs);
  unsigned* high = words(sums, macroblocks, first_4x8, macroblock, 8, 2 * quarter, pairs);
  unsigned* both = words(sums, macroblocks, first_8x8, macroblock, 4, quarter, pairs);
  for (int i = threadIdx.x; i < pairs; i += lanes) {
    const unsigned a = small[i];
    const unsigned b = small[i + pairs];
    const unsigned c = small[i + 2 * pairs];
    const unsigned d = small[i + 3 * pairs];
    wide[i] = a + b;
    wide[i + pairs] = c + d;
    high[i] = a + c;
    high[i + pairs] = b + d;
    both[i] = a + b + c + d;
  }
}

/// A CTA of one warp a macroblock.
extern "C" __global__ void __launch_bounds__(lanes) sad_16(unsigned* __restrict__ sums, int padded) {
  const int macroblocks = gridDim.x * gridDim.y;
  const int macroblock = blockIdx.y * gridDim.x + blockIdx.x;
  const int pairs = padded / 2;
  const unsigned* quarters = words(sums, macroblocks, first_8x8, macroblock, 4, 0, pairs);
  unsigned* wide = words(sums, macroblocks, first_16x8, macroblock, 2, 0, pairs);
  unsigned* high = words(sums, macroblocks, first_8x16, macroblock, 2, 0, pairs);
  unsigned* both = words(sums, macroblocks, first_16x16, macroblock, 1, 0, pairs);
  for (int i = threadIdx.x; i < pairs; i += lanes) {
    const unsigned a = quarters[i];
    const unsigned b = quarters[i + pairs];
    const unsigned c = quarters[i + 2 * pairs];
    const unsigned d = quarters[i + 3 * pairs];
    wide[i] = a + b;
    wide[i + pairs] = c + d;
    high[i] = a + c;
    high[i + pairs] = b + d;
    both[i] = a + b + c + d;
  }
}
