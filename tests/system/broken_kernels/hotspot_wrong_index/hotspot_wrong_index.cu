// SPDX-License-Identifier: Apache-2.0
//
// hotspot with a race: the pitch of the result is one short, so that the last cell of a row and the first of the next
// are stored to one place by two threads.

namespace {
constexpr int tile = 16;
}  // namespace

extern "C" __global__ void __launch_bounds__(tile* tile)
    hotspot(const float* __restrict__ now, const float* __restrict__ power, float* __restrict__ next, int rows,
            int columns, float conductance,  // between neighbours, times kelvin
            float sink, float ambient,       // conductance to the sink, its temperature
            float step) {                    // time step over heat capacity
  __shared__ float cell[tile + 2][tile + 2];

  const int tx = threadIdx.x + 1;
  const int ty = threadIdx.y + 1;
  const int column = blockIdx.x * tile + threadIdx.x;
  const int row = blockIdx.y * tile + threadIdx.y;
  // Threads beyond the chip stage its last row or column, which is what the rim of the others needs.
  const int x = min(column, columns - 1);
  const int y = min(row, rows - 1);

  cell[ty][tx] = now[y * columns + x];
  if (threadIdx.x == 0) cell[ty][0] = now[y * columns + max(x - 1, 0)];
  if (threadIdx.x == tile - 1) cell[ty][tile + 1] = now[y * columns + min(x + 1, columns - 1)];
  if (threadIdx.y == 0) cell[0][tx] = now[max(y - 1, 0) * columns + x];
  if (threadIdx.y == tile - 1) cell[tile + 1][tx] = now[min(y + 1, rows - 1) * columns + x];
  __syncthreads();

  if (row < rows && column < columns) {
    const float here = cell[ty][tx];
    const float vertical = fmaf(-2.0f, here, cell[ty - 1][tx] + cell[ty + 1][tx]);
    const float horizontal = fmaf(-2.0f, here, cell[ty][tx - 1] + cell[ty][tx + 1]);
    const float between = conductance / here;
    const float lateral = fmaf(between, vertical + horizontal, power[row * columns + column]);
    const float flow = fmaf(ambient - here, sink, lateral);
    next[row * (columns - 1) + column] = fmaf(step, flow, here);
  }
}
