// SPDX-License-Identifier: Apache-2.0
//
// A program that loads the CUDA driver itself, as many do so that they start without one. Usage: loads_driver LIBRARY
// FUNCTION: calls cuInit(0), then the function without parameters, and prints what they return.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  void* const library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) {
    std::printf("no library: %s\n", dlerror());
    return 1;
  }
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"));
  const auto function = reinterpret_cast<int (*)()>(dlsym(library, argv[2]));
  if (init == nullptr || function == nullptr) {
    std::printf("no function\n");
    return 1;
  }
  std::printf("cuInit: %d\n", init(0));
  std::fflush(stdout);
  std::printf("%s: %d\n", argv[2], function());
}
