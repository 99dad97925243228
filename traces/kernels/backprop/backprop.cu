// SPDX-License-Identifier: Apache-2.0
//
// One training step of the lower half of a neural network with one hidden layer (back propagation, as in Rodinia's
// backprop): `inputs` units, fully connected with `hidden` = 16 units. The host launches forward, sums the partial
// sums of all CTAs, applies the sigmoid, computes the errors and launches adjust with the errors (`delta`). Both grids
// have inputs / 16 rows of CTAs of 16 x 16 threads; a thread has one weight, its row is the input, its column the
// hidden unit. Unit 0 of every layer is the bias, so a matrix of weights has inputs + 1 rows of hidden + 1 columns.
// Forward overwrites its matrix with intermediate sums. The host therefore copies the weights again before adjust.

namespace {
constexpr int tile = 16;  // inputs of a CTA, and hidden units
constexpr double learning_rate = 0.3;
constexpr double momentum = 0.3;

/// Where the weight of this thread is.
__device__ __forceinline__ int weight_index(int hidden) {
  return (hidden + 1) * (tile * blockIdx.y + threadIdx.y + 1) + threadIdx.x + 1;
}
}  // namespace

/// Adds up weights times inputs, over the 16 inputs of a CTA, for each hidden unit.
extern "C" __global__ void __launch_bounds__(tile* tile)
    backprop_forward(const float* __restrict__ input, float* __restrict__ weights, float* __restrict__ partial_sums,
                     int hidden) {
  __shared__ float input_node[tile];
  __shared__ float product[tile][tile];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int index = weight_index(hidden);

  if (x == 0) input_node[y] = input[tile * blockIdx.y + y + 1];
  __syncthreads();
  product[y][x] = weights[index];
  __syncthreads();
  product[y][x] = product[y][x] * input_node[y];
  __syncthreads();

  for (int step = 2; step <= tile; step *= 2) {
    if (y % step == 0) product[y][x] = product[y][x] + product[y + step / 2][x];
    __syncthreads();
  }

  weights[index] = product[y][x];
  __syncthreads();
  if (x == 0) partial_sums[blockIdx.y * hidden + y] = product[x][y];
}

/// Changes every weight by the error of its hidden unit, and by a part of its previous change. In double precision, as
/// in the original, whose constants are doubles.
extern "C" __global__ void __launch_bounds__(tile* tile)
    backprop_adjust(const float* __restrict__ delta, int hidden, const float* __restrict__ input,
                    float* __restrict__ weights, float* __restrict__ changes) {
  const int index = weight_index(hidden);
  const int row = tile * blockIdx.y + threadIdx.y + 1;
  const int column = threadIdx.x + 1;

  const double change = learning_rate * delta[column] * input[row] + momentum * changes[index];
  weights[index] = static_cast<float>(weights[index] + change);
  changes[index] = static_cast<float>(change);
  __syncthreads();

  // The weights of the bias: its unit is 1.
  if (threadIdx.y == 0 && blockIdx.y == 0) {
    const double bias_change = learning_rate * delta[column] + momentum * changes[column];
    weights[column] = static_cast<float>(weights[column] + bias_change);
    changes[column] = static_cast<float>(bias_change);
  }
}
