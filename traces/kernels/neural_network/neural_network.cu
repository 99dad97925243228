// SPDX-License-Identifier: Apache-2.0
//
// Recognition of handwritten digits by a convolutional network. The host launches first, second, third and fourth; the
// grid is the layer's maps or neurons by the pictures. The first two layers are convolutions with windows of 5 x 5 at
// every second place, a CTA per map and a thread per neuron: 29 x 29 pixels to maps of 13 x 13, then to maps of 5 x 5.
// The other two are fully connected, a CTA of a single thread per neuron. The first weight of a map or neuron is its
// bias.

namespace {
constexpr int picture = 29;
constexpr int first_map = 13;
constexpr int second_map = 5;
constexpr int first_neurons = first_map * first_map;
constexpr int second_neurons = second_map * second_map;
constexpr int window = 5 * 5;

__device__ __forceinline__ float squash(float sum) { return 1.7159f * tanhf(0.66666667f * sum); }

__device__ __forceinline__ void fully_connected(const float* in, const float* weights, float* out, int inputs) {
  in += blockIdx.y * inputs;
  weights += blockIdx.x * (inputs + 1);
  float sum = weights[0];
  for (int i = 0; i < inputs; ++i) sum = fmaf(in[i], weights[i + 1], sum);
  out[blockIdx.y * gridDim.x + blockIdx.x] = squash(sum);
}
}  // namespace

/// Distances of a window's elements in a picture and in a map of the first layer.
__constant__ int in_picture[window] = {0,  1,  2,  3,  4,  29, 30, 31,  32,  33,  58,  59, 60,
                                       61, 62, 87, 88, 89, 90, 91, 116, 117, 118, 119, 120};
__constant__ int in_first_map[window] = {0,  1,  2,  3,  4,  13, 14, 15, 16, 17, 26, 27, 28,
                                         29, 30, 39, 40, 41, 42, 43, 52, 53, 54, 55, 56};

extern "C" __global__ void __launch_bounds__(first_neurons)
    neural_network_first(const float* __restrict__ pictures, const float* __restrict__ weights,
                         float* __restrict__ neurons) {
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const float* const in = pictures + blockIdx.y * (picture * picture) + 2 * y * picture + 2 * x;
  weights += blockIdx.x * (window + 1);
  float sum = weights[0];
  for (int i = 0; i < window; ++i) sum = fmaf(in[in_picture[i]], weights[i + 1], sum);
  neurons[(blockIdx.y * gridDim.x + blockIdx.x) * first_neurons + y * first_map + x] = squash(sum);
}

/// `maps` of the first layer. Weights of the same place in all maps are neighbours.
extern "C" __global__ void __launch_bounds__(second_neurons)
    neural_network_second(const float* __restrict__ in_neurons, const float* __restrict__ weights,
                          float* __restrict__ neurons, int maps) {
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const float* const in = in_neurons + blockIdx.y * maps * first_neurons + 2 * y * first_map + 2 * x;
  weights += blockIdx.x * (window * maps + 1);
  float sum = *weights++;
  for (int i = 0; i < window; ++i) {
    const float* at = in + in_first_map[i];
    for (int map = 0; map < maps; ++map, at += first_neurons) sum = fmaf(*at, *weights++, sum);
  }
  neurons[(blockIdx.y * gridDim.x + blockIdx.x) * second_neurons + y * second_map + x] = squash(sum);
}

extern "C" __global__ void neural_network_third(const float* __restrict__ in_neurons, const float* __restrict__ weights,
                                                float* __restrict__ neurons, int inputs) {
  fully_connected(in_neurons, weights, neurons, inputs);
}

extern "C" __global__ void neural_network_fourth(const float* __restrict__ in_neurons,
                                                 const float* __restrict__ weights, float* __restrict__ neurons,
                                                 int inputs) {
  fully_connected(in_neurons, weights, neurons, inputs);
}
