// SPDX-License-Identifier: Apache-2.0
//
// Follows a bright disk through the frames of a video by a particle filter (as in Rodinia's particlefilter, float
// version): particles are places that move at random, are weighted by how much the image around them looks like the
// disk, and are then drawn anew by weight. The host launches disk once, then for every frame likelihood, sum,
// normalise, accumulate and find_index, all but disk and accumulate with a thread per particle. Pixels of all frames
// lie together: pixel (x, y) of frame f is video[(x * height + y) * frames + f].

namespace {
constexpr int max_threads = 512;  // of a CTA; a power of two

/// A random number from 0 to 1, of a linear congruential generator.
__device__ __forceinline__ float uniform(int* seed, int i) {
  constexpr int modulus = 2147483647;
  const int next = static_cast<int>(1103515245u * static_cast<unsigned>(seed[i]) + 12345u) % modulus;
  seed[i] = next;
  return fabsf(static_cast<float>(next) / static_cast<float>(modulus));
}

/// A random number of a normal distribution (Box and Muller 1958).
__device__ __forceinline__ float normal(int* seed, int i) {
  const float u = uniform(seed, i);
  const float v = uniform(seed, i);
  const float cosine = cosf(2.0f * 3.14159265f * v);
  return sqrtf(-2.0f * logf(u)) * cosine;
}

/// exp(x), written out: the particles that find_index selects depend on the last bits of the weights, and those must
/// not depend on a GPU's approximation of 2^x.
__device__ __forceinline__ float exponential(float x) {
  const float clamped = fminf(fmaxf(x, -87.0f), 88.0f);
  const float power = rintf(clamped * 1.44269504f);
  // power * log(2), in two parts.
  const float rest = fmaf(power, 1.42860677e-6f, fmaf(power, -0.693148613f, clamped));
  float sum = 1.0f / 720.0f;
  sum = fmaf(sum, rest, 1.0f / 120.0f);
  sum = fmaf(sum, rest, 1.0f / 24.0f);
  sum = fmaf(sum, rest, 1.0f / 6.0f);
  sum = fmaf(sum, rest, 0.5f);
  sum = fmaf(sum, rest, 1.0f);
  sum = fmaf(sum, rest, 1.0f);
  return sum * __int_as_float((static_cast<int>(power) + 127) << 23);
}

__device__ __forceinline__ int round_to_int(float value) {
  const int whole = static_cast<int>(value);
  return value - static_cast<float>(whole) < 0.5f ? whole : whole + 1;
}
}  // namespace

/// The distances (y, x) of the disk's pixels from its centre, those nearer than `radius`. A thread writes a row.
extern "C" __global__ void particle_filter_disk(int* __restrict__ disk, int radius) {
  const int row = static_cast<int>(threadIdx.x) - radius + 1;
  if (row >= radius) return;
  int pixel = 0;
  for (int x = 1 - radius; x <= row; ++x) {
    for (int y = 1 - radius; y < radius; ++y) {
      if (x * x + y * y >= radius * radius) continue;
      if (x == row) {
        disk[2 * pixel] = y;
        disk[2 * pixel + 1] = x;
      }
      ++pixel;
    }
  }
}

/// Moves the particles, weighs them, and adds up the weights of a CTA. `index` has the places of the disk's pixels for
/// every particle.
extern "C" __global__ void __launch_bounds__(max_threads)
    particle_filter_likelihood(float* __restrict__ x, float* __restrict__ y, const float* __restrict__ old_x,
                               const float* __restrict__ old_y, int* __restrict__ index, const int* __restrict__ disk,
                               const unsigned char* __restrict__ video, float* __restrict__ weights,
                               int* __restrict__ seed, float* __restrict__ partial_sums, int particles, int pixels,
                               int width, int height, int frames, int frame) {
  __shared__ float sums[max_threads];
  const int i = blockDim.x * blockIdx.x + threadIdx.x;

  if (i < particles) {
    x[i] = old_x[i] + 1.0f + 5.0f * normal(seed, i);
    y[i] = old_y[i] - 2.0f + 2.0f * normal(seed, i);
  }
  __syncthreads();

  if (i < particles) {
    for (int pixel = 0; pixel < pixels; ++pixel) {
      const int pixel_x = round_to_int(x[i]) + disk[2 * pixel + 1];
      const int pixel_y = round_to_int(y[i]) + disk[2 * pixel];
      const int at = abs((pixel_x * height + pixel_y) * frames + frame);
      index[i * pixels + pixel] = at < width * height * frames ? at : 0;
    }
    // Far from the background's brightness of 100, close to the disk's of 228.
    float likelihood = 0.0f;
    for (int pixel = 0; pixel < pixels; ++pixel) {
      const float brightness = static_cast<float>(video[index[i * pixels + pixel]]);
      const float background = brightness - 100.0f;
      const float foreground = brightness - 228.0f;
      likelihood += (background * background - foreground * foreground) / 50.0f;
    }
    likelihood /= static_cast<float>(pixels);
    weights[i] = 1.0f / static_cast<float>(particles) * exponential(likelihood);
  }
  sums[threadIdx.x] = 0.0f;
  __syncthreads();

  if (i < particles) sums[threadIdx.x] = weights[i];
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial_sums[blockIdx.x] = sums[0];
}

/// The sum of all weights, in place of that of the first CTA.
extern "C" __global__ void particle_filter_sum(float* __restrict__ partial_sums, int ctas) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i == 0) {
    float sum = 0.0f;
    for (int cta = 0; cta < ctas; ++cta) sum += partial_sums[cta];
    partial_sums[0] = sum;
  }
}

extern "C" __global__ void particle_filter_normalise(float* __restrict__ weights,
                                                     const float* __restrict__ partial_sums, int particles) {
  __shared__ float sum;
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (threadIdx.x == 0) sum = partial_sums[0];
  __syncthreads();
  if (i < particles) weights[i] = weights[i] / sum;
}

/// The sums of the weights up to each particle, by one thread, and where drawing starts.
extern "C" __global__ void particle_filter_accumulate(const float* __restrict__ weights, float* __restrict__ cumulative,
                                                      float* __restrict__ start, int* __restrict__ seed,
                                                      int particles) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i == 0) {
    float sum = weights[0];
    cumulative[0] = sum;
    for (int particle = 1; particle < particles; ++particle) {
      sum += weights[particle];
      cumulative[particle] = sum;
    }
    *start = 1.0f / static_cast<float>(particles) * uniform(seed, 0);
  }
}

/// Draws particles at equal distances along the sum of weights.
extern "C" __global__ void particle_filter_find_index(const float* __restrict__ x, const float* __restrict__ y,
                                                      const float* __restrict__ cumulative,
                                                      const float* __restrict__ start, float* __restrict__ new_x,
                                                      float* __restrict__ new_y, int particles) {
  __shared__ float first;
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (threadIdx.x == 0) first = *start;
  __syncthreads();
  if (i < particles) {
    const float target = first + static_cast<float>(i) / static_cast<float>(particles);
    int found = -1;
    for (int particle = 0; particle < particles; ++particle) {
      if (cumulative[particle] >= target) {
        found = particle;
        break;
      }
    }
    if (found == -1) found = particles - 1;
    new_x[i] = x[found];
    new_y[i] = y[found];
  }
}
