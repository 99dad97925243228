// SPDX-License-Identifier: Apache-2.0
//
// Breadth-first search over a graph in compressed rows, level by level: node i has degree[i] edges from
// edges[first_edge[i]] on, each given as the distance to its other end, as meshes and road networks are stored when
// neighbours have near numbers; an edge that leads out of the graph does not count. One thread per node; the host runs bfs_expand and
// bfs_commit until a commit has left `changed` at zero. Expansion only reads `visited` and commitment only writes it,
// so the levels do not depend on the order in which threads run.

/// Empties the frontier and puts the source in it. Levels of unreached nodes are -1.
extern "C" __global__ void bfs_init(int* __restrict__ level, int* __restrict__ frontier, int* __restrict__ visited,
                                    int* __restrict__ reached, int nodes, int source) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= nodes) return;
  const int is_source = node == source ? 1 : 0;
  level[node] = is_source - 1;
  frontier[node] = is_source;
  visited[node] = is_source;
  reached[node] = 0;
}

/// Every node of the frontier marks its unvisited neighbours as reached, one level further than itself.
extern "C" __global__ void bfs_expand(const int* __restrict__ first_edge, const int* __restrict__ degree,
                                      const int* __restrict__ edges, int* __restrict__ level,
                                      int* __restrict__ frontier, const int* __restrict__ visited,
                                      int* __restrict__ reached, int nodes) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= nodes || frontier[node] == 0) return;
  frontier[node] = 0;
  const int next = level[node] + 1;
  const int first = first_edge[node];
  const int last = first + degree[node];
  for (int edge = first; edge < last; ++edge) {
    const int neighbour = node + edges[edge];
    if (neighbour < 0 || neighbour >= nodes) continue;
    if (visited[neighbour] == 0) {
      level[neighbour] = next;
      reached[neighbour] = 1;
    }
  }
}

/// The reached nodes become the frontier.
extern "C" __global__ void bfs_commit(int* __restrict__ frontier, int* __restrict__ visited, int* __restrict__ reached,
                                      int* __restrict__ changed, int nodes) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= nodes || reached[node] == 0) return;
  reached[node] = 0;
  frontier[node] = 1;
  visited[node] = 1;
  *changed = 1;
}
