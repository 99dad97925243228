// SPDX-License-Identifier: Apache-2.0
//
// Triangles of the surface on which a function of space has a given value (marching cubes, Lorensen and Cline 1987).
// Space is cut into cubes; which of a cube's eight corners are below the value selects from a table on which edges the
// triangles' corners are. The host launches classify, then the scan (scan_ctas, scan_sums, scan_add) of which cubes
// have triangles and of how many vertices they have, then compact, then generate for the cubes that have triangles.
//
// Corner c of a cube is at (c & 1, c >> 1 & 1, c >> 2). Edge 4 a + k is parallel to axis a; the bits of k are its place
// along the other two axes, the lower axis first. The compiler makes the table: on each face, the surface cuts off
// every row of neighbouring corners that are below the value, which also decides the faces where two opposite corners
// are. The cuts of all faces make closed lines, which become fans of triangles.

namespace {
constexpr int corners = 8;
constexpr int edges = 12;
constexpr int most_vertices = 15;
constexpr int scan_threads = 256;
constexpr int sums_threads = 512;
constexpr int generate_threads = 32;

struct Tables {
  unsigned char vertices[256];                 // of a cube
  unsigned char edge[256][most_vertices + 1];  // that a vertex is on
  unsigned char ends[edges][2];                // corners of an edge
};

constexpr Tables make_tables() {
  Tables tables{};
  int edge_of[corners][corners] = {};
  for (int axis = 0; axis < 3; ++axis) {
    const int u = axis == 0 ? 1 : 0;
    const int v = axis == 2 ? 1 : 2;
    for (int k = 0; k < 4; ++k) {
      const int low = (k & 1) << u | (k >> 1) << v;
      const int high = low | 1 << axis;
      tables.ends[4 * axis + k][0] = static_cast<unsigned char>(low);
      tables.ends[4 * axis + k][1] = static_cast<unsigned char>(high);
      edge_of[low][high] = edge_of[high][low] = 4 * axis + k;
    }
  }
  for (int cube = 0; cube < 256; ++cube) {
    int next[edges] = {};
    for (int& n : next) n = -1;
    for (int axis = 0; axis < 3; ++axis) {
      const int u = 1 << (axis + 1) % 3;
      const int v = 1 << (axis + 2) % 3;
      for (int side = 0; side < 2; ++side) {
        // The face's corners, counterclockwise from outside.
        const int base = side << axis;
        const int around[4] = {base, base | (side == 1 ? u : v), base | u | v, base | (side == 1 ? v : u)};
        for (int i = 0; i < 4; ++i) {
          const int here = around[i];
          if ((cube >> here & 1) == 0 || (cube >> around[(i + 1) % 4] & 1) != 0) continue;
          // The row of corners that ends here begins after the last corner before it that is not below.
          int first = i;
          while ((cube >> around[(first + 3) % 4] & 1) != 0) first = (first + 3) % 4;
          next[edge_of[here][around[(i + 1) % 4]]] = edge_of[around[(first + 3) % 4]][around[first]];
        }
      }
    }
    int count = 0;
    for (int edge = 0; edge < edges; ++edge) {
      if (next[edge] < 0) continue;
      int second = next[edge];
      next[edge] = -1;
      while (next[second] != edge) {
        const int third = next[second];
        next[second] = -1;
        tables.edge[cube][count++] = static_cast<unsigned char>(edge);
        tables.edge[cube][count++] = static_cast<unsigned char>(second);
        tables.edge[cube][count++] = static_cast<unsigned char>(third);
        second = third;
      }
      next[second] = -1;
    }
    tables.vertices[cube] = static_cast<unsigned char>(count);
  }
  return tables;
}
}  // namespace

__constant__ Tables tables = make_tables();

namespace {
/// How the cubes lie: a power of two of them along x and along y.
struct Grid {
  int shift_x, shift_y;
  float step_x, step_y, step_z;
};

/// A place in space, which reaches from -1 to 1: that of corner `corner` of cube `cube`.
__device__ __forceinline__ float3 corner_place(const Grid& grid, int cube, int corner) {
  const int x = (cube & ((1 << grid.shift_x) - 1)) + (corner & 1);
  const int y = (cube >> grid.shift_x & ((1 << grid.shift_y) - 1)) + (corner >> 1 & 1);
  const int z = (cube >> (grid.shift_x + grid.shift_y)) + (corner >> 2);
  return make_float3(fmaf(static_cast<float>(x), grid.step_x, -1.0f), fmaf(static_cast<float>(y), grid.step_y, -1.0f),
                     fmaf(static_cast<float>(z), grid.step_z, -1.0f));
}

/// x^4 - 5 x^2 of 3 x.
__device__ __forceinline__ float quartic(float x) {
  const float square = (3.0f * x) * (3.0f * x);
  return square * (square - 5.0f);
}

/// A "tangle cube": four arms along each axis that meet in the corners of a cube.
__device__ __forceinline__ float field(float3 p) {
  return fmaf(((quartic(p.x) + quartic(p.y)) + quartic(p.z)) + 11.8f, 0.2f, 0.5f);
}

/// The field and how it changes along the axes.
struct Sample {
  float value;
  float3 slope;
};

__device__ __forceinline__ Sample sample(float3 p) {
  constexpr float distance = 0.001f;
  Sample s;
  s.value = field(p);
  s.slope = make_float3(field(make_float3(p.x + distance, p.y, p.z)) - s.value,
                        field(make_float3(p.x, p.y + distance, p.z)) - s.value,
                        field(make_float3(p.x, p.y, p.z + distance)) - s.value);
  return s;
}

__device__ __forceinline__ float3 between(float3 a, float3 b, float part) {
  return make_float3(fmaf(part, b.x - a.x, a.x), fmaf(part, b.y - a.y, a.y), fmaf(part, b.z - a.z, a.z));
}
}  // namespace

