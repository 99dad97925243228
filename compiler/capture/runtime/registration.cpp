// SPDX-License-Identifier: Apache-2.0
//
// What the compiler makes a program call before main(): its fat binaries, kernels and variables, and the two halves of
// "kernel<<<...>>>(...)".
#include "images.h"
#include "state.h"

#include <cstring>

namespace regatta::capture {

namespace {

struct Configuration {
  Dim3 grid, block;
  std::size_t shared;
  void* stream;
};
std::vector<Configuration>& configurations() {
  thread_local std::vector<Configuration> stack;
  return stack;
}

}  // namespace

REGATTA_API void** __cudaRegisterFatBinary(void* binary) {
  State& s = State::get();
  const Guard guard(s.lock);
  std::vector<std::uint8_t> image = wrapped_image(binary);
  if (image.empty()) refuse("a fat binary of an unknown form is registered");
  Module& m = s.add_module("the program's fat binary " + std::to_string(s.modules.size() + 1), std::move(image));
  return reinterpret_cast<void**>(&m);
}

REGATTA_API void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}
REGATTA_API void __cudaUnregisterFatBinary(void** /*handle*/) { State::get().flush(); }

REGATTA_API char __cudaInitModule(void** handle) {
  State& s = State::get();
  const Guard guard(s.lock);
  Module& m = *reinterpret_cast<Module*>(handle);
  if (!m.managed.empty()) s.load(m);
  return 1;
}

REGATTA_API void __cudaRegisterFunction(void** handle, const char* host, char* /*device*/, const char* name,
                                        int /*thread_limit*/, void* /*tid*/, void* /*bid*/, Dim3* /*block*/,
                                        Dim3* /*grid*/, int* /*warp_size*/) {
  State& s = State::get();
  const Guard guard(s.lock);
  s.functions[host] = {reinterpret_cast<Module*>(handle), name};
}

REGATTA_API void __cudaRegisterVar(void** handle, char* host, char* /*device*/, const char* name, int /*external*/,
                                   std::size_t /*bytes*/, int /*constant*/, int /*global*/) {
  State& s = State::get();
  const Guard guard(s.lock);
  s.symbols[host] = {reinterpret_cast<Module*>(handle), name};
}

REGATTA_API void __cudaRegisterHostVar(void** /*handle*/, const char* /*name*/, char* /*host*/, std::size_t /*bytes*/) {
}

REGATTA_API void __cudaRegisterManagedVar(void** handle, void** place, char* /*device*/, const char* name,
                                          int /*external*/, std::size_t /*bytes*/, int /*constant*/, int /*global*/) {
  State& s = State::get();
  const Guard guard(s.lock);
  auto* const m = reinterpret_cast<Module*>(handle);
  m->managed.emplace_back(name, place);
  s.symbols[place] = {m, name};
}

REGATTA_API unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared, void* stream) {
  configurations().push_back({grid, block, shared, stream});
  return 0;
}

REGATTA_API int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared, void* stream) {
  std::vector<Configuration>& stack = configurations();
  if (stack.empty()) return result(invalid_configuration);
  const Configuration c = stack.back();
  stack.pop_back();
  *grid = c.grid;
  *block = c.block;
  *shared = c.shared;
  std::memcpy(stream, &c.stream, sizeof c.stream);
  return success;
}

}  // namespace regatta::capture
