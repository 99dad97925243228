// SPDX-License-Identifier: Apache-2.0
//
// Dyadic convolution of a long sequence with a short one by fast Walsh transforms: transform both, multiply, transform
// back. The host launches fast_walsh_pad for the short sequence. A transform is fast_walsh_global for distances that do
// not fit in shared memory, two stages a launch, then fast_walsh_shared for all smaller ones. fast_walsh_modulate
// multiplies. Lengths are powers of two.

namespace {
/// Two stages: elements twice the distance apart, then elements the distance apart.
__device__ __forceinline__ void butterfly(float& a, float& b, float& c, float& d) {
  const float ac = a + c;
  const float a_c = a - c;
  const float bd = b + d;
  const float b_d = b - d;
  a = ac + bd;
  b = ac - bd;
  c = a_c + b_d;
  d = a_c - b_d;
}

/// First of the four elements of butterfly `i`.
__device__ __forceinline__ int first_of(int i, int distance) {
  const int low = i & (distance - 1);
  return (i - low) * 4 + low;
}
}  // namespace

/// Puts the short sequence at the beginning of a buffer of zeros.
extern "C" __global__ void fast_walsh_pad(const float* __restrict__ taps, float* __restrict__ kernel, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) kernel[i] = taps[i];
}

/// Stages of 2 * distance and distance. A row of the grid has 4 * distance elements.
extern "C" __global__ void fast_walsh_global(float* data, int distance) {
  float* row = data + blockIdx.y * 4 * distance;
  const int at = first_of(blockIdx.x * blockDim.x + threadIdx.x, distance);
  float a = row[at];
  float b = row[at + distance];
  float c = row[at + 2 * distance];
  float d = row[at + 3 * distance];
  butterfly(a, b, c, d);
  row[at] = a;
  row[at + distance] = b;
  row[at + 2 * distance] = c;
  row[at + 3 * distance] = d;
}

/// All stages of pieces of 4 * blockDim.x elements, a CTA a piece.
extern "C" __global__ void fast_walsh_shared(float* data, int log_size) {
  extern __shared__ float piece[];
  const int size = 1 << log_size;
  const int thread = threadIdx.x;
  float* from = data + blockIdx.x * size;

  for (int i = thread; i < size; i += blockDim.x) piece[i] = from[i];

  for (int distance = size / 4; distance > 0; distance /= 4) {
    __syncthreads();
    const int at = first_of(thread, distance);
    butterfly(piece[at], piece[at + distance], piece[at + 2 * distance], piece[at + 3 * distance]);
  }

  // An odd number of stages leaves the last one, of neighbours.
  if (log_size % 2 != 0) {
    __syncthreads();
    for (int i = thread; i < size / 2; i += blockDim.x) {
      const float a = piece[2 * i];
      const float b = piece[2 * i + 1];
      piece[2 * i] = a + b;
      piece[2 * i + 1] = a - b;
    }
  }
  __syncthreads();

  for (int i = thread; i < size; i += blockDim.x) from[i] = piece[i];
}

/// Multiplies two spectra and divides by their length, which two transforms multiply by.
extern "C" __global__ void fast_walsh_modulate(float* __restrict__ data, const float* __restrict__ kernel, int size) {
  const float scale = 1.0f / static_cast<float>(size);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x) {
    data[i] *= kernel[i] * scale;
  }
}
