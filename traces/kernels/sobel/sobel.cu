// SPDX-License-Identifier: Apache-2.0
//
// Edges of a picture of bytes: the gradient of 3 x 3 pixels (Sobel), twice. Beyond the border lies the border again.
// - sobel_direct loads nine pixels for each result. The host launches a CTA of 384 threads for each row.
// - sobel_shared loads a tile of 320 x 4 pixels with a rim of one into shared memory and slides a window of 3 x 3 along
//   it, four results a thread and turn. CTAs of 16 x 4 threads, six rows of `tile_pitch` bytes of dynamic shared memory
//   (at least 4 * 82, a multiple of 64). The width is a multiple of 4.

namespace {
constexpr int radius = 1;
constexpr int tile_words = 80;  // of four pixels, the width of a tile

__device__ __forceinline__ unsigned char gradient(int upper_left, int upper, int upper_right, int left, int right,
                                                  int lower_left, int lower, int lower_right, float scale) {
  const int horizontal = upper_right + 2 * right + lower_right - upper_left - 2 * left - lower_left;
  const int vertical = upper_left + 2 * upper + upper_right - lower_left - 2 * lower - lower_right;
  const int sum = static_cast<int>(scale * static_cast<float>(abs(horizontal) + abs(vertical)));
  return static_cast<unsigned char>(min(max(sum, 0), 255));
}

__device__ __forceinline__ int pixel(const unsigned char* picture, int x, int y, int width, int height) {
  return picture[min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)];
}
}  // namespace

extern "C" __global__ void sobel_direct(unsigned char* __restrict__ edges, const unsigned char* __restrict__ picture,
                                        int width, int height, float scale) {
  const int y = blockIdx.x;
  for (int x = threadIdx.x; x < width; x += blockDim.x) {
    const int upper_left = pixel(picture, x - 1, y - 1, width, height);
    const int upper = pixel(picture, x, y - 1, width, height);
    const int upper_right = pixel(picture, x + 1, y - 1, width, height);
    const int left = pixel(picture, x - 1, y, width, height);
    const int right = pixel(picture, x + 1, y, width, height);
    const int lower_left = pixel(picture, x - 1, y + 1, width, height);
    const int lower = pixel(picture, x, y + 1, width, height);
    const int lower_right = pixel(picture, x + 1, y + 1, width, height);
    edges[y * width + x] = gradient(upper_left, upper, upper_right, left, right, lower_left, lower, lower_right, scale);
  }
}

extern "C" __global__ void sobel_shared(uchar4* __restrict__ edges, const unsigned char* __restrict__ picture,
                                        int tile_pitch, int width, int height, float scale) {
  extern __shared__ unsigned char tile[];
  const int first_x = blockIdx.x * tile_words * 4;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned char* const line = tile + threadIdx.y * tile_pitch;

  for (int word = threadIdx.x; word < tile_words + 2 * radius; word += blockDim.x) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int x = first_x + 4 * word - radius + i;
      line[4 * word + i] = static_cast<unsigned char>(pixel(picture, x, y - radius, width, height));
    }
  }
  if (threadIdx.y < 2 * radius) {
    // The last rows.
    unsigned char* const lower_line = line + blockDim.y * tile_pitch;
    const int lower_y = y + blockDim.y - radius;
    for (int word = threadIdx.x; word < tile_words + 2 * radius; word += blockDim.x) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int x = first_x + 4 * word - radius + i;
        lower_line[4 * word + i] = static_cast<unsigned char>(pixel(picture, x, lower_y, width, height));
      }
    }
  }
  __syncthreads();

  for (int word = threadIdx.x; word < tile_words; word += blockDim.x) {
    const unsigned char* const above = line + 4 * word;
    const unsigned char* const here = above + tile_pitch;
    const unsigned char* const below = here + tile_pitch;
    int a0 = above[0], a1 = above[1];
    int h0 = here[0], h1 = here[1];
    int b0 = below[0], b1 = below[1];
    unsigned char result[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int a2 = above[i + 2];
      const int h2 = here[i + 2];
      const int b2 = below[i + 2];
      result[i] = gradient(a0, a1, a2, h0, h2, b0, b1, b2, scale);
      a0 = a1, a1 = a2;
      h0 = h1, h1 = h2;
      b0 = b1, b1 = b2;
    }
    const int column = blockIdx.x * tile_words + word;
    if (column < width / 4 && y < height) {
      uchar4 four;
      four.x = result[0];
      four.y = result[1];
      four.z = result[2];
      four.w = result[3];
      edges[y * (width / 4) + column] = four;
    }
  }
}
