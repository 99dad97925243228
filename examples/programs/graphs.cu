// SPDX-License-Identifier: Apache-2.0
//
// CUDA graphs: a step of an iteration captured from two streams and launched until it converges, and a graph of
// explicit nodes whose parameters change between launches.
#include <cmath>
#include <vector>

#include "check.h"

/// Half of a Jacobi step for a matrix with `n` on its diagonal and numbers below 1 beside it.
__global__ void jacobi(int n, int first, int count, const float* matrix, const float* right, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int row = first + i;
  float sum = right[row];
  for (int k = 0; k < n; ++k) sum -= k == row ? 0.0f : matrix[row * n + k] * x[k];
  y[row] = sum / matrix[row * n + row];
}

/// The largest difference, as the bits of a positive number.
__global__ void difference(int n, const float* x, const float* y, int* largest) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(largest, __float_as_int(fabsf(x[i] - y[i])));
}

__global__ void scale(int n, float factor, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

static void CUDART_CB count_call(void* calls) { ++*static_cast<int*>(calls); }

struct Problem {
  int n;
  float *matrix, *right, *x, *y;
  int* change;
};

/// x to y, then the change, then y to x: two streams from the first one and back to it.
static cudaGraph_t captured_step(const Problem& p, cudaStream_t main_stream, cudaStream_t side, int* host_change) {
  cudaEvent_t fork, join;
  CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  const int half = p.n / 2, rest = p.n - half;
  CHECK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemsetAsync(p.change, 0, sizeof(int), main_stream));
  CHECK(cudaEventRecord(fork, main_stream));
  CHECK(cudaStreamWaitEvent(side, fork, 0));
  jacobi<<<(half + 63) / 64, 64, 0, main_stream>>>(p.n, 0, half, p.matrix, p.right, p.x, p.y);
  jacobi<<<(rest + 63) / 64, 64, 0, side>>>(p.n, half, rest, p.matrix, p.right, p.x, p.y);
  CHECK(cudaEventRecord(join, side));
  CHECK(cudaStreamWaitEvent(main_stream, join, 0));
  difference<<<(p.n + 63) / 64, 64, 0, main_stream>>>(p.n, p.x, p.y, p.change);
  CHECK(cudaMemcpyAsync(p.x, p.y, p.n * sizeof(float), cudaMemcpyDeviceToDevice, main_stream));
  CHECK(cudaMemcpyAsync(host_change, p.change, sizeof(int), cudaMemcpyDeviceToHost, main_stream));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(main_stream, &graph));
  CHECK(cudaEventDestroy(fork));
  CHECK(cudaEventDestroy(join));
  return graph;
}

