// SPDX-License-Identifier: Apache-2.0
#include "fake_driver.h"

#include <cstdlib>
#include <cstring>

namespace regatta::hardware {
namespace {

constexpr CudaResult invalid_value = 1;
constexpr CudaResult not_found = 500;
constexpr int compute_capability[] = {9, 1};

CudaAddress address_of(void* p) { return static_cast<CudaAddress>(reinterpret_cast<std::uintptr_t>(p)); }
void* pointer_to(CudaAddress a) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(a)); }

}  // namespace

FakeDevice& fake_device() {
  static FakeDevice device;
  return device;
}

CudaDriver fake_driver() {
  CudaDriver d{};
  d.init = [](unsigned flags) { return flags == 0 ? 0 : invalid_value; };
  d.get_error_string = [](CudaResult, const char** text) {
    *text = "as the test wants it";
    return 0;
  };
  d.driver_get_version = [](int* version) {
    *version = 12040;
    return 0;
  };
  d.device_get_count = [](int* count) {
    *count = fake_device().gpus;
    return 0;
  };
  d.device_get = [](int* device, int ordinal) {
    *device = 7;
    return ordinal == 0 ? 0 : invalid_value;
  };
  d.device_get_name = [](char* name, int length, int) {
    std::strncpy(name, "Fake GPU", static_cast<std::size_t>(length));
    return 0;
  };
  d.device_get_attribute = [](int* value, int attribute, int device) {
    *value = compute_capability[attribute == attribute_compute_capability_minor ? 1 : 0];
    return device == 7 ? 0 : invalid_value;
  };
  d.primary_context_retain = [](void** context, int device) {
    *context = &fake_device();
    ++fake_device().contexts;
    return device == 7 ? 0 : invalid_value;
  };
  d.primary_context_release = [](int) {
    --fake_device().contexts;
    return 0;
  };
  d.context_set_current = [](void* context) { return context == &fake_device() ? 0 : invalid_value; };
  d.context_synchronize = [] { return 0; };
  d.module_load_data = [](void** module, const void* image, unsigned options, int* names, void** values) {
    const auto* text = static_cast<const char*>(image);
    if (std::strstr(text, ".version") == nullptr || options != 2 || names[0] != jit_error_log_buffer ||
        names[1] != jit_error_log_buffer_size_bytes) {
      return invalid_value;
    }
    if (fake_device().load_result != 0) {
      std::strncpy(static_cast<char*>(values[0]), "ptxas fatal : too old\nmore\n",
                   reinterpret_cast<std::uintptr_t>(values[1]));
      return fake_device().load_result;
    }
    *module = &fake_device().kernels;
    ++fake_device().modules;
    return 0;
  };
  d.module_unload = [](void*) {
    --fake_device().modules;
    return 0;
  };
  d.module_get_function = [](void** function, void*, const char* name) {
    const auto kernel = fake_device().kernels.find(name);
    if (kernel == fake_device().kernels.end()) return not_found;
    *function = &kernel->second;
    return 0;
  };
  d.module_get_global = [](CudaAddress* address, std::size_t* bytes, void*, const char* name) {
    const auto variable = fake_device().variables.find(name);
    if (variable == fake_device().variables.end()) return not_found;
    *address = address_of(variable->second.data());
    *bytes = variable->second.size();
    return 0;
  };
  d.function_set_attribute = [](void*, int, int) { return 0; };
  d.memory_allocate = [](CudaAddress* address, std::size_t bytes) {
    *address = address_of(std::malloc(bytes));
    ++fake_device().allocations;
    return 0;
  };
  d.memory_free = [](CudaAddress address) {
    std::free(pointer_to(address));
    --fake_device().allocations;
    return 0;
  };
  d.copy_to_device = [](CudaAddress to, const void* from, std::size_t bytes) {
    std::memcpy(pointer_to(to), from, bytes);
    return 0;
  };
  d.copy_to_host = [](void* to, CudaAddress from, std::size_t bytes) {
    std::memcpy(to, pointer_to(from), bytes);
    return 0;
  };
  d.fill_bytes = [](CudaAddress to, unsigned char value, std::size_t bytes) {
    std::memset(pointer_to(to), value, bytes);
    return 0;
  };
  d.launch_kernel = [](void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned, void*, void** parameters, void**) {
    if (grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1) return invalid_value;
    FakeLaunch launch;
    launch.grid = grid_x;
    launch.block = block_x;
    launch.parameters = parameters;
    (*static_cast<std::function<void(const FakeLaunch&)>*>(function))(launch);
    return 0;
  };
  return d;
}

}  // namespace regatta::hardware
