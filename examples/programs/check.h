// SPDX-License-Identifier: Apache-2.0
//
// What every program here needs: errors of the runtime end it, results are compared, the last line is the verdict.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CHECK(call) check((call), #call)

inline void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\nFAILED\n", call, cudaGetErrorString(error));
  std::exit(1);
}

/// The first argument as a number, or `otherwise`.
inline int size_argument(int argc, char** argv, int otherwise) {
  const int size = argc > 1 ? std::atoi(argv[1]) : otherwise;
  if (size > 0) return size;
  std::printf("size '%s', expected a positive number\nFAILED\n", argv[1]);
  std::exit(1);
}

/// Equal but for rounding: the device may fuse a multiplication and an addition, the host does not.
inline bool is_close(double a, double b, double tolerance = 1e-4) {
  return std::fabs(a - b) <= tolerance * (1 + std::fabs(b));
}

/// Numbers that are the same on every host.
class Random {
 public:
  explicit Random(unsigned seed = 1) : state_(seed * 2654435761u + 12345u) {}
  unsigned next() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 8;
  }
  int below(int n) { return static_cast<int>(next() % static_cast<unsigned>(n)); }
  float uniform() { return static_cast<float>(next()) / 16777216.0f; }

 private:
  unsigned state_;
};

/// Prints the verdict; its value is the exit status.
inline int verdict(const char* program, bool good) {
  std::printf("%s: %s\n", program, good ? "PASSED" : "FAILED");
  return good ? 0 : 1;
}
