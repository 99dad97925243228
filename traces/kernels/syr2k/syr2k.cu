// SPDX-License-Identifier: Apache-2.0
//
// Symmetric rank-2k update: C = alpha (A B^T + B A^T) + beta C, with A and B of `size` x `depth` and the whole of C of
// `size` x `size`, row by row. One launch; a thread has one element of C, threads along x have one row of it. It adds
// up in global memory: the pointers may alias, so every term is stored.

extern "C" __global__ void syr2k(const float* a, const float* b, float* c, int size, int depth, float alpha,
                                 float beta) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= size || column >= size) return;
  c[row * size + column] *= beta;
  for (int k = 0; k < depth; ++k) {
    const float ab = (alpha * a[row * depth + k]) * b[column * depth + k];
    c[row * size + column] += fmaf(alpha * b[row * depth + k], a[column * depth + k], ab);
  }
}
