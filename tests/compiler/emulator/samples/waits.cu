// SPDX-License-Identifier: Apache-2.0
// Programs whose CTAs or lanes have to progress together.
//   nvcc -std=c++17 -ptx -arch=sm_75 -O3 waits.cu -o waits.sm75.ptx
//   nvcc -std=c++17 -ptx -arch=sm_75 -G waits.cu -o waits.debug.sm75.ptx   (source paths and debug sections removed)
extern "C" __global__ void grid_barrier(unsigned* count) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(count, 1);
    while (*(volatile unsigned*)count < gridDim.x) {
    }
  }
  __syncthreads();
}
extern "C" __global__ void spin_lock(int* lock, int* sum) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  *sum += 1;
  __threadfence();
  atomicExch(lock, 0);
}
// Waits longer and longer, counts how often, and looks at the clock.
extern "C" __global__ void backs_off(int* lock, unsigned long long* spent) {
  unsigned pause = 8, turns = 0;
  const long long begin = clock64();
  while (atomicExch(lock, 1) != 0) {
    ++turns;
    __nanosleep(pause);
    if (pause < 256) pause *= 2;
  }
  *spent = turns + (clock64() - begin);
  if (threadIdx.x == 0) atomicExch(lock, 0);
}
