// SPDX-License-Identifier: Apache-2.0
//
// The reversible wavelet transform of JPEG 2000 (5/3, by lifting, in integers) of a colour picture, several levels
// deep. The host launches dwt2d_components once, which takes the colours apart. Then for each colour and level it
// launches dwt2d_forward_192, _128 or _64, which differ in the width of a CTA's strip and in nothing else: from 960
// columns on the first, from 480 on the second. The next level takes `low_low` for its picture. A CTA slides a window
// of 8 rows down its strip, `steps` times; each thread loads a column. New rows are transformed horizontally in shared
// memory, then all rows of the window vertically, each thread a column of the result. `bands` receives the other bands
// of every level behind one another: the place for low_low, high columns of low rows, low columns of high rows, high
// columns of high rows. At the last level `low_low` is the beginning of `bands`. Beyond the border the picture is
// mirrored, without doubling the border. Every level has three rows and columns at least.

namespace {
constexpr int threads = 256;  // of a CTA of dwt2d_components
constexpr int window = 8;     // rows that a step transforms
constexpr int before = 2;     // rows and columns that the first of a window depends on
constexpr int overlap = 3;    // rows that two windows share: two before, and one behind
}  // namespace

/// From bytes of red, green, blue to planes of -128 to 127.
extern "C" __global__ void __launch_bounds__(threads)
    dwt2d_components(int* __restrict__ red, int* __restrict__ green, int* __restrict__ blue,
                     const unsigned char* __restrict__ colours, int pixels) {
  __shared__ unsigned char bytes[3 * threads];
  const int t = threadIdx.x;
  const int first = blockIdx.x * threads;
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const int at = t + i * threads;
    if (3 * first + at < 3 * pixels) bytes[at] = colours[3 * first + at];
  }
  __syncthreads();
  const int pixel = first + t;
  if (pixel < pixels) {
    red[pixel] = bytes[3 * t] - 128;
    green[pixel] = bytes[3 * t + 1] - 128;
    blue[pixel] = bytes[3 * t + 2] - 128;
  }
}

namespace {

/// Mirrors what is just outside of 0 to size - 1. What is further outside is not needed and becomes any index.
__device__ __forceinline__ int mirrored(int i, int size) {
  const int reflected = i < 0 ? -i : (i >= size ? 2 * (size - 1) - i : i);
  return max(reflected, 0);
}

/// The rows of a window, of which even and odd columns are apart so that neighbouring threads use neighbouring words.
/// The strip's column 0 is even[row][1].
template <int width>
struct Window {
  static constexpr int pitch = width / 2 + 2;
  int even[window + overlap][pitch];
  int odd[window + overlap][pitch];

  /// The first row of a column of the picture, counted from `before` columns left of the strip; rows are `pitch` apart.
  __device__ __forceinline__ int* column(int column) { return (column % 2 == 0 ? even[0] : odd[0]) + column / 2; }

  /// Rows [first_row, first_row + rows). Half of the threads take every second of them.
  template <int rows>
  __device__ __forceinline__ void transform_horizontally(int first_row) {
    const int t = threadIdx.x;
    const int column = t % (width / 2);
    const int half = t / (width / 2);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < rows; i += 2) {
      if (i + 1 == rows && half == 1) break;
      const int row = first_row + i + half;
      odd[row][column + 1] -= (even[row][column + 1] + even[row][column + 2]) >> 1;
    }
    // The column that belongs to the strip on the left.
    if (t < rows) odd[first_row + t][0] -= (even[first_row + t][0] + even[first_row + t][1]) >> 1;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < rows; i += 2) {
      if (i + 1 == rows && half == 1) break;
      const int row = first_row + i + half;
      even[row][column + 1] += (odd[row][column] + odd[row][column + 1] + 2) >> 2;
    }
    __syncthreads();
  }
};

/// What a thread loads: a column of the strip, and one pixel a step of the three columns around the strip.
struct Source {
  const int* column;
  const int* rim_column;
  int rim;  // column of the window
  int pitch;
  int height;

