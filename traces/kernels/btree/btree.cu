// SPDX-License-Identifier: Apache-2.0
//
// Searches in a B+ tree of order 508. One CTA of 508 threads answers one query: on every level each thread compares the
// query with one key of the node, and the thread whose interval contains it says which child is next. The host launches
// build for every level of the tree, then find for single keys and find_range for pairs of them.

namespace {
constexpr int order = 508;  // most children of a node, and threads of a search
constexpr int highest = 0x7fffffff;
constexpr int lowest = -highest - 1;
}  // namespace

/// Entry i of an inner node is the child with the keys from keys[i] up to below keys[i + 1]. Entry i of a leaf is the
/// record with keys[i]. Keys ascend; those that are not used are `highest`.
struct Node {
  int location;
  int indices[order + 1];
  int keys[order + 1];
  int is_leaf;
  int entries;
};

/// Makes `gridDim.x` nodes of one level from sorted record keys, as insertion in ascending order leaves them: partly
/// filled. Node i becomes nodes[first_node + i], its children nodes[first_child + fill * i] and those after it. An
/// entry of this level leads to `below` records; it is 1 for leaves.
extern "C" __global__ void btree_build(const int* __restrict__ record_keys, Node* __restrict__ nodes, int records,
                                       int fill, int first_node, int first_child, int below) {
  Node& node = nodes[first_node + blockIdx.x];
  const int first_entry = blockIdx.x * fill;
  const int entries = min(fill, (records + below - 1) / below - first_entry);
  for (int i = threadIdx.x; i <= order; i += blockDim.x) {
    int key = highest;
    int index = 0;
    if (i < entries) {
      index = first_child + first_entry + i;
      // The first key of an inner node bounds nothing.
      key = below > 1 && i == 0 ? lowest : record_keys[(first_entry + i) * below];
    }
    node.keys[i] = key;
    node.indices[i] = index;
  }
  if (threadIdx.x == 0) {
    node.location = first_node + blockIdx.x;
    node.is_leaf = below == 1;
    node.entries = entries;
  }
}

/// The value of the record with key queries[b], for CTA b. `height` levels lie above the leaves. `current` and `next`
/// are 0 (the root) at first; `answers` keep what they hold when there is no such record.
extern "C" __global__ void __launch_bounds__(order)
    btree_find(int height, const Node* __restrict__ nodes, long long node_count, const int* __restrict__ values,
               long long* current, long long* next, const int* __restrict__ queries, int* __restrict__ answers) {
  const int thread = threadIdx.x;
  const int query = blockIdx.x;

  for (int level = 0; level < height; ++level) {
    if (nodes[current[query]].keys[thread] <= queries[query] &&
        nodes[current[query]].keys[thread + 1] > queries[query]) {
      if (nodes[next[query]].indices[thread] < node_count) next[query] = nodes[next[query]].indices[thread];
    }
    __syncthreads();
    if (thread == 0) current[query] = next[query];
    __syncthreads();
  }

  if (nodes[current[query]].keys[thread] == queries[query])
    answers[query] = values[nodes[current[query]].indices[thread]];
}

/// The number of the record with key starts[b], and how many records there are from it to the one with key ends[b]. Two
/// descents side by side.
extern "C" __global__ void __launch_bounds__(order)
    btree_find_range(int height, const Node* __restrict__ nodes, long long node_count, long long* current,
                     long long* next, long long* last_current, long long* last_next, const int* __restrict__ starts,
                     const int* __restrict__ ends, int* first_record, int* lengths) {
  const int thread = threadIdx.x;
  const int query = blockIdx.x;

  for (int level = 0; level < height; ++level) {
    if (nodes[current[query]].keys[thread] <= starts[query] && nodes[current[query]].keys[thread + 1] > starts[query]) {
      if (nodes[current[query]].indices[thread] < node_count) next[query] = nodes[current[query]].indices[thread];
    }
    if (nodes[last_current[query]].keys[thread] <= ends[query] &&
        nodes[last_current[query]].keys[thread + 1] > ends[query]) {
      if (nodes[last_current[query]].indices[thread] < node_count)
        last_next[query] = nodes[last_current[query]].indices[thread];
    }
    __syncthreads();
    if (thread == 0) {
      current[query] = next[query];
      last_current[query] = last_next[query];
    }
    __syncthreads();
  }

  if (nodes[current[query]].keys[thread] == starts[query]) first_record[query] = nodes[current[query]].indices[thread];
  __syncthreads();
  if (nodes[last_current[query]].keys[thread] == ends[query])
    lengths[query] = nodes[last_current[query]].indices[thread] - first_record[query] + 1;
}
