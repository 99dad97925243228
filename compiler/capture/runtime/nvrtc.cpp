// SPDX-License-Identifier: Apache-2.0
//
// CUDA's compiler as a library (NVRTC), which a program brings with it, works without a GPU. Of what it compiles for
// one GPU it also has the PTX; a program that asks for the machine code is given that in its place.
#include "abi.h"
#include "connection.h"

#include <dlfcn.h>

namespace regatta::capture {

namespace {

template <class Function>
Function next(const char* name) {
  const auto function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  if (function == nullptr) refuse("the program calls NVRTC, whose " + std::string(name) + "() is not found");
  return function;
}

}  // namespace

REGATTA_API int nvrtcGetCUBINSize(void* program, std::size_t* bytes) {
  return next<int (*)(void*, std::size_t*)>("nvrtcGetPTXSize")(program, bytes);
}
REGATTA_API int nvrtcGetCUBIN(void* program, char* code) {
  return next<int (*)(void*, char*)>("nvrtcGetPTX")(program, code);
}

}  // namespace regatta::capture
