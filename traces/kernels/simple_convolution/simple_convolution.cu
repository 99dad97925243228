// SPDX-License-Identifier: Apache-2.0
//
// A picture of integers convolved with a mask of floats, without shared memory: each thread adds up the whole mask
// around its pixel. At the picture's border the mask is cut off. The host launches one thread a pixel in blocks of 256
// threads along one dimension.

extern "C" __global__ void simple_convolution(unsigned* __restrict__ output, const unsigned* __restrict__ input,
                                              const float* __restrict__ mask, int width, int height, int mask_width,
                                              int mask_height) {
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= width * height) return;
  const int x = pixel % width;
  const int y = pixel / width;
  const int reach_x = (mask_width - 1) / 2;
  const int reach_y = (mask_height - 1) / 2;
  const int left = max(x - reach_x, 0);
  const int right = min(x + reach_x, width - 1);
  const int top = max(y - reach_y, 0);
  const int bottom = min(y + reach_y, height - 1);

  float sum = 0.0f;
  for (int column = left; column <= right; ++column) {
    for (int row = top; row <= bottom; ++row) {
      const int tap = (row - (y - reach_y)) * mask_width + column - (x - reach_x);
      sum = fmaf(static_cast<float>(input[row * width + column]), mask[tap], sum);
    }
  }
  output[pixel] = static_cast<unsigned>(sum + 0.5f);
}
