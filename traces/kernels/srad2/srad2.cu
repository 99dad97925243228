// SPDX-License-Identifier: Apache-2.0
//
// Speckle-reducing anisotropic diffusion (Yu and Acton 2002) with tiles of 16 x 16 pixels in shared memory: the same
// method as `srad`, organised as in Rodinia's second version. The image is the exponential of a picture. For every step
// the host launches statistics, gradients and update. The image is updated in place. Beyond its border lies the border
// again.
//
// `volatile` marks arrays of which every thread uses its own element only: compilers would remove them.

namespace {
constexpr int tile = 16;      // pixels per side
constexpr int threads = 256;  // of statistics
}  // namespace

/// Variance over squared mean of a rectangle that shows speckle alone. One CTA.
extern "C" __global__ void __launch_bounds__(threads)
    srad2_statistics(const float* __restrict__ image, float* __restrict__ speckle, int columns, int first_row,
                     int last_row, int first_column, int last_column) {
  __shared__ float sum[threads];
  __shared__ float square[threads];
  const int width = last_column - first_column + 1;
  const int pixels = width * (last_row - first_row + 1);
  const int thread = threadIdx.x;
  float s = 0.0f;
  float q = 0.0f;
  for (int i = thread; i < pixels; i += threads) {
    const float value = image[(first_row + i / width) * columns + first_column + i % width];
    s += value;
    q = fmaf(value, value, q);
  }
  sum[thread] = s;
  square[thread] = q;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) {
      sum[thread] += sum[thread + half];
      square[thread] += square[thread + half];
    }
  }
  if (thread == 0) {
    const float mean = sum[0] / static_cast<float>(pixels);
    const float variance = fmaf(-mean, mean, square[0] / static_cast<float>(pixels));
    *speckle = variance / (mean * mean);
  }
}

/// Differences of every pixel to its four neighbours, and the coefficient (0 to 1) of its diffusion. 6,144 bytes of
/// shared memory. Every row of threads loads the pixels above and below the tile, every column those beside it.
extern "C" __global__ void __launch_bounds__(tile* tile)
    srad2_gradients(float* __restrict__ east, float* __restrict__ west, float* __restrict__ north,
                    float* __restrict__ south, const float* __restrict__ image, float* __restrict__ coefficient,
                    const float* __restrict__ speckle, int columns, int rows) {
  __shared__ float here[tile][tile];
  __shared__ volatile float result[tile][tile];
  __shared__ float above[tile][tile];
  __shared__ float below[tile][tile];
  __shared__ float right[tile][tile];
  __shared__ float left[tile][tile];

  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int first_column = blockIdx.x * tile;
  const int first_row = blockIdx.y * tile;
  // Threads outside the image load its last column or row and store nothing.
  const int column = min(first_column + tx, columns - 1);
  const int row = min(first_row + ty, rows - 1);
  const int at = row * columns + column;

  above[ty][tx] = image[max(first_row - 1, 0) * columns + column];
  below[ty][tx] = image[min(first_row + tile, rows - 1) * columns + column];
  __syncthreads();
  left[ty][tx] = image[row * columns + max(first_column - 1, 0)];
  right[ty][tx] = image[row * columns + min(first_column + tile, columns - 1)];
  __syncthreads();
  here[ty][tx] = image[at];
  __syncthreads();

  const float pixel = here[ty][tx];
  float n, s, w, e;
  if (ty == 0 && tx == 0) {  // north-west corner
    n = above[ty][tx] - pixel;
    s = here[ty + 1][tx] - pixel;
    w = left[ty][tx] - pixel;
    e = here[ty][tx + 1] - pixel;
  } else if (ty == 0 && tx == tile - 1) {  // north-east
    n = above[ty][tx] - pixel;
    s = here[ty + 1][tx] - pixel;
    w = here[ty][tx - 1] - pixel;
    e = right[ty][tx] - pixel;
  } else if (ty == tile - 1 && tx == tile - 1) {  // south-east
    n = here[ty - 1][tx] - pixel;
    s = below[ty][tx] - pixel;
    w = here[ty][tx - 1] - pixel;
    e = right[ty][tx] - pixel;
  } else if (ty == tile - 1 && tx == 0) {  // south-west
    n = here[ty - 1][tx] - pixel;
    s = below[ty][tx] - pixel;
    w = left[ty][tx] - pixel;
    e = here[ty][tx + 1] - pixel;
  } else if (ty == 0) {  // edges
    n = above[ty][tx] - pixel;
    s = here[ty + 1][tx] - pixel;
    w = here[ty][tx - 1] - pixel;
    e = here[ty][tx + 1] - pixel;
  } else if (tx == tile - 1) {
    n = here[ty - 1][tx] - pixel;
    s = here[ty + 1][tx] - pixel;
    w = here[ty][tx - 1] - pixel;
    e = right[ty][tx] - pixel;
  } else if (ty == tile - 1) {
    n = here[ty - 1][tx] - pixel;
    s = below[ty][tx] - pixel;
    w = here[ty][tx - 1] - pixel;
    e = here[ty][tx + 1] - pixel;
  } else if (tx == 0) {
    n = here[ty - 1][tx] - pixel;
    s = here[ty + 1][tx] - pixel;
    w = left[ty][tx] - pixel;
    e = here[ty][tx + 1] - pixel;
  } else {  // inside
    n = here[ty - 1][tx] - pixel;
    s = here[ty + 1][tx] - pixel;
    w = here[ty][tx - 1] - pixel;
    e = here[ty][tx + 1] - pixel;
  }

  const float gradient = fmaf(n, n, fmaf(s, s, fmaf(w, w, e * e))) / (pixel * pixel);
  const float laplacian = ((n + s) + (w + e)) / pixel;
  const float whole = fmaf(0.25f, laplacian, 1.0f);
  const float variation = fmaf(0.5f, gradient, -0.0625f * laplacian * laplacian) / (whole * whole);
  const float q = *speckle;
  const float excess = (variation - q) / (q * (1.0f + q));
  const float c = 1.0f / (1.0f + excess);
  if (c < 0.0f) {
    result[ty][tx] = 0.0f;
  } else if (c > 1.0f) {
    result[ty][tx] = 1.0f;
  } else {
    result[ty][tx] = c;
  }
  __syncthreads();

  if (first_row + ty < rows && first_column + tx < columns) {
    coefficient[at] = result[ty][tx];
    east[at] = e;
    west[at] = w;
    south[at] = s;
    north[at] = n;
  }
}

