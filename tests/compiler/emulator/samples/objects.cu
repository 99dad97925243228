// SPDX-License-Identifier: Apache-2.0
//
// Objects with virtual functions on the heap, functions in tables, and trees that functions of two classes walk down:
//   nvcc -arch=compute_75 -ptx objects.cu -o objects.sm75.ptx
//   nvcc -G -arch=compute_75 -ptx objects.cu -o objects.debug.sm75.ptx   (source paths and debug sections removed)
struct Shape {
  __device__ explicit Shape(unsigned size) : size(size) {}
  __device__ virtual ~Shape() {}
  __device__ virtual unsigned area(unsigned scale) const = 0;
  unsigned size;
};

struct Square : Shape {
  __device__ explicit Square(unsigned size) : Shape(size) {}
  __device__ unsigned area(unsigned scale) const override { return size * size * scale; }
};

struct Frame : Shape {
  __device__ Frame(unsigned size, unsigned hole) : Shape(size), hole(hole) {}
  __device__ ~Frame() override { hole = 0; }
  __device__ unsigned area(unsigned scale) const override { return (size * size - hole * hole) * scale; }
  unsigned hole;
};

struct Pile : Shape {
  __device__ Pile(Shape* below, Shape* above) : Shape(0), below(below), above(above) {}
  __device__ ~Pile() override {
    delete below;
    delete above;
  }
  __device__ unsigned area(unsigned scale) const override { return below->area(scale) + 3 * above->area(scale + 1); }
  Shape* below;
  Shape* above;
};

/// A pile of `height` levels.
__device__ __noinline__ Shape* build(unsigned height, unsigned size) {
  if (height == 0) return size % 2 == 0 ? static_cast<Shape*>(new Square(size)) : new Frame(size, size / 2);
  return new Pile(build(height - 1, size + 1), build(height - 1 - (size % 2 & (height > 1)), 2 * size));
}

__device__ __noinline__ unsigned double_of(unsigned x) { return 2 * x; }
__device__ __noinline__ unsigned square_of(unsigned x) { return x * x; }
__device__ __noinline__ unsigned next_of(unsigned x) { return x + 1; }
using Function = unsigned (*)(unsigned);
__device__ Function in_global[3] = {double_of, square_of, next_of};
__constant__ Function in_constant[2] = {next_of, double_of};

extern "C" __global__ void piles(Shape** shapes, unsigned* areas) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  shapes[i] = build(i % 4, i);
  areas[i] = shapes[i]->area(1);
}

extern "C" __global__ void again(Shape** shapes, unsigned* areas) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  areas[i] = shapes[i]->area(2);
  delete shapes[i];
}

extern "C" __global__ void tables(unsigned* values) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  values[i] = in_constant[i / 3 % 2](in_global[i % 3](i));
}
