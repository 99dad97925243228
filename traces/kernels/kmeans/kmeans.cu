// SPDX-License-Identifier: Apache-2.0
//
// A round of k-means clustering (as in Rodinia's kmeans): the nearest of a few centres for every point. The host
// launches transpose once, then assign for every round, and computes new centres from the result. The centres are in
// constant memory, one after the other. The grid of assign is a square of CTAs, of which the last may have no points.

namespace {
constexpr int threads = 256;
constexpr int max_centres = 32;
constexpr int max_features = 34;
}  // namespace

__constant__ float centres[max_centres * max_features];

/// From the features of one point after the other to one feature of all points after the other.
extern "C" __global__ void __launch_bounds__(threads)
    kmeans_transpose(const float* __restrict__ input, float* __restrict__ output, int points, int features) {
  const int point = threads * blockIdx.x + threadIdx.x;
  if (point < points) {
    for (int i = 0; i < features; ++i) output[point + points * i] = input[point * features + i];
  }
}

/// The number of the nearest centre, the first of several.
extern "C" __global__ void __launch_bounds__(threads)
    kmeans_assign(const float* __restrict__ feature, int features, int points, int centre_count,
                  int* __restrict__ membership) {
  const int cta = gridDim.x * blockIdx.y + blockIdx.x;
  const int point = cta * threads + threadIdx.x;
  int nearest = -1;
  if (point < points) {
    float least = 3.40282347e+38f;
    for (int centre = 0; centre < centre_count; ++centre) {
      const int base = centre * features;
      float distance = 0.0f;
      for (int i = 0; i < features; ++i) {
        const float difference = feature[point + i * points] - centres[base + i];
        distance = fmaf(difference, difference, distance);
      }
      if (distance < least) {
        least = distance;
        nearest = centre;
      }
    }
  }
  if (point < points) membership[point] = nearest;
}
