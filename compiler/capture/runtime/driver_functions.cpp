// SPDX-License-Identifier: Apache-2.0
//
// Kernels of the driver API: what they are, and occupancy. A CUfunction and a CUkernel are one handle.
#include "driver.h"

#include <algorithm>
#include <iterator>

namespace regatta::capture {

namespace {

/// CUfunction_attribute; those behind `carveout`, up to the last, are of clusters.
enum FunctionAttribute : int {
  attribute_max_threads = 0,
  attribute_shared = 1,
  attribute_constant = 2,
  attribute_local = 3,
  attribute_registers = 4,
  attribute_ptx_version = 5,
  attribute_binary_version = 6,
  attribute_cache_mode = 7,
  attribute_max_dynamic_shared = 8,
  attribute_carveout = 9,
  attribute_last = 15,
};

int get_attribute(int* value, int attribute, void* function) {
  if (value == nullptr) return invalid_value;
  FunctionAttributes a{};
  const int code = cudaFuncGetAttributes(&a, function);
  if (code != success) return code;
  switch (attribute) {
    case attribute_max_threads:
      *value = a.max_threads;
      break;
    case attribute_shared:
      *value = static_cast<int>(a.shared_bytes);
      break;
    case attribute_constant:
      *value = static_cast<int>(a.constant_bytes);
      break;
    case attribute_local:
      *value = static_cast<int>(a.local_bytes);
      break;
    case attribute_registers:
      *value = a.registers;
      break;
    case attribute_ptx_version:
      *value = a.ptx_version;
      break;
    case attribute_binary_version:
      *value = a.binary_version;
      break;
    case attribute_cache_mode:
      *value = a.cache_mode;
      break;
    case attribute_max_dynamic_shared:
      *value = a.max_dynamic_shared;
      break;
    case attribute_carveout:
      *value = a.carveout;
      break;
    default:
      if (attribute < 0 || attribute > attribute_last) return invalid_value;
      *value = 0;
  }
  return success;
}

/// Reads something of a kernel.
template <class Use>
int of_kernel(void* function, Use use) {
  State& s = State::get();
  const Guard guard(s.lock);
  Kernel* const k = s.kernel(function);
  return k == nullptr ? driver_error::invalid_handle : use(*k);
}

int parameter_of(void* function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  return of_kernel(function, [&](const Kernel& k) -> int {
    if (offset == nullptr || index >= k.parameters.size()) return invalid_value;
    *offset = k.parameters[index].offset;
    if (bytes != nullptr) *bytes = k.parameters[index].bytes;
    return success;
  });
}

int name_of(const char** name, void* function) {
  if (name == nullptr) return invalid_value;
  return of_kernel(function, [&](const Kernel& k) -> int {
    *name = k.name.c_str();
    return success;
  });
}

int module_of(void** module, void* function) {
  if (module == nullptr) return invalid_value;
  return of_kernel(function, [&](const Kernel& k) -> int {
    *module = k.module;
    return success;
  });
}

using SharedOfBlock = std::size_t (*)(int block);

/// The block with which most threads are resident, the largest one of those.
int best_block(int* ctas, int* block, void* function, SharedOfBlock shared_of, std::size_t shared, int limit) {
  if (ctas == nullptr || block == nullptr) return invalid_value;
  constexpr int warp = 32;
  FunctionAttributes a{};
  int code = cudaFuncGetAttributes(&a, function);
  if (code != success) return code;
  const int most = limit > 0 ? std::min(limit, a.max_threads) : a.max_threads;
  int best_threads = 0;
  for (int size = (most + warp - 1) / warp * warp; size > 0; size -= warp) {
    const int threads = std::min(size, most);
    int each = 0;
    code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, function, threads,
                                                         shared_of != nullptr ? shared_of(threads) : shared);
    if (code != success) return code;
    if (each * threads <= best_threads) continue;
    best_threads = each * threads;
    *block = threads;
    *ctas = each * static_cast<int>(device().multiprocessors);
  }
  return best_threads == 0 ? launch_out_of_resources : success;
}

}  // namespace

