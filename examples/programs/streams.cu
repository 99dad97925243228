// SPDX-License-Identifier: Apache-2.0
//
// y = a * x + y in slices: four streams copy in, compute and copy out, so that copies of one slice overlap with the
// computation of another. An event makes a fifth stream wait for all of them; a host function counts what is done.
#include <atomic>
#include <vector>

#include "check.h"

__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

/// One warp a CTA: partial sums, so that the last stream has something to wait for.
__global__ void partial_sums(int n, const float* y, float* sums) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += gridDim.x * 32) sum += y[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

static void count_slice(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

int main(int argc, char** argv) {
  constexpr int slices = 4, threads = 256, sum_ctas = 8;
  const int n = size_argument(argc, argv, 65536);
  const float a = 1.5f;
  const int slice = (n + slices - 1) / slices;

  float *x, *y;  // pinned: asynchronous copies need it
  CHECK(cudaMallocHost(&x, n * sizeof(float)));
  CHECK(cudaHostAlloc(reinterpret_cast<void**>(&y), n * sizeof(float), cudaHostAllocDefault));
  Random random;
  std::vector<float> expected(n);
  for (int i = 0; i < n; ++i) {
    x[i] = random.uniform();
    y[i] = random.uniform();
    expected[i] = a * x[i] + y[i];
  }

  float *device_x, *device_y, *device_sums;
  CHECK(cudaMalloc(&device_x, n * sizeof(float)));
  CHECK(cudaMalloc(&device_y, n * sizeof(float)));
  CHECK(cudaMalloc(&device_sums, sum_ctas * sizeof(float)));

  cudaStream_t streams[slices], last;
  cudaEvent_t computed[slices], begin, end;
  std::atomic<int> finished{0};
  CHECK(cudaStreamCreateWithFlags(&last, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(begin));
  for (int s = 0; s < slices; ++s) {
    const int from = s * slice, count = from + slice < n ? slice : (n > from ? n - from : 0);
    CHECK(cudaStreamCreate(&streams[s]));
    CHECK(cudaEventCreateWithFlags(&computed[s], cudaEventDisableTiming));
    if (count > 0) {
      const std::size_t bytes = count * sizeof(float);
      CHECK(cudaMemcpyAsync(device_x + from, x + from, bytes, cudaMemcpyHostToDevice, streams[s]));
      CHECK(cudaMemcpyAsync(device_y + from, y + from, bytes, cudaMemcpyHostToDevice, streams[s]));
      saxpy<<<(count + threads - 1) / threads, threads, 0, streams[s]>>>(count, a, device_x + from, device_y + from);
      CHECK(cudaGetLastError());
      CHECK(cudaEventRecord(computed[s], streams[s]));
      CHECK(cudaMemcpyAsync(y + from, device_y + from, bytes, cudaMemcpyDeviceToHost, streams[s]));
    } else {
      CHECK(cudaEventRecord(computed[s], streams[s]));
    }
    CHECK(cudaLaunchHostFunc(streams[s], count_slice, &finished));
    CHECK(cudaStreamWaitEvent(last, computed[s], 0));
  }
  partial_sums<<<sum_ctas, 32, 0, last>>>(n, device_y, device_sums);
  CHECK(cudaGetLastError());
  float sums[sum_ctas];
  CHECK(cudaMemcpyAsync(sums, device_sums, sizeof sums, cudaMemcpyDeviceToHost, last));
  CHECK(cudaStreamSynchronize(last));
  CHECK(cudaEventRecord(end));
  CHECK(cudaDeviceSynchronize());
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, begin, end));

  bool good = finished == slices && milliseconds >= 0 && cudaStreamQuery(last) == cudaSuccess;
  double sum = 0, expected_sum = 0;
  for (int i = 0; i < n; ++i) {
    good = good && is_close(y[i], expected[i], 1e-6);
    expected_sum += expected[i];
  }
  for (const float s : sums) sum += s;
  good = good && is_close(sum, expected_sum);
  for (int s = 0; s < slices; ++s) {
    CHECK(cudaEventDestroy(computed[s]));
    CHECK(cudaStreamDestroy(streams[s]));
  }
  CHECK(cudaFreeHost(x));
  CHECK(cudaFreeHost(y));
  CHECK(cudaFree(device_x));
  CHECK(cudaFree(device_y));
  CHECK(cudaFree(device_sums));
  return verdict("streams", good);
}
