// SPDX-License-Identifier: Apache-2.0
//
// A separable convolution of a picture: rows, then columns. The taps are in constant memory, the radius is a template
// parameter, and one kernel does both directions.
#include <vector>

#include "check.h"

constexpr int largest_radius = 8;
__constant__ float taps[2 * largest_radius + 1];

/// A CTA filters 128 pixels along the direction (and 2 lines of them), with a rim of Radius at both ends.
template <int Radius, bool Columns>
__global__ void filter(int width, int height, const float* in, float* out) {
  __shared__ float line[2][128 + 2 * Radius];
  const int length = Columns ? height : width, lines = Columns ? width : height;
  const int along = blockIdx.x * 128, across = blockIdx.y * 2 + threadIdx.y;
  const int step = Columns ? width : 1, start = Columns ? across : across * width;
  for (int i = threadIdx.x; i < 128 + 2 * Radius; i += 128) {
    const int at = along + i - Radius;
    line[threadIdx.y][i] = across < lines && at >= 0 && at < length ? in[start + at * step] : 0;
  }
  __syncthreads();
  const int at = along + threadIdx.x;
  if (across >= lines || at >= length) return;
  float sum = 0;
#pragma unroll
  for (int k = -Radius; k <= Radius; ++k) sum += taps[k + Radius] * line[threadIdx.y][threadIdx.x + k + Radius];
  out[start + at * step] = sum;
}

template <int Radius>
static bool run(int width, int height, const std::vector<float>& picture) {
  std::vector<float> weights(2 * Radius + 1), rows(picture.size()), expected(picture.size()), result(picture.size());
  for (int k = -Radius; k <= Radius; ++k) weights[k + Radius] = 1.0f / static_cast<float>(1 + k * k);
  for (int direction = 0; direction < 2; ++direction) {
    const std::vector<float>& from = direction == 0 ? picture : rows;
    std::vector<float>& to = direction == 0 ? rows : expected;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        double sum = 0;
        for (int k = -Radius; k <= Radius; ++k) {
          const int u = direction == 0 ? x + k : x, v = direction == 0 ? y : y + k;
          if (u >= 0 && u < width && v >= 0 && v < height) sum += weights[k + Radius] * from[v * width + u];
        }
        to[y * width + x] = static_cast<float>(sum);
      }
    }
  }

  const std::size_t bytes = picture.size() * sizeof(float);
  float *a, *b;
  CHECK(cudaMalloc(&a, bytes));
  CHECK(cudaMalloc(&b, bytes));
  CHECK(cudaMemcpy(a, picture.data(), bytes, cudaMemcpyHostToDevice));
  // The taps of a smaller radius stand behind an offset of zero and leave the rest as it is.
  CHECK(cudaMemcpyToSymbol(taps, weights.data(), weights.size() * sizeof(float), 0, cudaMemcpyHostToDevice));
  const dim3 block(128, 2);
  filter<Radius, false><<<dim3((width + 127) / 128, (height + 1) / 2), block>>>(width, height, a, b);
  filter<Radius, true><<<dim3((height + 127) / 128, (width + 1) / 2), block>>>(width, height, b, a);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(result.data(), a, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  bool good = true;
  for (std::size_t i = 0; i < result.size(); ++i) good = good && is_close(result[i], expected[i]);
  return good;
}

int main(int argc, char** argv) {
  const int width = size_argument(argc, argv, 150), height = width * 3 / 4 + 1;
  std::vector<float> picture(width * height);
  Random random(17);
  for (float& f : picture) f = random.uniform();
  bool good = run<3>(width, height, picture);
  good = run<8>(width, height, picture) && good;
  std::size_t bytes = 0;
  CHECK(cudaGetSymbolSize(&bytes, taps));
  return verdict("convolution", good && bytes == sizeof(float) * (2 * largest_radius + 1));
}