  /// Rows of the picture from `row` on to rows of the window from `tile_row` on. `checked`: they may be outside.
  template <int rows, bool checked, int width>
  __device__ __forceinline__ void load(Window<width>& tile, int tile_row, int row) const {
    const int t = threadIdx.x;
    int* const to = tile.column(t + before) + tile_row * tile.pitch;
#pragma unroll
    for (int i = 0; i < rows; ++i) to[i * tile.pitch] = column[(checked ? mirrored(row + i, height) : row + i) * pitch];
    if (t < 3 * rows) {
      const int rim_row = row + t / 3;
      tile.column(rim)[(tile_row + t / 3) * tile.pitch] =
          rim_column[(checked ? mirrored(rim_row, height) : rim_row) * pitch];
    }
  }
};

/// The two bands that hold a column of the result, from the first row of the strip on.
struct Target {
  int* low;
  int* high;
  int pitch;
  bool inside;
};

/// Slides the window down. `checked`: rows may be outside of the picture.
template <int width, bool checked>
__device__ __forceinline__ void slide(Window<width>& tile, const Source& source, const Target& target, int first_row,
                                      int steps) {
  const int t = threadIdx.x;
  int* const result = 1 + (t < width / 2 ? tile.even[0] + t : tile.odd[0] + t - width / 2);
  int at = 0;

  for (int step = 0; step < steps; ++step) {
    const int top = first_row + step * window;
    source.load<window, checked>(tile, overlap, top + overlap - before);
    tile.template transform_horizontally<window>(overlap);

    int value[window + overlap];
#pragma unroll
    for (int i = 0; i < window + overlap; ++i) value[i] = result[i * tile.pitch];
#pragma unroll
    for (int i = 0; i < overlap; ++i) result[i * tile.pitch] = value[window + i];
#pragma unroll
    for (int i = 1; i < window + overlap; i += 2) value[i] -= (value[i - 1] + value[i + 1]) >> 1;
#pragma unroll
    for (int i = before; i < window + before; i += 2) value[i] += (value[i - 1] + value[i + 1] + 2) >> 2;
#pragma unroll
    for (int i = 0; i < window; i += 2) {
      if (target.inside && (!checked || top + i < source.height)) target.low[at] = value[before + i];
      if (target.inside && (!checked || top + i + 1 < source.height)) target.high[at] = value[before + i + 1];
      at += target.pitch;
    }
    __syncthreads();
  }
}

template <int width>
__device__ __forceinline__ void forward(Window<width>& tile, int* low_low, int* bands, const int* __restrict__ picture,
                                        int picture_width, int height, int steps) {
  const int t = threadIdx.x;
  const int first_column = blockIdx.x * width;
  const int first_row = blockIdx.y * window * steps;
  Source source;
  source.rim = t % 3 < before ? t % 3 : width + before;
  source.column = picture + mirrored(first_column + t, picture_width);
  source.rim_column = picture + mirrored(first_column + source.rim - before, picture_width);
  source.pitch = picture_width;
  source.height = height;

  // The rows above the first window, and its first.
  source.load<overlap, true>(tile, 0, first_row - before);
  tile.template transform_horizontally<overlap>(0);

  const int low_width = (picture_width + 1) / 2;
  const int high_width = picture_width / 2;
  const int low_height = (height + 1) / 2;
  const bool low = t < width / 2;
  const int place = first_column / 2 + (low ? t : t - width / 2);
  Target target;
  target.pitch = low ? low_width : high_width;
  target.inside = place < target.pitch;
  const int at = first_row / 2 * target.pitch + place;
  target.low = (low ? low_low : bands + low_width * low_height) + at;
  target.high = bands + picture_width * low_height + (low ? 0 : low_width * (height / 2)) + at;

  // The last window also needs the row behind it.
  if (first_row + window * steps < height) {
    slide<width, false>(tile, source, target, first_row, steps);
  } else {
    slide<width, true>(tile, source, target, first_row, steps);
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(192)
    dwt2d_forward_192(int* low_low, int* bands, const int* __restrict__ picture, int width, int height, int steps) {
  __shared__ Window<192> tile;
  forward(tile, low_low, bands, picture, width, height, steps);
}

extern "C" __global__ void __launch_bounds__(128)
    dwt2d_forward_128(int* low_low, int* bands, const int* __restrict__ picture, int width, int height, int steps) {
  __shared__ Window<128> tile;
  forward(tile, low_low, bands, picture, width, height, steps);
}

extern "C" __global__ void __launch_bounds__(64)
    dwt2d_forward_64(int* low_low, int* bands, const int* __restrict__ picture, int width, int height, int steps) {
  __shared__ Window<64> tile;
  forward(tile, low_low, bands, picture, width, height, steps);
}
