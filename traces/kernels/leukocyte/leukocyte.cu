// SPDX-License-Identifier: Apache-2.0
//
// Finds white blood cells in a frame of a microscope's video (after Dong, Ray and Acton 2005). `leukocyte_gradient`
// makes the frame's gradient. `leukocyte_gicov` computes for every pixel, a CTA a column, how well a circle about it
// fits the border of a cell: for each radius the mean of the gradient along the circle's normal, squared, over its
// variance (the gradient inverse coefficient of variation), of which it keeps the best. `leukocyte_dilate` spreads the
// scores: a pixel gets the best score within a disk, so that the pixels that keep their own are the cells' centres. The
// host launches them in this order. Pixels closer to the frame's edge than the largest radius and 2 get score 0.
//
// Pictures lie column by column. The compiler makes the tables of the circles' points and of the disk.

namespace {
constexpr int most_points = 150;  // of a circle
constexpr int most_circles = 7;
constexpr int first_radius = 8;
constexpr int radius_step = 2;
constexpr int margin = first_radius + radius_step * (most_circles - 1) + 2;
constexpr int disk_radius = 12;
constexpr int disk = 2 * disk_radius + 1;
constexpr int dilate_threads = 176;

constexpr double pi = 3.14159265358979323846;

/// Up to pi / 4.
constexpr double sine_series(double x) {
  double term = x;
  double sum = x;
  for (int i = 1; i < 10; ++i) {
    term *= -x * x / ((2 * i) * (2 * i + 1));
    sum += term;
  }
  return sum;
}
constexpr double cosine_series(double x) {
  double term = 1;
  double sum = 1;
  for (int i = 1; i < 11; ++i) {
    term *= -x * x / ((2 * i - 1) * (2 * i));
    sum += term;
  }
  return sum;
}

/// The cosine of `step` eighths of a circle and `rest`, from -pi / 8 to pi / 8.
constexpr double cosine(int step, double rest) {
  const double half = 0.70710678118654752440;
  const double c = cosine_series(rest);
  const double s = sine_series(rest);
  switch (step % 8) {
    case 0:
      return c;
    case 1:
      return (c - s) * half;
    case 2:
      return -s;
    case 3:
      return -(c + s) * half;
    case 4:
      return -c;
    case 5:
      return (s - c) * half;
    case 6:
      return s;
    default:
      return (c + s) * half;
  }
}

struct Circles {
  float cosine[most_points];
  float sine[most_points];
  int across[most_circles][most_points];  // pixels from the centre, towards zero
  int down[most_circles][most_points];
};

constexpr Circles make_circles() {
  Circles circles{};
  for (int n = 0; n < most_points; ++n) {
    const int step = (8 * n + most_points / 2) / most_points;
    const double rest = 2 * pi * (8 * n - step * most_points) / (8.0 * most_points);
    const double c = cosine(step, rest);
    const double s = cosine(step + 6, rest);
    circles.cosine[n] = static_cast<float>(c);
    circles.sine[n] = static_cast<float>(s);
    for (int k = 0; k < most_circles; ++k) {
      const int radius = first_radius + radius_step * k;
      // Lest rounding decide where a coordinate is a whole number.
      circles.across[k][n] = static_cast<int>(radius * c + (c > 0 ? 1e-9 : -1e-9));
      circles.down[k][n] = static_cast<int>(radius * s + (s > 0 ? 1e-9 : -1e-9));
    }
  }
  return circles;
}

struct Disk {
  float inside[disk * disk];
};

constexpr Disk make_disk() {
  Disk d{};
  for (int i = 0; i < disk * disk; ++i) {
    const int x = i % disk - disk_radius;
    const int y = i / disk - disk_radius;
    d.inside[i] = x * x + y * y < disk_radius * disk_radius ? 1.0f : 0.0f;
  }
  return d;
}
}  // namespace

__constant__ Circles circles = make_circles();
__constant__ Disk structuring = make_disk();

/// Differences between the neighbours on both sides; at the edges, between a pixel and its neighbour.
extern "C" __global__ void leukocyte_gradient(const float* __restrict__ frame, float* __restrict__ across,
                                              float* __restrict__ down, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const int left = max(column - 1, 0);
  const int right = min(column + 1, columns - 1);
  const int above = max(row - 1, 0);
  const int below = min(row + 1, rows - 1);
  const int at = column * rows + row;
  across[at] = (frame[right * rows + row] - frame[left * rows + row]) / static_cast<float>(right - left);
  down[at] = (frame[column * rows + below] - frame[column * rows + above]) / static_cast<float>(below - above);
}

/// Block x is a column, thread x a row, both counted from the margin. Of the tables' circles it takes every
/// `circle_step`-th, of their points every `point_step`-th.
extern "C" __global__ void leukocyte_gicov(const float* __restrict__ across, const float* __restrict__ down,
                                           float* __restrict__ scores, int rows, int circle_step, int point_step) {
  const int column = blockIdx.x + margin;
  const int row = threadIdx.x + margin;
  float best = 0.0f;
  for (int k = 0; k < most_circles; k += circle_step) {
    float sum = 0.0f;
    float spread = 0.0f;
    float mean = 0.0f;
    int count = 0;
    for (int n = 0; n < most_points; n += point_step) {
      const int at = (column + circles.across[k][n]) * rows + row + circles.down[k][n];
      const float normal = fmaf(across[at], circles.cosine[n], down[at] * circles.sine[n]);
      // Mean and sum of squared deviations so far.
      ++count;
      sum += normal;
      const float deviation = normal - mean;
      mean += deviation / static_cast<float>(count);
      spread = fmaf(deviation, normal - mean, spread);
    }
    mean = sum / static_cast<float>(count);
    const float variance = spread / static_cast<float>(count - 1);
    const float score = variance > 0.0f ? mean * mean / variance : 0.0f;
    if (score > best) best = score;
  }
  scores[column * rows + row] = best;
}

/// Of the disk's rows and columns it takes every `step`-th.
extern "C" __global__ void __launch_bounds__(dilate_threads)
    leukocyte_dilate(const float* __restrict__ scores, float* __restrict__ dilated, int rows, int columns, int step) {
  const int thread = blockIdx.x * dilate_threads + threadIdx.x;
  const int row = thread % rows;
  const int column = thread / rows;
  if (column >= columns) return;
  float best = 0.0f;
  for (int y = 0; y < disk; y += step) {
    const int from_row = row - disk_radius + y;
    if (from_row < 0 || from_row >= rows) continue;
    for (int x = 0; x < disk; x += step) {
      const int from_column = column - disk_radius + x;
      if (from_column < 0 || from_column >= columns || structuring.inside[y * disk + x] == 0.0f) continue;
      const float score = scores[from_column * rows + from_row];
      if (score > best) best = score;
    }
  }
  dilated[thread] = best;
}
