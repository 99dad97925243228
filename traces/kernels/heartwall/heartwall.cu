// SPDX-License-Identifier: Apache-2.0
//
// Follows points of a heart's wall through the frames of an ultrasound film. The host launches the kernel once a frame;
// one CTA of 512 threads follows one point. In frame 0 it takes the pixels around the point as its template. In later
// frames it correlates the template with a larger window around the point, at every offset at which they overlap,
// normalises by local mean and deviation (Lewis 1995), and takes the best offset near the last one. Every few frames it
// blends the template with what is there now.

namespace {
constexpr int threads = 512;
constexpr int most_template = 51;                     // pixels per side
constexpr int most_offsets = 81 + most_template - 1;  // per side, of a window of 81 pixels

/// Sums of all rectangles of side x side pixels that overlap a window of window x window pixels, from cumulative sums:
/// `sums` has offsets x offsets elements, offsets = window + side - 1. `padded` has (window + 2 side) squared elements,
/// `strips` offsets x (window + 2 side).
__device__ __forceinline__ void sum_rectangles(const float* pixels, int window, int side, bool squared, float* padded,
                                               float* strips, float* sums) {
  const int offsets = window + side - 1;
  const int width = window + 2 * side;
  for (int i = threadIdx.x; i < width * width; i += threads) {
    const int row = i / width - side;
    const int column = i % width - side;
    float value = 0.0f;
    if (row >= 0 && row < window && column >= 0 && column < window) {
      value = pixels[row * window + column];
      if (squared) value *= value;
    }
    padded[i] = value;
  }
  __syncthreads();
  // A thread per column.
  for (int column = threadIdx.x; column < width; column += threads) {
    float sum = 0.0f;
    for (int row = 0; row < width; ++row) {
      sum += padded[row * width + column];
      padded[row * width + column] = sum;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < offsets * width; i += threads) strips[i] = padded[i + side * width] - padded[i];
  __syncthreads();
  // A thread per row.
  for (int row = threadIdx.x; row < offsets; row += threads) {
    float sum = 0.0f;
    for (int column = 0; column < width; ++column) {
      sum += strips[row * width + column];
      strips[row * width + column] = sum;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < offsets * offsets; i += threads) {
    const int at = i / offsets * width + i % offsets;
    sums[i] = strips[at + side] - strips[at];
  }
  __syncthreads();
}

}  // namespace

/// `film` has lines of `stride` pixels; frame f begins at film + f * advance. Point p is at rows[p], columns[p] when
/// its template is taken. Where it is in frame f goes to path_rows and path_columns [p * frames + f]. `reach`: half the
/// side of a window, up to 40; `half`: of a template, up to 25; `leap`: how far the offset may change from frame to
/// frame. Every `interval` frames a template becomes keep * template + (1 - keep) * frame. `correlations` has
/// one number an offset and point, in the end those of the last frame; `workspace` has `workspace_of_point` floats a
/// point. 11,872 bytes of shared memory.
extern "C" __global__ void __launch_bounds__(threads)
    heartwall(const float* __restrict__ film, int stride, int advance, int frame_number, int frames, int* rows,
              int* columns, int* offset_rows, int* offset_columns, int* __restrict__ path_rows,
              int* __restrict__ path_columns, float* templates, float* correlations, float* workspace,
              int workspace_of_point, int reach, int half, int leap, int interval, float keep) {
  __shared__ float rotated[most_template * most_template];
  __shared__ float row_sum[most_template];
  __shared__ float row_square[most_template];
  __shared__ float template_sum;
  __shared__ float template_square;
  __shared__ float template_deviation;
  __shared__ float row_best[most_offsets];
  __shared__ int row_best_column[most_offsets];

  const int point = blockIdx.x;
  const int thread = threadIdx.x;
  const float* frame = film + frame_number * advance;
  const int side = 2 * half + 1;
  const int elements = side * side;
  float* pattern = templates + point * elements;

  if (frame_number == 0) {
    const int first_row = rows[point] - half;
    const int first_column = columns[point] - half;
    for (int i = thread; i < elements; i += threads)
      pattern[i] = frame[(first_row + i / side) * stride + first_column + i % side];
    if (thread == 0) {
      path_rows[point * frames] = rows[point];
      path_columns[point * frames] = columns[point];
    }
    return;
  }

  const int window = 2 * reach + 1;
  const int offsets = window + side - 1;
  const int width = window + 2 * side;
  float* pixels = workspace + static_cast<long long>(point) * workspace_of_point;
  float* sums = pixels + window * window;
  float* correlation = correlations + point * offsets * offsets;
  float* squares = sums + offsets * offsets;
  float* allowed = squares + offsets * offsets;
  float* padded = allowed + offsets * offsets;
  float* strips = padded + width * width;

  // The window, and the template turned by 180 degrees.
  for (int i = thread; i < window * window; i += threads)
    pixels[i] = frame[(rows[point] - reach + i / window) * stride + columns[point] - reach + i % window];
  for (int i = thread; i < elements; i += threads) rotated[elements - 1 - i] = pattern[i];
  __syncthreads();

  // Their convolution.
  for (int i = thread; i < offsets * offsets; i += threads) {
    const int y = i / offsets;
    const int x = i % offsets;
    const int first_row = max(0, y - window + 1);
    const int last_row = min(side - 1, y);
    const int first_column = max(0, x - window + 1);
    const int last_column = min(side - 1, x);
    float sum = 0.0f;
    for (int row = first_row; row <= last_row; ++row) {
      for (int column = first_column; column <= last_column; ++column)
        sum = fmaf(pixels[(y - row) * window + x - column], rotated[row * side + column], sum);
    }
    correlation[i] = sum;
  }
  __syncthreads();

  sum_rectangles(pixels, window, side, false, padded, strips, sums);
  sum_rectangles(pixels, window, side, true, padded, strips, squares);

  // Mean and deviation of the template.
  if (thread < side) {
    float sum = 0.0f;
    float square = 0.0f;
    for (int i = 0; i < side; ++i) {
      const float value = rotated[thread * side + i];
      sum += value;
      square = fmaf(value, value, square);
    }
    row_sum[thread] = sum;
    row_square[thread] = square;
  }
  __syncthreads();
  if (thread == 0) {
    float sum = 0.0f;
    for (int i = 0; i < side; ++i) sum += row_sum[i];
    template_sum = sum;
  } else if (thread == 1) {
    float square = 0.0f;
    for (int i = 0; i < side; ++i) square += row_square[i];
    template_square = square;
  }
  __syncthreads();
  const float count = static_cast<float>(elements);
  if (thread == 0) template_deviation = sqrtf(fmaxf(fmaf(-template_sum, template_sum / count, template_square), 0.0f));
  __syncthreads();

  for (int i = thread; i < offsets * offsets; i += threads) {
    const float sum = sums[i];
    const float deviation = sqrtf(fmaxf(fmaf(-sum, sum / count, squares[i]), 0.0f));
    const float scale = template_deviation * deviation;
    const float product = fmaf(-sum, template_sum / count, correlation[i]);
    correlation[i] = scale > 0.0f ? product / scale : 0.0f;
    // Where the point was last.
    const int last = (reach + half + offset_rows[point]) * offsets + reach + half + offset_columns[point];
    allowed[i] = i == last ? 1.0f : 0.0f;
  }
  __syncthreads();

  // Offsets near the last one: a convolution with a square of ones.
  for (int i = thread; i < offsets * offsets; i += threads) {
    const int y = i / offsets;
    const int x = i % offsets;
    float sum = 0.0f;
    for (int row = max(0, y - leap); row <= min(offsets - 1, y + leap); ++row) {
      for (int column = max(0, x - leap); column <= min(offsets - 1, x + leap); ++column)
        sum += allowed[row * offsets + column];
    }
    sums[i] = correlation[i] * sum;
  }
  __syncthreads();

  // The best of every row, then of all.
  if (thread < offsets) {
    float best = 0.0f;
    int best_column = 0;
    for (int column = 0; column < offsets; ++column) {
      const float value = sums[thread * offsets + column];
      if (value > best) {
        best = value;
        best_column = column;
      }
    }
    row_best[thread] = best;
    row_best_column[thread] = best_column;
  }
  __syncthreads();
  if (thread == 0) {
    float best = 0.0f;
    int best_row = reach + half + offset_rows[point];
    int best_column = reach + half + offset_columns[point];
    for (int row = 0; row < offsets; ++row) {
      if (row_best[row] > best) {
        best = row_best[row];
        best_row = row;
        best_column = row_best_column[row];
      }
    }
    offset_rows[point] = best_row - reach - half;
    offset_columns[point] = best_column - reach - half;
    path_rows[point * frames + frame_number] = rows[point] + offset_rows[point];
    path_columns[point * frames + frame_number] = columns[point] + offset_columns[point];
  }
  __syncthreads();

  if (frame_number % interval == 0) {
    const int first_row = rows[point] + offset_rows[point] - half;
    const int first_column = columns[point] + offset_columns[point] - half;
    for (int i = thread; i < elements; i += threads) {
      const float value = frame[(first_row + i / side) * stride + first_column + i % side];
      pattern[i] = fmaf(keep, pattern[i], (1.0f - keep) * value);
    }
    __syncthreads();
    if (thread == 0) {
      rows[point] += offset_rows[point];
      columns[point] += offset_columns[point];
      offset_rows[point] = 0;
      offset_columns[point] = 0;
    }
  }
}