REGATTA_API int cuFuncGetAttribute(int* value, int attribute, void* function) {
  return in_context([&] { return get_attribute(value, attribute, function); });
}
REGATTA_API int cuFuncSetAttribute(void* function, int attribute, int value) {
  return in_context([&] { return cudaFuncSetAttribute(function, attribute, value); });
}
REGATTA_API int cuKernelGetAttribute(int* value, int attribute, void* kernel, int number) {
  const int code = check_device(number);
  return code != success ? code : through_runtime([&] { return get_attribute(value, attribute, kernel); });
}
REGATTA_API int cuKernelSetAttribute(int attribute, int value, void* kernel, int number) {
  const int code = check_device(number);
  return code != success ? code : through_runtime([&] { return cudaFuncSetAttribute(kernel, attribute, value); });
}
REGATTA_API int cudaKernelSetAttributeForDevice(void* kernel, int attribute, int value, int number) {
  return number != 0 ? result(invalid_device) : cudaFuncSetAttribute(kernel, attribute, value);
}
REGATTA_API int cuFuncSetCacheConfig(void* /*function*/, int /*preference*/) {
  return in_context([] { return success; });
}
REGATTA_API int cuFuncSetSharedMemConfig(void* /*function*/, int /*banks*/) {
  return in_context([] { return success; });
}
REGATTA_API int cuKernelSetCacheConfig(void* /*kernel*/, int /*preference*/, int number) {
  return check_device(number);
}
REGATTA_API int cuFuncGetName(const char** name, void* function) { return name_of(name, function); }
REGATTA_API int cuKernelGetName(const char** name, void* kernel) { return name_of(name, kernel); }
REGATTA_API int cuFuncGetModule(void** module, void* function) { return module_of(module, function); }
REGATTA_API int cuKernelGetLibrary(void** library, void* kernel) { return module_of(library, kernel); }
REGATTA_API int cuKernelGetFunction(void** function, void* kernel) {
  if (function == nullptr) return invalid_value;
  return of_kernel(kernel, [&](Kernel& k) -> int {
    *function = &k;
    return success;
  });
}
REGATTA_API int cuFuncGetParamInfo(void* function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  return parameter_of(function, index, offset, bytes);
}
REGATTA_API int cuKernelGetParamInfo(void* kernel, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  return parameter_of(kernel, index, offset, bytes);
}
REGATTA_API int cuFuncLoad(void* function) {
  return of_kernel(function, [](const Kernel&) -> int { return success; });
}
REGATTA_API int cuFuncIsLoaded(int* state, void* function) {
  if (state == nullptr) return invalid_value;
  *state = 1;
  return cuFuncLoad(function);
}

REGATTA_API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* ctas, void* function, int block, std::size_t shared) {
  return in_context([&] {
    return ctas == nullptr ? int{invalid_value}
                           : cudaOccupancyMaxActiveBlocksPerMultiprocessor(ctas, function, block, shared);
  });
}
REGATTA_API int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* ctas, void* function, int block,
                                                                     std::size_t shared, unsigned /*flags*/) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(ctas, function, block, shared);
}
REGATTA_API int cuOccupancyMaxPotentialBlockSize(int* ctas, int* block, void* function, SharedOfBlock shared_of,
                                                 std::size_t shared, int limit) {
  return in_context([&] { return best_block(ctas, block, function, shared_of, shared, limit); });
}
REGATTA_API int cuOccupancyMaxPotentialBlockSizeWithFlags(int* ctas, int* block, void* function,
                                                          SharedOfBlock shared_of, std::size_t shared, int limit,
                                                          unsigned /*flags*/) {
  return cuOccupancyMaxPotentialBlockSize(ctas, block, function, shared_of, shared, limit);
}
REGATTA_API int cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, void* function, int ctas, int block) {
  return in_context([&] { return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, ctas, block); });
}

}  // namespace regatta::capture
