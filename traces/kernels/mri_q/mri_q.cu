// SPDX-License-Identifier: Apache-2.0
//
// The matrix Q of the reconstruction of magnetic resonance images from samples of k-space on an arbitrary trajectory.
// For every voxel, Q sums over all samples the squared magnitude of the sample times e^(2 pi i k.x). The host launches
// phi_mag once, then compute_q once for every chunk of samples; compute_q adds to qr and qi. A warp reads the same
// sample at the same time, so the samples are in constant memory.

namespace {
constexpr int phi_mag_threads = 512;
constexpr int q_threads = 256;
constexpr int most_samples = 1024;
constexpr int chunk = 256;  // samples per launch of compute_q
constexpr float two_pi = 6.283185307179586f;
}  // namespace

/// x, y and z: the place in k-space. w: the squared magnitude.
__constant__ float4 samples[most_samples];

extern "C" __global__ void __launch_bounds__(phi_mag_threads)
    mri_q_phi_mag(const float* __restrict__ phi_real, const float* __restrict__ phi_imaginary,
                  float* __restrict__ phi_mag, int count) {
  const int i = blockIdx.x * phi_mag_threads + threadIdx.x;
  if (i >= count) return;
  const float real = phi_real[i];
  const float imaginary = phi_imaginary[i];
  phi_mag[i] = fmaf(real, real, imaginary * imaginary);
}

/// Adds the samples first .. first + chunk - 1, as far as there are so many.
extern "C" __global__ void __launch_bounds__(q_threads)
    mri_q_compute_q(const float* __restrict__ x, const float* __restrict__ y, const float* __restrict__ z,
                    float* __restrict__ qr, float* __restrict__ qi, int voxels, int count, int first) {
  const int voxel = blockIdx.x * q_threads + threadIdx.x;
  if (voxel >= voxels) return;
  const float vx = x[voxel];
  const float vy = y[voxel];
  const float vz = z[voxel];
  float real = qr[voxel];
  float imaginary = qi[voxel];
  const auto add = [&](int index) {
    const float4 sample = samples[index];
    const float angle = two_pi * fmaf(sample.x, vx, fmaf(sample.y, vy, sample.z * vz));
    real = fmaf(sample.w, __cosf(angle), real);
    imaginary = fmaf(sample.w, __sinf(angle), imaginary);
  };

  const int last = min(first + chunk, count);
  int k = first;
  if ((last - first) % 2 != 0) add(k++);
#pragma unroll 1
  for (; k < last; k += 2) {
    add(k);
    add(k + 1);
  }
  qr[voxel] = real;
  qi[voxel] = imaginary;
}
