// SPDX-License-Identifier: Apache-2.0
//
// Levels of a breadth-first search: a launch a level, until a variable of the device says that nothing changed.
#include <queue>
#include <vector>

#include "check.h"

struct Node {
  int first;  ///< of its edges
  int edges;
};

__device__ int changed;

/// A thread is a node: those of the current level reach their neighbours.
__global__ void expand(int n, const Node* nodes, const int* edges, int level, int* levels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || levels[i] != level) return;
  const Node node = nodes[i];
  for (int e = node.first; e < node.first + node.edges; ++e) {
    if (atomicCAS(&levels[edges[e]], -1, level + 1) == -1) changed = 1;
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 20000), threads = 256;
  std::vector<Node> nodes(n);
  std::vector<int> edges;
  Random random(7);
  for (Node& node : nodes) {
    node.first = static_cast<int>(edges.size());
    node.edges = random.below(7);
    for (int e = 0; e < node.edges; ++e) edges.push_back(random.below(n));
  }
  nodes[0].first = static_cast<int>(edges.size());
  nodes[0].edges = 5;
  for (int e = 0; e < 5; ++e) edges.push_back(random.below(n));

  std::vector<int> expected(n, -1), levels(n, -1);
  std::queue<int> open;
  expected[0] = levels[0] = 0;
  for (open.push(0); !open.empty(); open.pop()) {
    const Node& node = nodes[open.front()];
    for (int e = node.first; e < node.first + node.edges; ++e) {
      if (expected[edges[e]] >= 0) continue;
      expected[edges[e]] = expected[open.front()] + 1;
      open.push(edges[e]);
    }
  }

  Node* device_nodes;
  int *device_edges, *device_levels;
  CHECK(cudaMalloc(&device_nodes, n * sizeof(Node)));
  CHECK(cudaMalloc(&device_edges, edges.size() * sizeof(int)));
  CHECK(cudaMalloc(&device_levels, n * sizeof(int)));
  CHECK(cudaMemcpy(device_nodes, nodes.data(), n * sizeof(Node), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device_edges, edges.data(), edges.size() * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device_levels, levels.data(), n * sizeof(int), cudaMemcpyHostToDevice));

  int level = 0, again = 1;
  for (; again != 0; ++level) {
    again = 0;
    CHECK(cudaMemcpyToSymbol(changed, &again, sizeof again));
    expand<<<(n + threads - 1) / threads, threads>>>(n, device_nodes, device_edges, level, device_levels);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyFromSymbol(&again, changed, sizeof again));
  }
  CHECK(cudaMemcpy(levels.data(), device_levels, n * sizeof(int), cudaMemcpyDeviceToHost));
  std::printf("%d levels\n", level);
  CHECK(cudaFree(device_nodes));
  CHECK(cudaFree(device_edges));
  CHECK(cudaFree(device_levels));
  return verdict("bfs", levels == expected);
}