/// Moves every pixel by the divergence of the flow: what its own coefficient lets through to the north and west, and
/// its neighbours' to the south and east. 5,120 bytes of shared memory.
extern "C" __global__ void __launch_bounds__(tile* tile)
    srad2_update(const float* __restrict__ east, const float* __restrict__ west, const float* __restrict__ north,
                 const float* __restrict__ south, float* __restrict__ image, const float* __restrict__ coefficient,
                 int columns, int rows, float step) {
  __shared__ float below[tile][tile];
  __shared__ float right[tile][tile];
  __shared__ float factor[tile][tile];
  __shared__ volatile float result[tile][tile];
  __shared__ volatile float here[tile][tile];

  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int first_column = blockIdx.x * tile;
  const int first_row = blockIdx.y * tile;
  const int column = min(first_column + tx, columns - 1);
  const int row = min(first_row + ty, rows - 1);
  const int at = row * columns + column;
  const bool stored = first_row + ty < rows && first_column + tx < columns;

  // Another thread may have changed the last row or column already.
  here[ty][tx] = stored ? image[at] : 0.0f;
  __syncthreads();
  below[ty][tx] = coefficient[min(first_row + tile, rows - 1) * columns + column];
  right[ty][tx] = coefficient[row * columns + min(first_column + tile, columns - 1)];
  __syncthreads();
  factor[ty][tx] = coefficient[at];
  __syncthreads();

  const float c = factor[ty][tx];
  const float c_north = c;
  const float c_west = c;
  float c_south, c_east;
  if (ty == tile - 1 && tx == tile - 1) {
    c_south = below[ty][tx];
    c_east = right[ty][tx];
  } else if (tx == tile - 1) {
    c_south = factor[ty + 1][tx];
    c_east = right[ty][tx];
  } else if (ty == tile - 1) {
    c_south = below[ty][tx];
    c_east = factor[ty][tx + 1];
  } else {
    c_south = factor[ty + 1][tx];
    c_east = factor[ty][tx + 1];
  }

  const float divergence =
      fmaf(c_north, north[at], fmaf(c_south, south[at], fmaf(c_west, west[at], c_east * east[at])));
  result[ty][tx] = fmaf(0.25f * step, divergence, here[ty][tx]);
  __syncthreads();
  if (stored) image[at] = result[ty][tx];
}
