// SPDX-License-Identifier: Apache-2.0
//
// Heat on a chip: five-point relaxation on pitched rows, ping and pong, until the largest change is small.
#include <utility>
#include <vector>

#include "check.h"

struct Field {
  float* cells;
  std::size_t pitch;  ///< bytes from a row to the next
  __device__ float* row(int y) const { return reinterpret_cast<float*>(reinterpret_cast<char*>(cells) + y * pitch); }
};

/// A CTA has 16 x 16 cells and a rim in shared memory. `change` is the largest one, as the bits of a positive number.
__global__ void relax(int width, int height, Field in, Field power, Field out, int* change) {
  __shared__ float tile[18][18];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int cx = min(x, width - 1), cy = min(y, height - 1);
  tile[ty][tx] = in.row(cy)[cx];
  if (threadIdx.x == 0) tile[ty][0] = in.row(cy)[max(cx - 1, 0)];
  if (threadIdx.x == 15) tile[ty][17] = in.row(cy)[min(x + 1, width - 1)];
  if (threadIdx.y == 0) tile[0][tx] = in.row(max(cy - 1, 0))[cx];
  if (threadIdx.y == 15) tile[17][tx] = in.row(min(y + 1, height - 1))[cx];
  __syncthreads();
  float difference = 0;
  if (x < width && y < height) {
    const float old = tile[ty][tx];
    const float right = x + 1 < width ? tile[ty][tx + 1] : old, below = y + 1 < height ? tile[ty + 1][tx] : old;
    const float next = 0.2f * (old + right + below + tile[ty][tx - 1] + tile[ty - 1][tx]) + power.row(y)[x];
    out.row(y)[x] = next;
    difference = fabsf(next - old);
  }
  const bool any = __syncthreads_or(difference > 0);
  if (any) atomicMax(change, __float_as_int(difference));
}

static void relax_on_host(int w, int h, const std::vector<float>& in, const std::vector<float>& power,
                          std::vector<float>& out) {
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      const auto at = [&](int column, int row) {
        column = column < 0 ? 0 : (column < w ? column : w - 1);
        row = row < 0 ? 0 : (row < h ? row : h - 1);
        return in[row * w + column];
      };
      out[y * w + x] = 0.2f * (at(x, y) + at(x + 1, y) + at(x, y + 1) + at(x - 1, y) + at(x, y - 1)) + power[y * w + x];
    }
  }
}

int main(int argc, char** argv) {
  const int width = size_argument(argc, argv, 90), height = width * 2 / 3 + 1;
  std::vector<float> cells(width * height, 0.0f), power(width * height, 0.0f);
  Random random(5);
  for (float& f : cells) f = random.uniform();
  for (int i = 0; i < width; ++i) power[random.below(width * height)] = 0.002f;

  Field in, out, heat;
  const std::size_t row = width * sizeof(float);
  for (Field* f : {&in, &out, &heat}) {
    CHECK(cudaMallocPitch(reinterpret_cast<void**>(&f->cells), &f->pitch, row, height));
  }
  CHECK(cudaMemcpy2D(in.cells, in.pitch, cells.data(), row, row, height, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2D(heat.cells, heat.pitch, power.data(), row, row, height, cudaMemcpyHostToDevice));
  CHECK(cudaMemset2D(out.cells, out.pitch, 0, row, height));
  int* device_change;
  CHECK(cudaMalloc(&device_change, sizeof(int)));

  std::vector<float> expected = cells, next(cells.size());
  const dim3 grid((width + 15) / 16, (height + 15) / 16), block(16, 16);
  int steps = 0;
  float change = 1;
  while (change > 0.02f && steps < 200) {
    CHECK(cudaMemset(device_change, 0, sizeof(int)));
    relax<<<grid, block>>>(width, height, in, heat, out, device_change);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&change, device_change, sizeof change, cudaMemcpyDeviceToHost));
    std::swap(in, out);
    relax_on_host(width, height, expected, power, next);
    expected.swap(next);
    ++steps;
  }
  std::printf("%d steps, last change %g\n", steps, change);
  CHECK(cudaMemcpy2D(cells.data(), row, in.cells, in.pitch, row, height, cudaMemcpyDeviceToHost));
  bool good = change <= 0.02f && steps > 3;
  for (std::size_t i = 0; i < cells.size(); ++i) good = good && is_close(cells[i], expected[i]);
  for (Field* f : {&in, &out, &heat}) CHECK(cudaFree(f->cells));
  CHECK(cudaFree(device_change));
  return verdict("hotspot", good);
}
