// SPDX-License-Identifier: Apache-2.0
//
// Potential and forces between particles in boxes: every particle meets all those of its own box and of the up to 26
// boxes around it. One CTA of 128 threads takes one box; a box has up to 100 particles, a thread each, and the rest of
// the threads wait. All numbers are f64. The host launches boxes, forces and narrow.

namespace {
constexpr int threads = 128;
constexpr int most_particles = 100;  // of a box
constexpr int most_neighbours = 26;
}  // namespace

/// A position and one more coordinate, or a force and a potential.
struct alignas(8) Vector {
  double v, x, y, z;
};

struct Neighbour {
  int x, y, z;
  int number;
  long long offset;
};

struct Box {
  int x, y, z;
  int number;
  long long offset;  ///< of its first particle
  int neighbours;
  Neighbour neighbour[most_neighbours];
};

/// Numbers the boxes of a grid and lists the neighbours of each. One thread a box.
extern "C" __global__ void lavamd_boxes(Box* __restrict__ boxes, int size_x, int size_y, int size_z, int particles) {
  const int number = blockIdx.x * blockDim.x + threadIdx.x;
  if (number >= size_x * size_y * size_z) return;
  Box& box = boxes[number];
  const int x = number % size_x;
  const int y = number / size_x % size_y;
  const int z = number / size_x / size_y;
  box.x = x;
  box.y = y;
  box.z = z;
  box.number = number;
  box.offset = static_cast<long long>(number) * particles;
  int count = 0;
  for (int dz = -1; dz <= 1; ++dz) {
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        const int nx = x + dx;
        const int ny = y + dy;
        const int nz = z + dz;
        if (nx < 0 || ny < 0 || nz < 0 || nx >= size_x || ny >= size_y || nz >= size_z) continue;
        if (dx == 0 && dy == 0 && dz == 0) continue;
        Neighbour& neighbour = box.neighbour[count++];
        neighbour.x = nx;
        neighbour.y = ny;
        neighbour.z = nz;
        neighbour.number = (nz * size_y + ny) * size_x + nx;
        neighbour.offset = static_cast<long long>(neighbour.number) * particles;
      }
    }
  }
  box.neighbours = count;
}

/// Adds to the forces of box b, for CTA b. 7,200 bytes of shared memory.
extern "C" __global__ void __launch_bounds__(threads)
    lavamd_forces(double alpha, const Box* __restrict__ boxes, const Vector* __restrict__ positions,
                  const double* __restrict__ charges, Vector* __restrict__ forces, int particles) {
  __shared__ Vector mine[most_particles];
  __shared__ Vector theirs[most_particles];
  __shared__ double charge[most_particles];

  const double a2 = 2.0 * alpha * alpha;
  const Box& box = boxes[blockIdx.x];
  for (int i = threadIdx.x; i < particles; i += threads) mine[i] = positions[box.offset + i];
  __syncthreads();

  for (int k = 0; k <= box.neighbours; ++k) {
    // Its own box first.
    const int other = k == 0 ? blockIdx.x : box.neighbour[k - 1].number;
    const long long first = boxes[other].offset;
    for (int i = threadIdx.x; i < particles; i += threads) {
      theirs[i] = positions[first + i];
      charge[i] = charges[first + i];
    }
    __syncthreads();

    for (int i = threadIdx.x; i < particles; i += threads) {
      Vector& force = forces[box.offset + i];
      for (int j = 0; j < particles; ++j) {
        const double dot = fma(mine[i].x, theirs[j].x, fma(mine[i].y, theirs[j].y, mine[i].z * theirs[j].z));
        const double r2 = mine[i].v + theirs[j].v - dot;
        const double potential = exp(-(a2 * r2));
        const double strength = 2.0 * potential;
        const double dx = mine[i].x - theirs[j].x;
        const double dy = mine[i].y - theirs[j].y;
        const double dz = mine[i].z - theirs[j].z;
        force.v = fma(charge[j], potential, force.v);
        force.x = fma(charge[j], strength * dx, force.x);
        force.y = fma(charge[j], strength * dy, force.y);
        force.z = fma(charge[j], strength * dz, force.z);
      }
    }
    __syncthreads();
  }
}

/// The same in f32.
extern "C" __global__ void lavamd_narrow(const double* __restrict__ wide, float* __restrict__ narrow, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) narrow[i] = static_cast<float>(wide[i]);
}
