// SPDX-License-Identifier: Apache-2.0
//
// Launches of the driver API, with parameters as an array of pointers, packed in a buffer, or put down one by one.
#include "driver.h"

#include <cstring>

namespace regatta::capture {

namespace {

/// CUlaunchConfig.
struct DriverConfiguration {
  Dim3 grid, block;
  unsigned shared;
  void* stream;
  void* attributes;
  unsigned attribute_count;
};

/// Pointers to the parameters of a kernel in a buffer that is laid out as the kernel has them. False: it is too short.
bool point_into(const Kernel& k, const void* buffer, std::size_t bytes, std::vector<void*>& arguments) {
  if (bytes < k.parameter_bytes) return false;
  for (const Kernel::Parameter& p : k.parameters) {
    arguments.push_back(const_cast<std::uint8_t*>(static_cast<const std::uint8_t*>(buffer)) + p.offset);
  }
  return true;
}

/// The list of `extra`: numbers of what follows, then that; ended by 0.
bool read_extra(void** extra, const void*& buffer, std::size_t& bytes) {
  constexpr std::uintptr_t end = 0, is_buffer = 1, is_bytes = 2;
  for (;;) {
    const auto what = reinterpret_cast<std::uintptr_t>(*extra);
    if (what == end) return buffer != nullptr || bytes == 0;
    if (what == is_buffer) {
      buffer = extra[1];
    } else if (what == is_bytes && extra[1] != nullptr) {
      std::memcpy(&bytes, extra[1], sizeof bytes);
    } else {
      return false;
    }
    extra += 2;
  }
}

/// Calls `launch` with an array of pointers, whichever way the parameters come.
template <class Launch>
int with_arguments(void* function, void** arguments, void** extra, Launch launch) {
  return in_context([&]() -> int {
    const Kernel* const k = State::get().kernel(function);
    if (k == nullptr) return invalid_device_function;
    if (arguments != nullptr && extra != nullptr) return invalid_value;
    if (arguments != nullptr || k->parameters.empty()) return launch(arguments);
    const void* buffer = nullptr;
    std::size_t bytes = 0;
    std::vector<void*> packed;
    if (extra == nullptr || !read_extra(extra, buffer, bytes)) return invalid_value;
    if (!point_into(*k, buffer, bytes, packed)) return invalid_value;
    return launch(packed.data());
  });
}

/// Changes what the calls of before CUDA 4 know of a launch.
template <class Change>
int change_legacy(void* function, Change change) {
  return in_context([&]() -> int {
    Kernel* const k = State::get().kernel(function);
    if (k == nullptr) return invalid_device_function;
    change(Driver::get().legacy[k]);
    return success;
  });
}

int set_parameter(void* function, int offset, const void* from, std::size_t bytes) {
  if (offset < 0 || from == nullptr) return invalid_value;
  return change_legacy(function, [&](LegacyLaunch& l) {
    const std::size_t at = static_cast<std::size_t>(offset);
    if (l.parameters.size() < at + bytes) l.parameters.resize(at + bytes);
    std::memcpy(l.parameters.data() + at, from, bytes);
  });
}

}  // namespace

REGATTA_API int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                               unsigned block_y, unsigned block_z, unsigned shared, void* stream, void** arguments,
                               void** extra) {
  return with_arguments(function, arguments, extra, [&](void** list) {
    return cudaLaunchKernel(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, list, shared, stream);
  });
}

REGATTA_API int cuLaunchKernelEx(const DriverConfiguration* c, void* function, void** arguments, void** extra) {
  if (c == nullptr) return invalid_value;
  return with_arguments(function, arguments, extra, [&](void** list) {
    const LaunchConfiguration same{c->grid, c->block, c->shared, c->stream, c->attributes, c->attribute_count};
    return cudaLaunchKernelExC(&same, function, list);
  });
}

REGATTA_API int cuLaunchCooperativeKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                          unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                          void* stream, void** arguments) {
  return with_arguments(function, arguments, nullptr, [&](void** list) {
    return cudaLaunchCooperativeKernel(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, list, shared,
                                       stream);
  });
}

REGATTA_API int cuFuncSetBlockShape(void* function, int x, int y, int z) {
  if (x <= 0 || y <= 0 || z <= 0) return invalid_value;
  return change_legacy(function, [&](LegacyLaunch& l) {
    l.block = {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
  });
}
REGATTA_API int cuFuncSetSharedSize(void* function, unsigned bytes) {
  return change_legacy(function, [&](LegacyLaunch& l) { l.shared = bytes; });
}
REGATTA_API int cuParamSetSize(void* function, unsigned bytes) {
  return change_legacy(function, [&](LegacyLaunch& l) { l.parameters.resize(bytes); });
}
REGATTA_API int cuParamSeti(void* function, int offset, unsigned value) {
  return set_parameter(function, offset, &value, sizeof value);
}
REGATTA_API int cuParamSetf(void* function, int offset, float value) {
  return set_parameter(function, offset, &value, sizeof value);
}
REGATTA_API int cuParamSetv(void* function, int offset, const void* from, unsigned bytes) {
  return set_parameter(function, offset, from, bytes);
}
REGATTA_API int cuLaunchGrid(void* function, int width, int height) {
  if (width <= 0 || height <= 0) return invalid_value;
  return in_context([&]() -> int {
    Kernel* const k = State::get().kernel(function);
    if (k == nullptr) return invalid_device_function;
    const LegacyLaunch l = Driver::get().legacy[k];
    std::vector<void*> arguments;
    if (!point_into(*k, l.parameters.data(), l.parameters.size(), arguments)) return invalid_value;
    return cudaLaunchKernel(function, {static_cast<unsigned>(width), static_cast<unsigned>(height), 1}, l.block,
                            arguments.data(), l.shared, nullptr);
  });
}
REGATTA_API int cuLaunchGridAsync(void* function, int width, int height, void* /*stream*/) {
  return cuLaunchGrid(function, width, height);
}
REGATTA_API int cuLaunch(void* function) { return cuLaunchGrid(function, 1, 1); }

}  // namespace regatta::capture
