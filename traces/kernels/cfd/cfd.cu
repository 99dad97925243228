// SPDX-License-Identifier: Apache-2.0
//
// Euler's equations of a compressible gas around a wing, on an unstructured mesh of tetrahedra, by finite volumes
// (Corrigan, Camelli, Loehner and Wallin 2009). The host launches mesh and initialize; then for every iteration save,
// step_factor and, for each of three Runge-Kutta stages, flux and advance.
//
// Every element has density, momentum and energy: variables[k * elements + i]. Its four faces have a neighbour each, or
// one of the two numbers below, and a normal whose length is the face's area: normals[(face * 3 + axis) * elements +
// i].

namespace {
constexpr int block = 192;
constexpr int faces = 4;
constexpr int variables_of_element = 5;
constexpr int stages = 3;
constexpr int wing = -1;
constexpr int far_field = -2;
constexpr float gamma = 1.4f;
constexpr float smoothing = 0.2f;

struct State {
  float density, energy;
  float3 momentum;
};
}  // namespace

/// The undisturbed gas, and what of it flows through a unit of area in x, y and z.
__constant__ float far_density;
__constant__ float far_momentum_x;
__constant__ float far_momentum_y;
__constant__ float far_momentum_z;
__constant__ float far_energy;
__constant__ float far_flux_momentum_xx;
__constant__ float far_flux_momentum_xy;
__constant__ float far_flux_momentum_xz;
__constant__ float far_flux_momentum_yy;
__constant__ float far_flux_momentum_yz;
__constant__ float far_flux_momentum_zz;
__constant__ float far_flux_energy_x;
__constant__ float far_flux_energy_y;
__constant__ float far_flux_energy_z;

/// Makes the mesh out of what a launch file can describe. `neighbours` holds distances from the element at first,
/// neighbours afterwards: an element itself stands for the wing, those outside for the far field. The last normal is
/// what closes the element.
extern "C" __global__ void __launch_bounds__(block)
    cfd_mesh(int* __restrict__ neighbours, float* __restrict__ normals, int elements) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  for (int face = 0; face < faces; ++face) {
    const int distance = neighbours[face * elements + i];
    const int other = i + distance;
    neighbours[face * elements + i] = distance == 0 ? wing : other < 0 || other >= elements ? far_field : other;
  }
  for (int axis = 0; axis < 3; ++axis) {
    float sum = 0.0f;
    for (int face = 0; face < faces - 1; ++face) sum += normals[(face * 3 + axis) * elements + i];
    normals[((faces - 1) * 3 + axis) * elements + i] = -sum;
  }
}

/// Undisturbed gas everywhere.
extern "C" __global__ void __launch_bounds__(block) cfd_initialize(float* __restrict__ variables, int elements) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  variables[i] = far_density;
  variables[elements + i] = far_momentum_x;
  variables[2 * elements + i] = far_momentum_y;
  variables[3 * elements + i] = far_momentum_z;
  variables[4 * elements + i] = far_energy;
}

extern "C" __global__ void __launch_bounds__(block)
    cfd_save(const float* __restrict__ variables, float* __restrict__ old_variables, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) old_variables[i] = variables[i];
}

