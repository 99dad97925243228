// SPDX-License-Identifier: Apache-2.0
//
// Launches, and what a program asks about its kernels.
#include "graphs.h"
#include "state.h"

#include <algorithm>
#include <cstring>

namespace regatta::capture {

namespace {

int launch(const void* function, Dim3 grid, Dim3 block, void** arguments, std::size_t shared, std::uint32_t flags,
           void* stream) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (s.kernel(function) == nullptr) return result(invalid_device_function);
  KernelWork work = kernel_work(function, grid, block, arguments, shared, flags);
  if (GraphNode* const node = Graphs::get().add_to(stream, NodeType::kernel)) {
    node->kernel = std::move(work);
    return result(success);
  }
  const bool was_good = s.sticky == success;
  const int error = run_kernel(work);
  // A launch does not wait for the kernel: what the kernel does wrong is the result of the next call.
  if (was_good && s.sticky != success) return success;
  return result(error);
}

/// CTAs of a kernel that a multiprocessor holds at once.
int resident(const KernelDescription& k, int block, std::size_t dynamic_shared) {
  const DeviceDescription& d = device();
  constexpr std::uint32_t warp = 32, registers_granule = 256, shared_granule = 128, reserved = 1024;
  const std::uint32_t warps = (static_cast<std::uint32_t>(std::max(block, 1)) + warp - 1) / warp;
  std::uint32_t most = std::min(d.ctas_per_multiprocessor, d.threads_per_multiprocessor / (warps * warp));
  const std::uint32_t registers =
      (k.registers * warp + registers_granule - 1) / registers_granule * registers_granule * warps;
  if (registers != 0) most = std::min(most, d.registers_per_multiprocessor / registers);
  std::uint64_t shared = k.shared + dynamic_shared;
  if (shared != 0) {
    shared = (shared + (d.major >= 8 ? reserved : 0) + shared_granule - 1) / shared_granule * shared_granule;
    most = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, d.shared_per_multiprocessor / shared));
  }
  return static_cast<int>(most);
}

}  // namespace

REGATTA_API int cudaLaunchKernel(const void* function, Dim3 grid, Dim3 block, void** arguments, std::size_t shared,
                                 void* stream) {
  return launch(function, grid, block, arguments, shared, 0, stream);
}
REGATTA_API int __cudaLaunchKernel(const void* kernel, Dim3 grid, Dim3 block, void** arguments, std::size_t shared,
                                   void* stream) {
  return launch(kernel, grid, block, arguments, shared, 0, stream);
}
REGATTA_API int cudaLaunchCooperativeKernel(const void* function, Dim3 grid, Dim3 block, void** arguments,
                                            std::size_t shared, void* stream) {
  State& s = State::get();
  const Guard guard(s.lock);
  Kernel* const k = s.kernel(function);
  if (k == nullptr) return result(invalid_device_function);
  const std::uint64_t ctas = std::uint64_t{grid.x} * grid.y * grid.z;
  const int each = resident(s.resources(*k), static_cast<int>(block.x * block.y * block.z), shared);
  if (ctas > static_cast<std::uint64_t>(each) * device().multiprocessors) return result(cooperative_launch_too_large);
  return launch(function, grid, block, arguments, shared, launch_cooperative, stream);
}
REGATTA_API int cudaLaunchKernelExC(const LaunchConfiguration* c, const void* function, void** arguments) {
  if (c == nullptr) return result(invalid_value);
  constexpr int cooperative = 2, cluster = 4;
  struct Attribute {
    int id, padding;
    std::uint32_t value[16];
  };
  std::uint32_t flags = 0;
  for (unsigned i = 0; i < c->attribute_count; ++i) {
    const Attribute& a = static_cast<const Attribute*>(c->attributes)[i];
    if (a.id == cooperative && a.value[0] != 0) flags |= launch_cooperative;
    if (a.id == cluster && (a.value[0] > 1 || a.value[1] > 1 || a.value[2] > 1)) {
      refuse("the program launches clusters of " + std::to_string(a.value[0]) + " x " + std::to_string(a.value[1]) +
             " x " + std::to_string(a.value[2]) + " CTAs, which are not supported: a cluster has one CTA");
    }
  }
  return launch(function, c->grid, c->block, arguments, c->shared, flags, c->stream);
}

