// SPDX-License-Identifier: Apache-2.0
//
// A picture is turned by a texture object on an array, with linear filtering between its pixels and a border that
// repeats the last pixel; then its grey values are mapped by a texture object on linear memory.
#include <algorithm>
#include <vector>

#include "check.h"

constexpr int levels = 64;

__global__ void turn(int width, int height, float cosine, float sine, cudaTextureObject_t picture, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float u = static_cast<float>(x - width / 2), v = static_cast<float>(y - height / 2);
  out[y * width + x] = tex2D<float>(picture, u * cosine - v * sine + static_cast<float>(width / 2) + 0.5f,
                                    u * sine + v * cosine + static_cast<float>(height / 2) + 0.5f);
}

__global__ void map_levels(int n, cudaTextureObject_t table, float* pixels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) pixels[i] = tex1Dfetch<float>(table, min(levels - 1, max(0, static_cast<int>(pixels[i] * levels))));
}

static float sample(const std::vector<float>& picture, int width, int height, double x, double y) {
  x -= 0.5;
  y -= 0.5;
  const int column = static_cast<int>(std::floor(x)), row = static_cast<int>(std::floor(y));
  const double right = x - column, below = y - row;
  const auto at = [&](int c, int r) {
    return static_cast<double>(
        picture[std::min(std::max(r, 0), height - 1) * width + std::min(std::max(c, 0), width - 1)]);
  };
  return static_cast<float>((1 - below) * ((1 - right) * at(column, row) + right * at(column + 1, row)) +
                            below * ((1 - right) * at(column, row + 1) + right * at(column + 1, row + 1)));
}

int main(int argc, char** argv) {
  const int width = size_argument(argc, argv, 96), height = width / 2 + 3, n = width * height;
  std::vector<float> picture(n), table(levels), turned(n), mapped(n);
  for (int i = 0; i < n; ++i) picture[i] = 0.5f + 0.45f * std::sin(0.1f * (i % width)) * std::cos(0.13f * (i / width));
  for (int l = 0; l < levels; ++l) table[l] = std::sqrt(static_cast<float>(l) / levels);

  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, width, height));
  const std::size_t row = width * sizeof(float);
  CHECK(cudaMemcpy2DToArray(array, 0, 0, picture.data(), row, row, height, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t picture_texture, table_texture;
  CHECK(cudaCreateTextureObject(&picture_texture, &resource, &how, nullptr));

  float *device_table, *pixels;
  CHECK(cudaMalloc(&device_table, levels * sizeof(float)));
  CHECK(cudaMalloc(&pixels, n * sizeof(float)));
  CHECK(cudaMemcpy(device_table, table.data(), levels * sizeof(float), cudaMemcpyHostToDevice));
  resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = device_table;
  resource.res.linear.desc = format;
  resource.res.linear.sizeInBytes = levels * sizeof(float);
  how = {};
  how.readMode = cudaReadModeElementType;
  CHECK(cudaCreateTextureObject(&table_texture, &resource, &how, nullptr));

  const float cosine = std::cos(0.3f), sine = std::sin(0.3f);
  const dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);
  turn<<<grid, block>>>(width, height, cosine, sine, picture_texture, pixels);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(turned.data(), pixels, n * sizeof(float), cudaMemcpyDeviceToHost));
  map_levels<<<(n + 127) / 128, 128>>>(n, table_texture, pixels);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(mapped.data(), pixels, n * sizeof(float), cudaMemcpyDeviceToHost));

  bool good = true;
  for (int i = 0; i < n; ++i) {
    const double u = i % width - width / 2, v = i / width - height / 2;
    const double x = u * cosine - v * sine + width / 2 + 0.5, y = u * sine + v * cosine + height / 2 + 0.5;
    // The hardware's weights have 8 bits: neighbours differ by at most 0.06.
    good = good && std::fabs(turned[i] - sample(picture, width, height, x, y)) < 0.06f / 128;
    good = good && mapped[i] == table[std::min(levels - 1, std::max(0, static_cast<int>(turned[i] * levels)))];
  }
  CHECK(cudaDestroyTextureObject(picture_texture));
  CHECK(cudaDestroyTextureObject(table_texture));
  CHECK(cudaFreeArray(array));
  CHECK(cudaFree(device_table));
  CHECK(cudaFree(pixels));
  return verdict("textures", good);
}
