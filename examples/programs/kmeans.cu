// SPDX-License-Identifier: Apache-2.0
//
// k-means: the device assigns points to centres that are in constant memory, the host moves the centres, until less
// than a tenth of a percent of the points change their centre.
#include <vector>

#include "check.h"

constexpr int features = 8, centres = 5;
__constant__ float constant_centres[centres][features];
__device__ unsigned moved;

/// Points lie feature by feature, so that neighbouring threads load neighbouring words.
__global__ void assign(int n, const float* points, int* membership) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool moves = false;
  if (i < n) {
    float least = 3.4e38f;
    int nearest = 0;
    for (int c = 0; c < centres; ++c) {
      float distance = 0;
      for (int f = 0; f < features; ++f) {
        const float d = points[f * n + i] - constant_centres[c][f];
        distance += d * d;
      }
      if (distance < least) {
        least = distance;
        nearest = c;
      }
    }
    moves = membership[i] != nearest;
    membership[i] = nearest;
  }
  const unsigned who = __ballot_sync(0xffffffffu, moves);
  if (threadIdx.x % 32 == 0 && who != 0) atomicAdd(&moved, __popc(who));
}

static int nearest_centre(const std::vector<float>& points, int n, int i, const float (&centre)[centres][features],
                          double& margin) {
  double least = 1e300, second = 1e300;
  int nearest = 0;
  for (int c = 0; c < centres; ++c) {
    double distance = 0;
    for (int f = 0; f < features; ++f) {
      const double d = static_cast<double>(points[f * n + i]) - centre[c][f];
      distance += d * d;
    }
    if (distance < least) {
      second = least;
      least = distance;
      nearest = c;
    } else if (distance < second) {
      second = distance;
    }
  }
  margin = second - least;
  return nearest;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 6000), threads = 128;
  std::vector<float> points(n * features);
  Random random(3);
  for (int i = 0; i < n; ++i) {
    const int cluster = random.below(centres);
    for (int f = 0; f < features; ++f) {
      points[f * n + i] = static_cast<float>((cluster * 7 + f * 3) % 5) + 1.5f * (random.uniform() + random.uniform());
    }
  }
  float* device_points;
  int* device_membership;
  CHECK(cudaMalloc(&device_points, points.size() * sizeof(float)));
  CHECK(cudaMalloc(&device_membership, n * sizeof(int)));
  CHECK(cudaMemcpy(device_points, points.data(), points.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(device_membership, 0xff, n * sizeof(int)));

  float centre[centres][features];
  for (int c = 0; c < centres; ++c) {
    for (int f = 0; f < features; ++f) centre[c][f] = points[f * n + c];
  }
  std::vector<int> membership(n);
  bool good = true;
  int rounds = 0;
  unsigned moves = n;
  while (good && moves > n / 1000u && rounds < 20) {
    moves = 0;
    CHECK(cudaMemcpyToSymbol(constant_centres, centre, sizeof centre));
    CHECK(cudaMemcpyToSymbol(moved, &moves, sizeof moves));
    assign<<<(n + threads - 1) / threads, threads>>>(n, device_points, device_membership);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyFromSymbol(&moves, moved, sizeof moves));
    CHECK(cudaMemcpy(membership.data(), device_membership, n * sizeof(int), cudaMemcpyDeviceToHost));
    double sums[centres][features] = {};
    int members[centres] = {};
    for (int i = 0; i < n; ++i) {
      double margin = 0;
      // Of two centres that are equally near, the device may take the other one.
      if (membership[i] != nearest_centre(points, n, i, centre, margin) && margin > 1e-3) good = false;
      if (membership[i] < 0 || membership[i] >= centres) return verdict("kmeans", false);
      ++members[membership[i]];
      for (int f = 0; f < features; ++f) sums[membership[i]][f] += points[f * n + i];
    }
    for (int c = 0; c < centres; ++c) {
      for (int f = 0; f < features && members[c] > 0; ++f) centre[c][f] = static_cast<float>(sums[c][f] / members[c]);
    }
    ++rounds;
  }
  std::printf("%d rounds\n", rounds);
  CHECK(cudaFree(device_points));
  CHECK(cudaFree(device_membership));
  return verdict("kmeans", good && rounds > 1);
}
