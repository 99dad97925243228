// SPDX-License-Identifier: Apache-2.0
//
// Longest matches of every suffix of many short reads in a circular genome, as MUMmerGPU finds them: a thread walks a
// read down the genome's suffix tree symbol by symbol; from a mismatch it follows the suffix link of the last node that
// matched to that node's place for the read's next suffix, from where it skips over what is known to match.
//
// MUMmerGPU's host builds the tree. Here kernels do, since a launch file cannot describe one: `keys` packs the 32
// symbols from every position, `sort_tiles`, `sort_step` and `sort_merge` sort them (bitonic, 256 keys in shared
// memory), `tree` makes a binary radix tree of the sorted keys (Karras 2012), `children` takes two of its levels as one
// level of four children, `links` finds suffix links. `reads` copies reads from the genome and puts errors in. Then the
// host launches `suffix_match`. The tree ends at 32 symbols; no read is longer. A symbol's code is bits 1 and 2 of its
// ASCII code.

namespace {
constexpr int key_symbols = 32;  // of a key, and a read's most
constexpr int tile = 256;        // keys that a CTA sorts
constexpr int tile_threads = tile / 2;
constexpr int match_threads = 256;
using Key = unsigned long long;

__device__ __forceinline__ unsigned code(unsigned char symbol) { return (symbol >> 1) & 3u; }

/// Compares and exchanges elements `low` and `high`; equal keys are in the order of their positions.
__device__ __forceinline__ void compare_exchange(Key* keys, int* positions, int low, int high, bool ascending) {
  const Key a = keys[low];
  const Key b = keys[high];
  const int p = positions[low];
  const int q = positions[high];
  const bool greater = a > b || (a == b && p > q);
  if (greater == ascending) {
    keys[low] = b;
    keys[high] = a;
    positions[low] = q;
    positions[high] = p;
  }
}

/// The passes of stage `size` of a bitonic sort whose partners are in one tile, in shared memory.
__device__ __forceinline__ void merge_tile(Key* keys, int* positions, int first, int size) {
  for (int distance = min(size, tile) / 2; distance > 0; distance /= 2) {
    __syncthreads();
    const int t = threadIdx.x;
    const int low = 2 * t - (t & (distance - 1));
    compare_exchange(keys, positions, low, low + distance, ((first + low) & size) == 0);
  }
}
}  // namespace

/// The 32 symbols from every position, the first in the highest bits. Elements beyond the genome sort behind all.
extern "C" __global__ void suffix_match_keys(const unsigned char* __restrict__ genome, Key* __restrict__ keys,
                                             int* __restrict__ positions, int length, int padded) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= padded) return;
  Key key = ~0ull;
  if (i < length) {
    int at = i;
    for (int k = 0; k < key_symbols; ++k) {
      key = key << 2 | code(genome[at]);
      at = at + 1 < length ? at + 1 : 0;
    }
  }
  keys[i] = key;
  positions[i] = i;
}

extern "C" __global__ void __launch_bounds__(tile_threads)
    suffix_match_sort_tiles(Key* __restrict__ keys, int* __restrict__ positions) {
  __shared__ Key tile_keys[tile];
  __shared__ int tile_positions[tile];
  const int first = blockIdx.x * tile;
  for (int i = threadIdx.x; i < tile; i += tile_threads) {
    tile_keys[i] = keys[first + i];
    tile_positions[i] = positions[first + i];
  }
  for (int size = 2; size <= tile; size *= 2) merge_tile(tile_keys, tile_positions, first, size);
  __syncthreads();
  for (int i = threadIdx.x; i < tile; i += tile_threads) {
    keys[first + i] = tile_keys[i];
    positions[first + i] = tile_positions[i];
  }
}

/// One pass whose partners, `distance` apart, are in different tiles.
extern "C" __global__ void suffix_match_sort_step(Key* __restrict__ keys, int* __restrict__ positions, int size,
                                                  int distance) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int low = 2 * t - (t & (distance - 1));
  compare_exchange(keys, positions, low, low + distance, (low & size) == 0);
}