namespace {
__device__ __forceinline__ float dot(const float3& a, const float3& b) {
  return fmaf(a.x, b.x, fmaf(a.y, b.y, a.z * b.z));
}

__device__ __forceinline__ State load(const float* __restrict__ variables, int i, int elements) {
  State s;
  s.density = variables[i];
  s.momentum.x = variables[elements + i];
  s.momentum.y = variables[2 * elements + i];
  s.momentum.z = variables[3 * elements + i];
  s.energy = variables[4 * elements + i];
  return s;
}

__device__ __forceinline__ float3 velocity_of(const State& s) {
  return make_float3(s.momentum.x / s.density, s.momentum.y / s.density, s.momentum.z / s.density);
}

__device__ __forceinline__ float pressure_of(const State& s, float speed_squared) {
  return (gamma - 1.0f) * fmaf(-0.5f * s.density, speed_squared, s.energy);
}

__device__ __forceinline__ float speed_of_sound(float density, float pressure) {
  return sqrtf(gamma * pressure / density);
}

/// What flows through a unit of area in x, y and z.
struct Flux {
  float3 momentum_x, momentum_y, momentum_z, energy;
};

__device__ __forceinline__ Flux flux_of(const State& s, const float3& velocity, float pressure) {
  Flux f;
  f.momentum_x.x = fmaf(velocity.x, s.momentum.x, pressure);
  f.momentum_x.y = velocity.x * s.momentum.y;
  f.momentum_x.z = velocity.x * s.momentum.z;
  f.momentum_y.x = f.momentum_x.y;
  f.momentum_y.y = fmaf(velocity.y, s.momentum.y, pressure);
  f.momentum_y.z = velocity.y * s.momentum.z;
  f.momentum_z.x = f.momentum_x.z;
  f.momentum_z.y = f.momentum_y.z;
  f.momentum_z.z = fmaf(velocity.z, s.momentum.z, pressure);
  const float enthalpy = s.energy + pressure;
  f.energy.x = velocity.x * enthalpy;
  f.energy.y = velocity.y * enthalpy;
  f.energy.z = velocity.z * enthalpy;
  return f;
}

/// sum += half * (a + b)
__device__ __forceinline__ void add(float& sum, float half, float a, float b) { sum = fmaf(half, a + b, sum); }
}  // namespace

/// How far in time each element may go at once.
extern "C" __global__ void __launch_bounds__(block)
    cfd_step_factor(const float* __restrict__ variables, const float* __restrict__ areas,
                    float* __restrict__ step_factors, int elements) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const State s = load(variables, i, elements);
  const float3 velocity = velocity_of(s);
  const float speed_squared = dot(velocity, velocity);
  const float sound = speed_of_sound(s.density, pressure_of(s, speed_squared));
  step_factors[i] = 0.5f / (sqrtf(areas[i]) * (sqrtf(speed_squared) + sound));
}

/// What flows into each element through its faces.
extern "C" __global__ void __launch_bounds__(block)
    cfd_flux(const int* __restrict__ neighbours, const float* __restrict__ normals, const float* __restrict__ variables,
             float* __restrict__ fluxes, int elements) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const State s = load(variables, i, elements);
  const float3 velocity = velocity_of(s);
  const float speed_squared = dot(velocity, velocity);
  const float speed = sqrtf(speed_squared);
  const float pressure = pressure_of(s, speed_squared);
  const float sound = speed_of_sound(s.density, pressure);
  const Flux own = flux_of(s, velocity, pressure);

  float density = 0.0f;
  float energy = 0.0f;
  float3 momentum = make_float3(0.0f, 0.0f, 0.0f);
