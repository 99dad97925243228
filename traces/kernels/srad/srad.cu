// SPDX-License-Identifier: Apache-2.0
//
// Speckle-reducing anisotropic diffusion of an ultrasound or radar image (Yu and Acton 2002). Every pixel exchanges
// brightness with its four neighbours, the less the more the image varies there compared with the speckle of the whole
// image. The host launches extract, then for every step statistics, speckle, coefficients and update, swapping `now`
// and `next`, then compress. Beyond the border lies the border again.

namespace {
constexpr int threads = 256;   // of a CTA of statistics
constexpr int most_ctas = 64;  // of statistics, and threads of speckle
constexpr float scale = 255.0f;

/// Adds up `count` pairs of shared memory, a power of two and the number of threads; the sums are in element 0.
template <int count>
__device__ __forceinline__ void add_up(float* sum, float* square) {
#pragma unroll
  for (int half = count / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      sum[threadIdx.x] += sum[threadIdx.x + half];
      square[threadIdx.x] += square[threadIdx.x + half];
    }
  }
}
}  // namespace

/// From a picture's 0 to 255 to an image to diffuse.
extern "C" __global__ void srad_extract(const float* __restrict__ picture, float* __restrict__ image, int pixels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pixels) image[i] = expf(picture[i] / scale);
}

/// And back.
extern "C" __global__ void srad_compress(const float* __restrict__ image, float* __restrict__ picture, int pixels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pixels) picture[i] = logf(image[i]) * scale;
}

/// Sums of all pixels and of their squares, one of each a CTA (64 at most).
extern "C" __global__ void __launch_bounds__(threads)
    srad_statistics(const float* __restrict__ image, float* __restrict__ sums, float* __restrict__ squares,
                    int pixels) {
  __shared__ float sum[threads];
  __shared__ float square[threads];
  float s = 0.0f;
  float q = 0.0f;
  for (int i = blockIdx.x * threads + threadIdx.x; i < pixels; i += gridDim.x * threads) {
    const float value = image[i];
    s += value;
    q = fmaf(value, value, q);
  }
  sum[threadIdx.x] = s;
  square[threadIdx.x] = q;
  add_up<threads>(sum, square);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum[0];
    squares[blockIdx.x] = square[0];
  }
}

/// Variance over squared mean of the whole image, from the sums of `ctas` CTAs.
extern "C" __global__ void __launch_bounds__(most_ctas)
    srad_speckle(const float* __restrict__ sums, const float* __restrict__ squares, float* __restrict__ speckle,
                 int ctas, int pixels) {
  __shared__ float sum[most_ctas];
  __shared__ float square[most_ctas];
  const int thread = threadIdx.x;
  sum[thread] = thread < ctas ? sums[thread] : 0.0f;
  square[thread] = thread < ctas ? squares[thread] : 0.0f;
  add_up<most_ctas>(sum, square);
  if (thread == 0) {
    const float mean = sum[0] / static_cast<float>(pixels);
    const float variance = fmaf(-mean, mean, square[0] / static_cast<float>(pixels));
    *speckle = variance / (mean * mean);
  }
}

namespace {
/// A pixel and its differences to its neighbours.
struct Neighbourhood {
  float here, north, south, west, east;
};

__device__ __forceinline__ Neighbourhood look_around(const float* image, int row, int column, int rows, int columns) {
  const float* line = image + row * columns;
  Neighbourhood n;
  n.here = line[column];
  n.north = image[max(row - 1, 0) * columns + column] - n.here;
  n.south = image[min(row + 1, rows - 1) * columns + column] - n.here;
  n.west = line[max(column - 1, 0)] - n.here;
  n.east = line[min(column + 1, columns - 1)] - n.here;
  return n;
}
}  // namespace

/// How freely each pixel diffuses: 0 to 1.
extern "C" __global__ void srad_coefficients(const float* __restrict__ now, const float* __restrict__ speckle,
                                             float* __restrict__ coefficient, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= columns || row >= rows) return;
  const Neighbourhood n = look_around(now, row, column, rows, columns);
  const float gradient =
      fmaf(n.north, n.north, fmaf(n.south, n.south, fmaf(n.west, n.west, n.east * n.east))) / (n.here * n.here);
  const float laplacian = ((n.north + n.south) + (n.west + n.east)) / n.here;
  const float whole = fmaf(0.25f, laplacian, 1.0f);
  const float variation = fmaf(0.5f, gradient, -0.0625f * laplacian * laplacian) / (whole * whole);
  const float q = *speckle;
  const float c = 1.0f / (1.0f + (variation - q) / (q * (1.0f + q)));
  coefficient[row * columns + column] = fminf(fmaxf(c, 0.0f), 1.0f);
}

extern "C" __global__ void srad_update(const float* __restrict__ now, const float* __restrict__ coefficient,
                                       float* __restrict__ next, int rows, int columns, float step) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= columns || row >= rows) return;
  const Neighbourhood n = look_around(now, row, column, rows, columns);
  const int at = row * columns + column;
  const float c = coefficient[at];
  const float c_south = coefficient[min(row + 1, rows - 1) * columns + column];
  const float c_east = coefficient[row * columns + min(column + 1, columns - 1)];
  const float divergence = fmaf(c, n.north, fmaf(c_south, n.south, fmaf(c, n.west, c_east * n.east)));
  next[at] = fmaf(0.25f * step, divergence, n.here);
}
