// SPDX-License-Identifier: Apache-2.0
//
// Bodies that attract each other, some steps. What the device can do is asked first and decides on the CTA's size.
#include <utility>
#include <vector>

#include "check.h"

/// Bodies are (x, y, z, mass); a CTA stages as many of them as it has threads.
__global__ void step(int n, float dt, const float4* in, float4* out, float4* velocity) {
  extern __shared__ float4 staged[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 own = i < n ? in[i] : make_float4(0, 0, 0, 0);
  float ax = 0, ay = 0, az = 0;
  for (int from = 0; from < n; from += blockDim.x) {
    const int j = from + threadIdx.x;
    staged[threadIdx.x] = j < n ? in[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
    for (unsigned k = 0; k < blockDim.x; ++k) {
      const float4 other = staged[k];
      const float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
      const float inverse = rsqrtf(x * x + y * y + z * z + 0.01f);
      const float force = other.w * inverse * inverse * inverse;
      ax += x * force;
      ay += y * force;
      az += z * force;
    }
    __syncthreads();
  }
  if (i >= n) return;
  float4 v = velocity[i];
  v.x += ax * dt;
  v.y += ay * dt;
  v.z += az * dt;
  velocity[i] = v;
  out[i] = make_float4(own.x + v.x * dt, own.y + v.y * dt, own.z + v.z * dt, own.w);
}

static void step_on_host(float dt, std::vector<double>& place, std::vector<double>& velocity,
                         const std::vector<float4>& bodies) {
  const std::size_t n = bodies.size();
  std::vector<double> next = place;
  for (std::size_t i = 0; i < n; ++i) {
    double a[3] = {};
    for (std::size_t j = 0; j < n; ++j) {
      double d[3], square = 0.01;
      for (int c = 0; c < 3; ++c) {
        d[c] = place[j * 3 + c] - place[i * 3 + c];
        square += d[c] * d[c];
      }
      for (int c = 0; c < 3; ++c) a[c] += bodies[j].w * d[c] / (square * std::sqrt(square));
    }
    for (int c = 0; c < 3; ++c) {
      velocity[i * 3 + c] += a[c] * dt;
      next[i * 3 + c] += velocity[i * 3 + c] * dt;
    }
  }
  place.swap(next);
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 300), steps = 3;
  const float dt = 0.01f;
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  CHECK(cudaSetDevice(0));
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  std::printf("%s: %d.%d, %d SMs, %zu bytes of memory\n", properties.name, properties.major, properties.minor,
              properties.multiProcessorCount, properties.totalGlobalMem);
  int threads = properties.warpSize;
  while (threads * 2 <= properties.maxThreadsPerBlock && threads * properties.multiProcessorCount < n) threads *= 2;

  std::vector<float4> bodies(n), result(n);
  std::vector<double> place(n * 3), velocity(n * 3, 0.0);
  Random random(15);
  for (int i = 0; i < n; ++i) {
    bodies[i] = make_float4(random.uniform(), random.uniform(), random.uniform(), random.uniform() / n);
    place[i * 3] = bodies[i].x;
    place[i * 3 + 1] = bodies[i].y;
    place[i * 3 + 2] = bodies[i].z;
  }
  float4 *in, *out, *device_velocity;
  CHECK(cudaMalloc(&in, n * sizeof(float4)));
  CHECK(cudaMalloc(&out, n * sizeof(float4)));
  CHECK(cudaMalloc(&device_velocity, n * sizeof(float4)));
  CHECK(cudaMemset(device_velocity, 0, n * sizeof(float4)));
  CHECK(cudaMemcpy(in, bodies.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
  for (int s = 0; s < steps; ++s) {
    step<<<(n + threads - 1) / threads, threads, threads * sizeof(float4)>>>(n, dt, in, out, device_velocity);
    CHECK(cudaGetLastError());
    std::swap(in, out);
    step_on_host(dt, place, velocity, bodies);
  }
  CHECK(cudaMemcpy(result.data(), in, n * sizeof(float4), cudaMemcpyDeviceToHost));
  bool good = devices > 0;
  for (int i = 0; i < n; ++i) {
    good = good && is_close(result[i].x, place[i * 3]) && is_close(result[i].y, place[i * 3 + 1]) &&
           is_close(result[i].z, place[i * 3 + 2]) && result[i].w == bodies[i].w;
  }
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  CHECK(cudaFree(device_velocity));
  return verdict("nbody", good);
}