#pragma unroll
  for (int face = 0; face < faces; ++face) {
    const int other = neighbours[face * elements + i];
    float3 normal;
    normal.x = normals[(face * 3 + 0) * elements + i];
    normal.y = normals[(face * 3 + 1) * elements + i];
    normal.z = normals[(face * 3 + 2) * elements + i];
    const float area = sqrtf(dot(normal, normal));

    if (other >= 0) {
      const State t = load(variables, other, elements);
      const float3 other_velocity = velocity_of(t);
      const float other_speed_squared = dot(other_velocity, other_velocity);
      const float other_pressure = pressure_of(t, other_speed_squared);
      const float other_sound = speed_of_sound(t.density, other_pressure);
      const Flux theirs = flux_of(t, other_velocity, other_pressure);

      // Artificial viscosity.
      const float factor = -area * smoothing * 0.5f * (speed + sqrtf(other_speed_squared) + sound + other_sound);
      density = fmaf(factor, s.density - t.density, density);
      energy = fmaf(factor, s.energy - t.energy, energy);
      momentum.x = fmaf(factor, s.momentum.x - t.momentum.x, momentum.x);
      momentum.y = fmaf(factor, s.momentum.y - t.momentum.y, momentum.y);
      momentum.z = fmaf(factor, s.momentum.z - t.momentum.z, momentum.z);

      float half = 0.5f * normal.x;
      add(density, half, t.momentum.x, s.momentum.x);
      add(energy, half, theirs.energy.x, own.energy.x);
      add(momentum.x, half, theirs.momentum_x.x, own.momentum_x.x);
      add(momentum.y, half, theirs.momentum_y.x, own.momentum_y.x);
      add(momentum.z, half, theirs.momentum_z.x, own.momentum_z.x);
      half = 0.5f * normal.y;
      add(density, half, t.momentum.y, s.momentum.y);
      add(energy, half, theirs.energy.y, own.energy.y);
      add(momentum.x, half, theirs.momentum_x.y, own.momentum_x.y);
      add(momentum.y, half, theirs.momentum_y.y, own.momentum_y.y);
      add(momentum.z, half, theirs.momentum_z.y, own.momentum_z.y);
      half = 0.5f * normal.z;
      add(density, half, t.momentum.z, s.momentum.z);
      add(energy, half, theirs.energy.z, own.energy.z);
      add(momentum.x, half, theirs.momentum_x.z, own.momentum_x.z);
      add(momentum.y, half, theirs.momentum_y.z, own.momentum_y.z);
      add(momentum.z, half, theirs.momentum_z.z, own.momentum_z.z);
    } else if (other == wing) {
      // Nothing but pressure passes.
      momentum.x = fmaf(normal.x, pressure, momentum.x);
      momentum.y = fmaf(normal.y, pressure, momentum.y);
      momentum.z = fmaf(normal.z, pressure, momentum.z);
    } else if (other == far_field) {
      float half = 0.5f * normal.x;
      add(density, half, far_momentum_x, s.momentum.x);
      add(energy, half, far_flux_energy_x, own.energy.x);
      add(momentum.x, half, far_flux_momentum_xx, own.momentum_x.x);
      add(momentum.y, half, far_flux_momentum_xy, own.momentum_y.x);
      add(momentum.z, half, far_flux_momentum_xz, own.momentum_z.x);
      half = 0.5f * normal.y;
      add(density, half, far_momentum_y, s.momentum.y);
      add(energy, half, far_flux_energy_y, own.energy.y);
      add(momentum.x, half, far_flux_momentum_xy, own.momentum_x.y);
      add(momentum.y, half, far_flux_momentum_yy, own.momentum_y.y);
      add(momentum.z, half, far_flux_momentum_yz, own.momentum_z.y);
      half = 0.5f * normal.z;
      add(density, half, far_momentum_z, s.momentum.z);
      add(energy, half, far_flux_energy_z, own.energy.z);
      add(momentum.x, half, far_flux_momentum_xz, own.momentum_x.z);
      add(momentum.y, half, far_flux_momentum_yz, own.momentum_y.z);
      add(momentum.z, half, far_flux_momentum_zz, own.momentum_z.z);
    }
  }

  fluxes[i] = density;
  fluxes[elements + i] = momentum.x;
  fluxes[2 * elements + i] = momentum.y;
  fluxes[3 * elements + i] = momentum.z;
  fluxes[4 * elements + i] = energy;
}

/// One stage of the Runge-Kutta method: 0 to 2.
extern "C" __global__ void __launch_bounds__(block)
    cfd_advance(int stage, const float* __restrict__ old_variables, float* __restrict__ variables,
                const float* __restrict__ step_factors, const float* __restrict__ fluxes, int elements) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const float factor = step_factors[i] / static_cast<float>(stages + 1 - stage);
#pragma unroll
  for (int k = 0; k < variables_of_element; ++k)
    variables[k * elements + i] = fmaf(factor, fluxes[k * elements + i], old_variables[k * elements + i]);
}