/// The remaining passes of a stage.
extern "C" __global__ void __launch_bounds__(tile_threads)
    suffix_match_sort_merge(Key* __restrict__ keys, int* __restrict__ positions, int size) {
  __shared__ Key tile_keys[tile];
  __shared__ int tile_positions[tile];
  const int first = blockIdx.x * tile;
  for (int i = threadIdx.x; i < tile; i += tile_threads) {
    tile_keys[i] = keys[first + i];
    tile_positions[i] = positions[first + i];
  }
  merge_tile(tile_keys, tile_positions, first, size);
  __syncthreads();
  for (int i = threadIdx.x; i < tile; i += tile_threads) {
    keys[first + i] = tile_keys[i];
    positions[first + i] = tile_positions[i];
  }
}

namespace {
/// How many leading bits two of the sorted suffixes share: those of their keys, then those of their positions.
__device__ __forceinline__ int common_bits(const Key* keys, const int* positions, Key key, int position, int other,
                                           int length) {
  if (other < 0 || other >= length) return -1;
  const Key difference = key ^ keys[other];
  const int high = static_cast<int>(difference >> 32);
  if (high != 0) return __clz(high);
  const int low = static_cast<int>(difference);
  if (low != 0) return 32 + __clz(low);
  return 64 + __clz(position ^ positions[other]);
}
}  // namespace

/// Inner node i of the binary radix tree of the sorted suffixes. Node length + r is leaf r. `halves` are the two
/// children, `ranges` the first and the last suffix below, `bits` how many bits those share.
extern "C" __global__ void suffix_match_tree(const Key* __restrict__ keys, const int* __restrict__ positions,
                                             int2* __restrict__ halves, int2* __restrict__ ranges,
                                             int* __restrict__ bits, int* __restrict__ parents, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= length - 1) return;
  const Key key = keys[i];
  const int position = positions[i];
  const int after = common_bits(keys, positions, key, position, i + 1, length);
  const int before = common_bits(keys, positions, key, position, i - 1, length);
  const int direction = after > before ? 1 : -1;
  const int least = min(after, before);

  // The other end of the node's range: by doubling, then by halving.
  int reach = 2;
  while (common_bits(keys, positions, key, position, i + reach * direction, length) > least) reach *= 2;
  int extent = 0;
  for (int step = reach / 2; step > 0; step /= 2) {
    if (common_bits(keys, positions, key, position, i + (extent + step) * direction, length) > least) extent += step;
  }
  const int end = i + extent * direction;
  const int shared = common_bits(keys, positions, key, position, end, length);

  // Where the first bit that they do not share changes.
  int split = 0;
  int step = extent;
  do {
    step = (step + 1) / 2;
    if (common_bits(keys, positions, key, position, i + (split + step) * direction, length) > shared) split += step;
  } while (step > 1);
  const int middle = i + split * direction + min(direction, 0);

  const int first = min(i, end);
  const int last = max(i, end);
  const int left = first == middle ? length + middle : middle;
  const int right = last == middle + 1 ? length + middle + 1 : middle + 1;
  halves[i] = make_int2(left, right);
  ranges[i] = make_int2(first, last);
  bits[i] = shared;
  parents[left] = i;
  parents[right] = i;
}

namespace {
__device__ __forceinline__ int depth_of(const int* bits, int node, int length) {
  return node >= length ? key_symbols : min(bits[node] / 2, key_symbols);
}
}  // namespace

/// Nodes and their four children, one thread a node of the binary tree. A node is the position of one of its suffixes,
/// its depth in symbols, its suffix link (a later kernel's) and the number of its suffixes. Child 0 is none: the root
/// is nobody's child. Binary nodes of their parent's depth are that parent's other half and get none.
extern "C" __global__ void suffix_match_children(const Key* __restrict__ keys, const int* __restrict__ positions,
                                                 const int2* __restrict__ halves, const int2* __restrict__ ranges,
                                                 const int* __restrict__ bits, const int* __restrict__ parents,
                                                 int4* __restrict__ nodes, int4* __restrict__ children, int length) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= 2 * length || node == length - 1) return;
  int4 none;
  none.x = none.y = none.z = none.w = 0;
  int4 n = none;
  int4 c = none;
  const int depth = depth_of(bits, node, length);
  if (node >= length) {
    n.x = positions[node - length];
    n.y = key_symbols;
    n.w = 1;
  } else if (node == 0 || depth_of(bits, parents[node], length) != depth) {
    const int2 range = ranges[node];
    n.x = positions[range.x];
    n.y = depth;
    n.w = range.y - range.x + 1;
    if (depth < key_symbols) {
      for (int half = 0; half < 2; ++half) {
        const int below = half == 0 ? halves[node].x : halves[node].y;
        const bool merged = below < length && bits[below] / 2 == depth;
        for (int quarter = 0; quarter <= static_cast<int>(merged); ++quarter) {
          const int child = !merged ? below : quarter == 0 ? halves[below].x : halves[below].y;
          const int rank = child >= length ? child - length : ranges[child].x;
          const int symbol = static_cast<int>(keys[rank] >> (2 * (key_symbols - 1 - depth))) & 3;
          if (symbol == 0) c.x = child;
          if (symbol == 1) c.y = child;
          if (symbol == 2) c.z = child;
          if (symbol == 3) c.w = child;
        }
      }
    }
  }
  nodes[node] = n;
  children[node] = c;
}

