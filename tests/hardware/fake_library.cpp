// SPDX-License-Identifier: Apache-2.0
//
// The fake driver as a library that regatta-hardware loads: a GPU that runs vector_add and streamcluster, in C++.
// FAKE_GPU in the environment: "none" has no GPU, "wrong" computes one sum wrong, "moved" makes one pointer wrong.
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "fake_driver.h"

namespace regatta::hardware {
namespace {

bool fakes(const char* what) {
  const char* value = std::getenv("FAKE_GPU");
  return value != nullptr && std::strcmp(value, what) == 0;
}

template <class T>
T parameter(const FakeLaunch& l, unsigned index) {
  T value;
  std::memcpy(&value, l.parameters[index], sizeof value);
  return value;
}

void vector_add(const FakeLaunch& l) {
  const auto* a = parameter<const float*>(l, 0);
  const auto* b = parameter<const float*>(l, 1);
  auto* c = parameter<float*>(l, 2);
  const int count = parameter<int>(l, 3);
  for (int i = 0; i < count; ++i) c[i] = a[i] + b[i];
  if (fakes("wrong")) c[7] = 0.5f;
}

struct Point {
  float weight;
  const float* coordinates;
  long long centre;
  float cost;
};

void pack(const FakeLaunch& l) {
  const auto* weight = parameter<const float*>(l, 0);
  const auto* number = parameter<const int*>(l, 1);
  const auto* cost = parameter<const float*>(l, 2);
  const auto* coordinates = parameter<const float*>(l, 3);
  auto* point = parameter<Point*>(l, 4);
  auto* centre_table = parameter<int*>(l, 5);
  const int points = parameter<int>(l, 6), spacing = parameter<int>(l, 7);
  for (int i = 0; i < points; ++i) {
    // Member by member: what lies between them stays as it is.
    point[i].weight = weight[i];
    point[i].coordinates = coordinates + i;
    point[i].centre = static_cast<long long>(number[i]) * spacing;
    point[i].cost = cost[i];
    centre_table[i] = i % spacing == 0 ? i / spacing : 0;
  }
  if (fakes("moved")) point[3].coordinates += 2;
}

void gain(const FakeLaunch& l) {
  const int points = parameter<int>(l, 0), dimensions = parameter<int>(l, 1), centres = parameter<int>(l, 2),
            stride = parameter<int>(l, 3);
  const auto* point = parameter<const Point*>(l, 4);
  const auto* coordinates = parameter<const float*>(l, 5);
  const auto* centre_table = parameter<const int*>(l, 6);
  auto* savings = parameter<float*>(l, 7);
  auto* changes = parameter<unsigned char*>(l, 8);
  const int candidate = parameter<int>(l, 9);
  for (int i = 0; i < points; ++i) {
    float cost = 0;
    for (int d = 0; d < dimensions; ++d) {
      const float difference = coordinates[d * points + i] - coordinates[d * points + candidate];
      cost = std::fma(difference, difference, cost);
    }
    cost *= point[i].weight;
    float* const row = savings + i * stride;
    if (cost < point[i].cost) {
      changes[i] = '1';
      row[centres] += cost - point[i].cost;
    } else {
      row[centre_table[point[i].centre]] += point[i].cost - cost;
    }
  }
}

const CudaDriver& driver() {
  static const CudaDriver all = [] {
    FakeDevice& device = fake_device();
    device.kernels = {{"vector_add", vector_add}, {"streamcluster_pack", pack}, {"streamcluster_gain", gain}};
    device.gpus = fakes("none") ? 0 : 1;
    return fake_driver();
  }();
  return all;
}

}  // namespace
}  // namespace regatta::hardware

using namespace regatta::hardware;

// NOLINTBEGIN(readability-identifier-naming): names of the driver API
extern "C" {
CudaResult cuInit(unsigned flags) { return driver().init(flags); }
CudaResult cuGetErrorString(CudaResult error, const char** text) { return driver().get_error_string(error, text); }
CudaResult cuDriverGetVersion(int* version) { return driver().driver_get_version(version); }
CudaResult cuDeviceGetCount(int* count) { return driver().device_get_count(count); }
CudaResult cuDeviceGet(int* device, int ordinal) { return driver().device_get(device, ordinal); }
CudaResult cuDeviceGetName(char* name, int length, int device) {
  return driver().device_get_name(name, length, device);
}
CudaResult cuDeviceGetAttribute(int* value, int attribute, int device) {
  return driver().device_get_attribute(value, attribute, device);
}
CudaResult cuDevicePrimaryCtxRetain(void** context, int device) {
  return driver().primary_context_retain(context, device);
}
CudaResult cuDevicePrimaryCtxRelease_v2(int device) { return driver().primary_context_release(device); }
CudaResult cuCtxSetCurrent(void* context) { return driver().context_set_current(context); }
CudaResult cuCtxSynchronize() { return driver().context_synchronize(); }
CudaResult cuModuleLoadDataEx(void** module, const void* image, unsigned options, int* names, void** values) {
  return driver().module_load_data(module, image, options, names, values);
}
CudaResult cuModuleUnload(void* module) { return driver().module_unload(module); }
CudaResult cuModuleGetFunction(void** function, void* module, const char* name) {
  return driver().module_get_function(function, module, name);
}
CudaResult cuModuleGetGlobal_v2(CudaAddress* address, std::size_t* bytes, void* module, const char* name) {
  return driver().module_get_global(address, bytes, module, name);
}
CudaResult cuFuncSetAttribute(void* function, int attribute, int value) {
  return driver().function_set_attribute(function, attribute, value);
}
CudaResult cuMemAlloc_v2(CudaAddress* address, std::size_t bytes) { return driver().memory_allocate(address, bytes); }
CudaResult cuMemFree_v2(CudaAddress address) { return driver().memory_free(address); }
CudaResult cuMemcpyHtoD_v2(CudaAddress to, const void* from, std::size_t bytes) {
  return driver().copy_to_device(to, from, bytes);
}
CudaResult cuMemcpyDtoH_v2(void* to, CudaAddress from, std::size_t bytes) {
  return driver().copy_to_host(to, from, bytes);
}
CudaResult cuMemsetD8_v2(CudaAddress to, unsigned char value, std::size_t bytes) {
  return driver().fill_bytes(to, value, bytes);
}
CudaResult cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** parameters,
                          void** extra) {
  return driver().launch_kernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,
                                parameters, extra);
}
}
// NOLINTEND(readability-identifier-naming)