static bool solve(int n) {
  std::vector<float> matrix(n * n), right(n), solution(n);
  Random random(3);
  for (float& f : matrix) f = random.uniform() - 0.5f;
  for (int i = 0; i < n; ++i) {
    matrix[i * n + i] = static_cast<float>(n);
    solution[i] = random.uniform();
  }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < n; ++k) right[i] += matrix[i * n + k] * solution[k];
  }
  Problem p{n, nullptr, nullptr, nullptr, nullptr, nullptr};
  int* host_change;
  CHECK(cudaMalloc(&p.matrix, n * n * sizeof(float)));
  for (float** f : {&p.right, &p.x, &p.y}) CHECK(cudaMalloc(f, n * sizeof(float)));
  CHECK(cudaMalloc(&p.change, sizeof(int)));
  CHECK(cudaMallocHost(&host_change, sizeof(int)));
  CHECK(cudaMemcpy(p.matrix, matrix.data(), n * n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(p.right, right.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(p.x, 0, n * sizeof(float)));
  cudaStream_t main_stream, side;
  CHECK(cudaStreamCreate(&main_stream));
  CHECK(cudaStreamCreate(&side));

  cudaGraph_t graph = captured_step(p, main_stream, side, host_change);
  std::size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  cudaGraphExec_t step;
  CHECK(cudaGraphInstantiate(&step, graph, 0));
  int steps = 0;
  do {
    CHECK(cudaGraphLaunch(step, main_stream));
    CHECK(cudaStreamSynchronize(main_stream));
    ++steps;
  } while (*host_change != 0 && steps < 100);
  std::printf("%d nodes, %d steps\n", static_cast<int>(nodes), steps);

  std::vector<float> found(n);
  CHECK(cudaMemcpy(found.data(), p.x, n * sizeof(float), cudaMemcpyDeviceToHost));
  bool good = nodes == 6 && steps > 3 && steps < 100;
  for (int i = 0; i < n; ++i) good = good && is_close(found[i], solution[i], 1e-3);
  CHECK(cudaGraphExecDestroy(step));
  CHECK(cudaGraphDestroy(graph));
  for (float* f : {p.matrix, p.right, p.x, p.y}) CHECK(cudaFree(f));
  CHECK(cudaFree(p.change));
  CHECK(cudaFreeHost(host_change));
  CHECK(cudaStreamDestroy(main_stream));
  CHECK(cudaStreamDestroy(side));
  return good;
}

/// Copies in, multiplies, copies out and calls the host, with another factor for the second launch.
static bool explicit_nodes(int n) {
  std::vector<float> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = static_cast<float>(i);
  float* x;
  int calls = 0;
  float factor = 2;
  CHECK(cudaMalloc(&x, n * sizeof(float)));
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t copy_in, kernel, copy_out, call;
  CHECK(cudaGraphAddMemcpyNode1D(&copy_in, graph, nullptr, 0, x, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  void* arguments[] = {&n, &factor, &x};
  cudaKernelNodeParams launch = {};
  launch.func = reinterpret_cast<void*>(scale);
  launch.gridDim = dim3((n + 127) / 128);
  launch.blockDim = dim3(128);
  launch.kernelParams = arguments;
  CHECK(cudaGraphAddKernelNode(&kernel, graph, &copy_in, 1, &launch));
  CHECK(
      cudaGraphAddMemcpyNode1D(&copy_out, graph, &kernel, 1, out.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost));
  cudaHostNodeParams host = {count_call, &calls};
  CHECK(cudaGraphAddHostNode(&call, graph, &copy_out, 1, &host));
  cudaGraphExec_t executable;
  CHECK(cudaGraphInstantiate(&executable, graph, 0));

  bool good = true;
  for (const float next : {2.0f, 5.0f}) {
    factor = next;  // the graph has a copy: nothing changes before its parameters are set
    CHECK(cudaGraphExecKernelNodeSetParams(executable, kernel, &launch));
    factor = -1;
    CHECK(cudaGraphLaunch(executable, nullptr));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) good = good && out[i] == next * in[i];
  }
  good = good && calls == 2;
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFree(x));
  return good;
}

/// What is wrong gets CUDA's error: a stream of the capture that does not come back, and waiting for a captured stream.
static bool errors_are_found() {
  cudaStream_t a, b;
  cudaEvent_t event;
  cudaGraph_t graph;
  float* x;
  CHECK(cudaMalloc(&x, sizeof(float)));
  CHECK(cudaStreamCreate(&a));
  CHECK(cudaStreamCreate(&b));
  CHECK(cudaEventCreate(&event));
  CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  CHECK(cudaEventRecord(event, a));
  CHECK(cudaStreamWaitEvent(b, event, 0));
  CHECK(cudaMemsetAsync(x, 0, sizeof(float), b));
  bool good = cudaStreamEndCapture(a, &graph) == cudaErrorStreamCaptureUnjoined && graph == nullptr;
  CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  good = good && cudaStreamSynchronize(a) == cudaErrorStreamCaptureUnsupported;
  good = good && cudaStreamEndCapture(a, &graph) == cudaErrorStreamCaptureInvalidated;
  cudaGetLastError();
  CHECK(cudaEventDestroy(event));
  CHECK(cudaStreamDestroy(a));
  CHECK(cudaStreamDestroy(b));
  CHECK(cudaFree(x));
  return good;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 200);
  bool good = solve(n);
  good = explicit_nodes(n) && good;
  good = errors_are_found() && good;
  return verdict("graphs", good);
}