namespace {
__device__ __forceinline__ int child_of(const int4* children, int node, unsigned symbol) {
  const int4 c = children[node];
  return symbol < 2 ? (symbol == 0 ? c.x : c.y) : (symbol == 2 ? c.z : c.w);
}
}  // namespace

/// Suffix links: from the node of a string to that of the string without its first symbol, found from the root.
extern "C" __global__ void suffix_match_links(const Key* __restrict__ keys, const int2* __restrict__ ranges,
                                              const int4* __restrict__ children, const int4* __restrict__ nodes,
                                              int* __restrict__ links, int length) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= length - 1) return;
  const int depth = nodes[node].y;
  int link = 0;
  if (depth < key_symbols) {
    const Key key = keys[ranges[node].x] << 2;
    int at = 0;
    while (at < depth - 1) {
      link = child_of(children, link, static_cast<unsigned>(key >> (2 * (key_symbols - 1 - at))) & 3u);
      at = nodes[link].y;
    }
  }
  links[node] = link;
}

/// Reads: `key_symbols` symbols from a position each, of which those with `noise` below `errors` are replaced.
extern "C" __global__ void suffix_match_reads(const unsigned char* __restrict__ genome, const int* __restrict__ from,
                                              const unsigned char* __restrict__ noise,
                                              unsigned char* __restrict__ reads, int length, int errors, int symbols) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= symbols) return;
  int at = from[i / key_symbols] + i % key_symbols;
  if (at >= length) at -= length;
  const int n = noise[i];
  reads[i] = n < errors ? genome[n] : genome[at];
}

/// Of every suffix of read i that has `least` symbols or more: how long a match it has, and where if that is a single
/// place, else minus the number of places; 0 for matches shorter than `least`. A read has `starts` places for results.
extern "C" __global__ void __launch_bounds__(match_threads)
    suffix_match(const unsigned char* __restrict__ genome, const int4* __restrict__ nodes,
                 const int4* __restrict__ children, const int* __restrict__ links,
                 const unsigned char* __restrict__ reads, const int* __restrict__ lengths, int2* __restrict__ matches,
                 int length, int least, int starts, int count) {
  const int i = blockIdx.x * match_threads + threadIdx.x;
  if (i >= count) return;
  const int read_length = lengths[i];
  int node = 0;
  int depth = 0;
  int matched = 0;
  for (int start = 0; start + least <= read_length; ++start) {
    const unsigned char* rest = reads + i * key_symbols + start;
    int child = 0;
    int4 edge = nodes[0];
    // What the last suffix matched, without its first symbol: only where the edges fork is it looked at.
    while (depth < matched) {
      child = child_of(children, node, code(rest[depth]));
      edge = nodes[child];
      if (edge.y > matched) break;
      node = child;
      depth = edge.y;
    }
    while (matched < read_length - start) {
      const unsigned char symbol = rest[matched];
      if (matched == depth) {
        child = child_of(children, node, code(symbol));
        if (child == 0) break;
        edge = nodes[child];
      }
      int at = edge.x + matched;
      if (at >= length) at -= length;
      if (genome[at] != symbol) break;
      ++matched;
      if (matched == edge.y && matched < key_symbols) {
        node = child;
        depth = matched;
      }
    }
    int2 match = make_int2(matched, 0);
    if (matched >= least) {
      const int4 end = nodes[matched == depth ? node : child];
      match.y = end.w == 1 ? end.x : -end.w;
    }
    matches[i * starts + start] = match;
    node = links[node];
    depth = nodes[node].y;
    matched = max(matched - 1, 0);
  }
}