REGATTA_API int __cudaGetKernel(void** handle, const void* function) {
  State& s = State::get();
  const Guard guard(s.lock);
  *handle = s.kernel(function);
  return result(*handle == nullptr ? invalid_device_function : success);
}
REGATTA_API int cudaGetKernel(void** handle, const void* function) { return __cudaGetKernel(handle, function); }
REGATTA_API int cudaGetFuncBySymbol(void** handle, const void* function) { return __cudaGetKernel(handle, function); }
REGATTA_API int cudaFuncGetName(const char** name, const void* function) {
  State& s = State::get();
  const Guard guard(s.lock);
  Kernel* const k = s.kernel(function);
  if (k == nullptr) return result(invalid_device_function);
  *name = k->name.c_str();
  return result(success);
}

REGATTA_API int cudaFuncGetAttributes(FunctionAttributes* a, const void* function) {
  State& s = State::get();
  const Guard guard(s.lock);
  Kernel* const k = s.kernel(function);
  if (a == nullptr || k == nullptr) return result(invalid_device_function);
  const DeviceDescription& d = device();
  const KernelDescription& r = s.resources(*k);
  a->shared_bytes = r.shared;
  a->constant_bytes = 0;
  a->local_bytes = r.local;
  a->max_threads = static_cast<int>(r.max_threads);
  a->registers = static_cast<int>(r.registers);
  // CUB chooses the variant of an algorithm by the version of the PTX, which must be one that the program has.
  a->ptx_version = static_cast<int>(r.target);
  a->binary_version = static_cast<int>(10 * d.major + d.minor);
  a->cache_mode = 0;
  a->max_dynamic_shared =
      std::max(k->max_dynamic_shared, static_cast<int>(d.shared_per_cta) - static_cast<int>(k->description.shared));
  a->carveout = -1;
  return result(success);
}

REGATTA_API int cudaFuncSetAttribute(const void* function, int attribute, int value) {
  State& s = State::get();
  const Guard guard(s.lock);
  Kernel* const k = s.kernel(function);
  if (k == nullptr) return result(invalid_device_function);
  constexpr int max_dynamic_shared = 8;
  if (attribute == max_dynamic_shared) {
    if (value < 0 || static_cast<std::uint32_t>(value) + k->description.shared > device().shared_per_cta_opt_in) {
      return result(invalid_value);
    }
    k->max_dynamic_shared = value;
  }
  return result(success);
}
REGATTA_API int cudaFuncSetCacheConfig(const void* /*function*/, int /*preference*/) { return result(success); }
REGATTA_API int cudaFuncSetSharedMemConfig(const void* /*function*/, int /*banks*/) { return result(success); }

REGATTA_API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* ctas, const void* function, int block,
                                                              std::size_t shared) {
  State& s = State::get();
  const Guard guard(s.lock);
  Kernel* const k = s.kernel(function);
  if (k == nullptr) return result(invalid_device_function);
  *ctas = resident(s.resources(*k), block, shared);
  return result(success);
}
REGATTA_API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* ctas, const void* function, int block,
                                                                       std::size_t shared, unsigned /*flags*/) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(ctas, function, block, shared);
}
REGATTA_API int cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function, int ctas,
                                                          int /*block*/) {
  State& s = State::get();
  const Guard guard(s.lock);
  const Kernel* const k = s.kernel(function);
  if (k == nullptr || ctas <= 0) return result(invalid_value);
  const std::size_t each = device().shared_per_multiprocessor / static_cast<unsigned>(ctas);
  *bytes = each > k->description.shared ? each - k->description.shared : 0;
  return result(success);
}

}  // namespace regatta::capture
