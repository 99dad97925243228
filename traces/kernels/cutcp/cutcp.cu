// SPDX-License-Identifier: Apache-2.0
//
// Electrostatic potential of a molecular system on a lattice. Only atoms within a cutoff distance count, by a term that
// is smooth there. Atoms lie in cubic bins of up to eight. The host launches bins once, then lattice for every slab of
// the lattice. A CTA computes a cube of 8 x 8 x 8 lattice points, which is as large as a bin; a thread computes four of
// them along y. It goes through the bins around its cube, 32 at a time in shared memory.

namespace {
constexpr int side = 8;    // of a cube, in lattice points
constexpr int depth = 8;   // atoms in a bin at most
constexpr int batch = 32;  // bins in shared memory
constexpr int points = 4;  // of a thread
constexpr int point_distance = side / points;
constexpr int threads = side * point_distance * side;
constexpr int bin_floats = 4 * depth;
constexpr int most_neighbours = 343;
}  // namespace

/// The bins around a cube, by their number in a cube of 2 * reach + 1 bins a side.
__constant__ int neighbours[most_neighbours];

/// Places the atoms: `random` has four numbers from 0 to 1 for each place of each bin, the position in the bin and the
/// charge. An atom without charge ends a bin of fewer than eight.
extern "C" __global__ void cutcp_bins(const float4* __restrict__ random, const int* __restrict__ count,
                                      float4* __restrict__ atoms, int bins_x, int bins_y, int bins_z, int reach,
                                      float length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int bin = i / depth;
  if (bin >= bins_x * bins_y * bins_z) return;
  const float4 r = random[i];
  const int x = bin % bins_x - reach;
  const int y = bin / bins_x % bins_y - reach;
  const int z = bin / (bins_x * bins_y) - reach;
  const bool there = i % depth < count[bin];
  atoms[i] = make_float4((static_cast<float>(x) + r.x) * length, (static_cast<float>(y) + r.y) * length,
                         (static_cast<float>(z) + r.z) * length, there ? fmaf(0.75f, r.w, 0.25f) : 0.0f);
}

/// One slab of cubes. The potentials of a cube are contiguous.
extern "C" __global__ void __launch_bounds__(threads)
    cutcp_lattice(const float* __restrict__ atoms, float* __restrict__ potential, int bins_x, int bins_y, int reach,
                  float spacing, float cutoff2, float inverse_cutoff2, int slab) {
  __shared__ float cache[batch * bin_floats];
  const int thread = (threadIdx.z * point_distance + threadIdx.y) * side + threadIdx.x;
  const int width = 2 * reach + 1;
  const int count = width * width * width;

  const float x = spacing * static_cast<float>(blockIdx.x * side + threadIdx.x);
  const float y = spacing * static_cast<float>(blockIdx.y * side + threadIdx.y);
  const float z = spacing * static_cast<float>(slab * side + threadIdx.z);
  float energy[points] = {};

  for (int first = 0; first < count; first += batch) {
    const int bins = min(batch, count - first);
    __syncthreads();
    // A thread for each number of a bin.
    for (int bin = thread / bin_floats; bin < bins; bin += threads / bin_floats) {
      const int neighbour = neighbours[first + bin];
      const int bin_x = blockIdx.x + neighbour % width;
      const int bin_y = blockIdx.y + neighbour / width % width;
      const int bin_z = slab + neighbour / (width * width);
      const int part = thread % bin_floats;
      cache[bin * bin_floats + part] = atoms[((bin_z * bins_y + bin_y) * bins_x + bin_x) * bin_floats + part];
    }
    __syncthreads();

    for (int bin = 0; bin < bins; ++bin) {
#pragma unroll 1
      for (int i = 0; i < depth; ++i) {
        const float* const atom = cache + bin * bin_floats + 4 * i;
        const float charge = atom[3];
        if (charge == 0.0f) break;
        const float dx = atom[0] - x;
        const float dz = atom[2] - z;
        const float xz = fmaf(dx, dx, dz * dz);
        if (xz < cutoff2) {
          float dy = atom[1] - y;
#pragma unroll
          for (int p = 0; p < points; ++p) {
            const float square = fmaf(dy, dy, xz);
            if (square < cutoff2) {
              const float s = fmaf(-square, inverse_cutoff2, 1.0f);
              energy[p] = fmaf(charge * rsqrtf(square), s * s, energy[p]);
            }
            dy -= static_cast<float>(point_distance) * spacing;
          }
        }
      }
    }
  }

  const int cube = (slab * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  float* const out = potential + cube * (side * side * side) + threadIdx.z * (side * side) + threadIdx.x;
#pragma unroll
  for (int p = 0; p < points; ++p) out[(threadIdx.y + p * point_distance) * side] = energy[p];
}
