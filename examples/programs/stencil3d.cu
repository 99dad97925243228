// SPDX-License-Identifier: Apache-2.0
//
// Seven-point stencil on a box: cudaMalloc3D and cudaMemcpy3D, rows at a pitch, a column of cells in registers. A part
// of the box is copied out by itself.
#include <utility>
#include <vector>

#include "check.h"

/// A thread walks along z; cells of the box's faces stay as they are.
__global__ void stencil(cudaExtent size, cudaPitchedPtr in, cudaPitchedPtr out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int width = static_cast<int>(size.width), height = static_cast<int>(size.height);
  const int depth = static_cast<int>(size.depth);
  if (x >= width || y >= height) return;
  const std::size_t pitch = in.pitch / sizeof(float), slice = pitch * height;
  const float* from = static_cast<const float*>(in.ptr) + y * pitch + x;
  float* to = static_cast<float*>(out.ptr) + y * pitch + x;
  const bool face = x == 0 || y == 0 || x == width - 1 || y == height - 1;
  float behind = 0, here = from[0], ahead = depth > 1 ? from[slice] : 0;
  for (int z = 0; z < depth; ++z) {
    if (face || z == 0 || z == depth - 1) {
      to[z * slice] = here;
    } else {
      const float* c = from + z * slice;
      to[z * slice] = 0.4f * here + 0.1f * (behind + ahead + c[-1] + c[1] + c[-static_cast<int>(pitch)] + c[pitch]);
    }
    behind = here;
    here = ahead;
    if (z + 2 < depth) ahead = from[(z + 2) * slice];
  }
}

int main(int argc, char** argv) {
  const int w = size_argument(argc, argv, 45), h = w * 2 / 3 + 2, d = w / 2 + 3, steps = 3;
  std::vector<float> box(w * h * d), expected, next;
  Random random(18);
  for (float& f : box) f = random.uniform();
  expected = next = box;
  for (int s = 0; s < steps; ++s) {
    for (int z = 1; z < d - 1; ++z) {
      for (int y = 1; y < h - 1; ++y) {
        for (int x = 1; x < w - 1; ++x) {
          const int i = (z * h + y) * w + x;
          const float* c = &expected[i];
          next[i] = 0.4f * c[0] + 0.1f * (c[-w * h] + c[w * h] + c[-1] + c[1] + c[-w] + c[w]);
        }
      }
    }
    expected.swap(next);
  }

  const cudaExtent size = make_cudaExtent(w, h, d), bytes = make_cudaExtent(w * sizeof(float), h, d);
  cudaPitchedPtr in, out;
  CHECK(cudaMalloc3D(&in, bytes));
  CHECK(cudaMalloc3D(&out, bytes));
  CHECK(cudaMemset3D(out, 0, bytes));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(box.data(), w * sizeof(float), w, h);
  copy.dstPtr = in;
  copy.extent = bytes;
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  const dim3 block(32, 4), grid((w + 31) / 32, (h + 3) / 4);
  for (int s = 0; s < steps; ++s) {
    stencil<<<grid, block>>>(size, in, out);
    CHECK(cudaGetLastError());
    std::swap(in, out);
  }
  copy = {};
  copy.srcPtr = in;
  copy.dstPtr = make_cudaPitchedPtr(box.data(), w * sizeof(float), w, h);
  copy.extent = bytes;
  copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));

  // The middle half of the box, alone.
  const int px = w / 4, py = h / 4, pz = d / 4, pw = w / 2, ph = h / 2, pd = d / 2;
  std::vector<float> part(pw * ph * pd);
  copy.srcPos = make_cudaPos(px * sizeof(float), py, pz);
  copy.dstPtr = make_cudaPitchedPtr(part.data(), pw * sizeof(float), pw, ph);
  copy.extent = make_cudaExtent(pw * sizeof(float), ph, pd);
  CHECK(cudaMemcpy3D(&copy));

  bool good = true;
  for (std::size_t i = 0; i < box.size(); ++i) good = good && is_close(box[i], expected[i]);
  for (int z = 0; z < pd; ++z) {
    for (int y = 0; y < ph; ++y) {
      for (int x = 0; x < pw; ++x) {
        good = good && part[(z * ph + y) * pw + x] == box[((z + pz) * h + y + py) * w + x + px];
      }
    }
  }
  CHECK(cudaFree(in.ptr));
  CHECK(cudaFree(out.ptr));
  return verdict("stencil3d", good);
}