/// How many vertices every cube has, and whether it has any.
extern "C" __global__ void marching_cubes_classify(int* __restrict__ vertices, int* __restrict__ occupied, int cubes,
                                                   int shift_x, int shift_y, float step_x, float step_y, float step_z,
                                                   float surface) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= cubes) return;
  const Grid grid{shift_x, shift_y, step_x, step_y, step_z};
  int below = 0;
#pragma unroll
  for (int corner = 0; corner < corners; ++corner)
    below |= static_cast<int>(field(corner_place(grid, i, corner)) < surface) << corner;
  const int count = tables.vertices[below];
  vertices[i] = count;
  occupied[i] = count > 0;
}

/// Exclusive sums within a CTA's 256 elements, and the sum of all of them.
extern "C" __global__ void __launch_bounds__(scan_threads)
    marching_cubes_scan_ctas(const int* __restrict__ values, int* __restrict__ scanned, int* __restrict__ sums,
                             int count) {
  __shared__ int part[scan_threads];
  const int t = threadIdx.x;
  const int i = blockIdx.x * scan_threads + t;
  const int value = i < count ? values[i] : 0;
  part[t] = value;
  for (int distance = 1; distance < scan_threads; distance *= 2) {
    __syncthreads();
    const int before = t >= distance ? part[t - distance] : 0;
    __syncthreads();
    part[t] += before;
  }
  if (i < count) scanned[i] = part[t] - value;
  if (t == scan_threads - 1) sums[blockIdx.x] = part[t];
}

/// Exclusive sums of the CTAs' sums, 512 at most, in place, and the total behind them. One CTA.
extern "C" __global__ void __launch_bounds__(sums_threads) marching_cubes_scan_sums(int* __restrict__ sums, int ctas) {
  __shared__ int part[sums_threads];
  const int t = threadIdx.x;
  const int value = t < ctas ? sums[t] : 0;
  part[t] = value;
  for (int distance = 1; distance < sums_threads; distance *= 2) {
    __syncthreads();
    const int before = t >= distance ? part[t - distance] : 0;
    __syncthreads();
    part[t] += before;
  }
  __syncthreads();
  if (t < ctas) sums[t] = part[t] - value;
  if (t == sums_threads - 1) sums[ctas] = part[t];
}

extern "C" __global__ void __launch_bounds__(scan_threads)
    marching_cubes_scan_add(int* __restrict__ scanned, const int* __restrict__ sums, int count) {
  const int i = blockIdx.x * scan_threads + threadIdx.x;
  if (i < count) scanned[i] += sums[blockIdx.x];
}

/// The cubes that have triangles, one after the other.
extern "C" __global__ void marching_cubes_compact(const int* __restrict__ occupied, const int* __restrict__ scanned,
                                                  int* __restrict__ active, int cubes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < cubes && occupied[i] != 0) active[scanned[i]] = i;
}

/// The triangles, a thread a cube: a vertex on each of its edges goes to shared memory, then those that the table names
/// to the result. Vertices beyond the result's `most` are lost. `active_count` is the last element of a scan.
extern "C" __global__ void __launch_bounds__(generate_threads)
    marching_cubes_generate(const int* __restrict__ active, const int* __restrict__ active_count,
                            const int* __restrict__ first_vertex, float4* __restrict__ places,
                            float4* __restrict__ normals, int most, int shift_x, int shift_y, float step_x,
                            float step_y, float step_z, float surface) {
  __shared__ float3 edge_place[edges * generate_threads];
  __shared__ float3 edge_normal[edges * generate_threads];
  const int t = threadIdx.x;
  const int i = blockIdx.x * generate_threads + t;
  const int last = *active_count - 1;
  if (static_cast<int>(blockIdx.x) * generate_threads > last) return;
  // The last CTA's surplus threads do its last cube once more, without storing it.
  const int cube = active[min(i, last)];
  const Grid grid{shift_x, shift_y, step_x, step_y, step_z};

  float3 place[corners];
  Sample samples[corners];
  int below = 0;
#pragma unroll
  for (int corner = 0; corner < corners; ++corner) {
    place[corner] = corner_place(grid, cube, corner);
    samples[corner] = sample(place[corner]);
    below |= static_cast<int>(samples[corner].value < surface) << corner;
  }
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int a = (k & 1) << (axis == 0 ? 1 : 0) | (k >> 1) << (axis == 2 ? 1 : 2);
      const int b = a | 1 << axis;
      const float part = (surface - samples[a].value) / (samples[b].value - samples[a].value);
      const int edge = 4 * axis + k;
      edge_place[edge * generate_threads + t] = between(place[a], place[b], part);
      edge_normal[edge * generate_threads + t] = between(samples[a].slope, samples[b].slope, part);
    }
  }
  __syncthreads();

  if (i > last) return;
  const int count = tables.vertices[below];
  const int first = first_vertex[cube];
  for (int vertex = 0; vertex < count; ++vertex) {
    const int from = tables.edge[below][vertex] * generate_threads + t;
    const int to = first + vertex;
    if (to >= most) continue;
    const float3 p = edge_place[from];
    const float3 n = edge_normal[from];
    places[to] = make_float4(p.x, p.y, p.z, 1.0f);
    normals[to] = make_float4(n.x, n.y, n.z, 0.0f);
  }
}
