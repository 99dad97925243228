// SPDX-License-Identifier: Apache-2.0
//
// Bellman and Ford's shortest paths: a thread an edge. The flag that ends the host's loop is host memory that the
// device sees (mapped): the host reads it after a synchronisation, without a copy.
#include <vector>

#include "check.h"

struct Edge {
  int from, to, length;
};

__global__ void relax(int count, const Edge* edges, int* distance, volatile int* changed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Edge e = edges[i];
  const int begin = distance[e.from];
  if (begin == 0x7fffffff) return;
  const int length = begin + e.length;
  if (length < distance[e.to] && atomicMin(&distance[e.to], length) > length) *changed = 1;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 3000), count = 6 * n, threads = 192;
  std::vector<Edge> edges(count);
  Random random(11);
  for (Edge& e : edges) e = {random.below(n), random.below(n), 1 + random.below(1000)};
  for (int i = 0; i + 1 < n && i < 16; ++i) edges[i] = {i, i + 1, 5};

  std::vector<int> expected(n, 0x7fffffff), result(n, 0x7fffffff);
  expected[0] = result[0] = 0;
  for (bool again = true; again;) {
    again = false;
    for (const Edge& e : edges) {
      if (expected[e.from] == 0x7fffffff || expected[e.from] + e.length >= expected[e.to]) continue;
      expected[e.to] = expected[e.from] + e.length;
      again = true;
    }
  }

  CHECK(cudaSetDeviceFlags(cudaDeviceMapHost));
  int *changed, *device_changed;
  CHECK(cudaHostAlloc(reinterpret_cast<void**>(&changed), sizeof(int), cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(reinterpret_cast<void**>(&device_changed), changed, 0));
  Edge* device_edges;
  int* distance;
  CHECK(cudaMalloc(&device_edges, count * sizeof(Edge)));
  CHECK(cudaMalloc(&distance, n * sizeof(int)));
  CHECK(cudaMemcpy(device_edges, edges.data(), count * sizeof(Edge), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(distance, result.data(), n * sizeof(int), cudaMemcpyHostToDevice));

  int rounds = 0;
  do {
    *changed = 0;
    relax<<<(count + threads - 1) / threads, threads>>>(count, device_edges, distance, device_changed);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    ++rounds;
  } while (*static_cast<volatile int*>(changed) != 0);
  std::printf("%d rounds\n", rounds);
  CHECK(cudaMemcpy(result.data(), distance, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_edges));
  CHECK(cudaFree(distance));
  CHECK(cudaFreeHost(changed));
  return verdict("shortest_paths", result == expected && rounds > 2);
}
