// SPDX-License-Identifier: Apache-2.0
//
// Of the driver API: its begin, its version, and what the device is.
#include "driver.h"

#include <algorithm>
#include <cstring>

namespace regatta::capture {

namespace {

/// Calls `use` with the device's properties.
template <class Use>
int with_properties(int number, Use use) {
  const int code = check_device(number);
  if (code != success) return code;
  DeviceProperties12 properties{};
  return through_runtime([&] {
    const int error = cudaGetDeviceProperties_v2(&properties, number);
    if (error == success) use(properties);
    return error;
  });
}

struct LegacyProperties {
  int max_threads, max_block[3], max_grid[3], shared_per_cta, constant_memory, warp_size, pitch, registers, clock_khz,
      texture_alignment;
};

}  // namespace

REGATTA_API int cuInit(unsigned flags) {
  if (flags != 0) return invalid_value;
  const Guard guard(State::get().lock);
  device();  // without regatta-capture the program ends here, with a sentence
  Driver::get().is_initialised = true;
  return success;
}

REGATTA_API int cuDriverGetVersion(int* version) {
  return through_runtime([&] { return cudaDriverGetVersion(version); });
}

REGATTA_API int cuDeviceGetCount(int* count) {
  const int code = check_initialised();
  if (code != success) return code;
  if (count == nullptr) return invalid_value;
  *count = 1;
  return success;
}

REGATTA_API int cuDeviceGet(int* number, int ordinal) {
  const int code = check_device(ordinal);
  if (code != success) return code;
  if (number == nullptr) return invalid_value;
  *number = 0;
  return success;
}

REGATTA_API int cuDeviceGetName(char* name, int bytes, int number) {
  if (name == nullptr || bytes <= 0) return invalid_value;
  return with_properties(number, [&](const DeviceProperties12& p) {
    const std::size_t count = std::min(strnlen(p.name, sizeof p.name), static_cast<std::size_t>(bytes) - 1);
    std::memcpy(name, p.name, count);
    name[count] = '\0';
  });
}

REGATTA_API int cuDeviceGetAttribute(int* value, int attribute, int number) {
  const int code = check_device(number);
  // Both APIs number the attributes alike.
  return code != success ? code : through_runtime([&] { return cudaDeviceGetAttribute(value, attribute, number); });
}

REGATTA_API int cuDeviceTotalMem_v2(std::size_t* bytes, int number) {
  if (bytes == nullptr) return invalid_value;
  return with_properties(number, [&](const DeviceProperties12& p) { *bytes = p.global_memory; });
}

REGATTA_API int cuDeviceComputeCapability(int* major, int* minor, int number) {
  if (major == nullptr || minor == nullptr) return invalid_value;
  return with_properties(number, [&](const DeviceProperties12& p) {
    *major = p.major;
    *minor = p.minor;
  });
}

REGATTA_API int cuDeviceGetUuid_v2(char* uuid, int number) {
  if (uuid == nullptr) return invalid_value;
  return with_properties(number, [&](const DeviceProperties12& p) { std::memcpy(uuid, p.uuid, sizeof p.uuid); });
}

REGATTA_API int cuDeviceGetProperties(LegacyProperties* out, int number) {
  if (out == nullptr) return invalid_value;
  return with_properties(number, [&](const DeviceProperties12& p) {
    *out = {p.max_threads,
            {p.max_block[0], p.max_block[1], p.max_block[2]},
            {p.max_grid[0], p.max_grid[1], p.max_grid[2]},
            static_cast<int>(p.shared_per_cta),
            static_cast<int>(p.constant_memory),
            p.warp_size,
            static_cast<int>(p.memory_pitch),
            p.registers_per_cta,
            p.clock_khz,
            static_cast<int>(p.texture_alignment)};
  });
}

REGATTA_API int cuDeviceGetPCIBusId(char* text, int bytes, int number) {
  const int code = check_device(number);
  return code != success ? code : through_runtime([&] { return cudaDeviceGetPCIBusId(text, bytes, number); });
}
REGATTA_API int cuDeviceGetByPCIBusId(int* number, const char* text) {
  const int code = check_initialised();
  return code != success ? code : through_runtime([&] { return cudaDeviceGetByPCIBusId(number, text); });
}
REGATTA_API int cuDeviceGetLuid(char* /*luid*/, unsigned* /*mask*/, int /*number*/) { return not_supported; }
REGATTA_API int cuDeviceCanAccessPeer(int* can, int /*a*/, int /*b*/) {
  if (can == nullptr) return invalid_value;
  *can = 0;
  return success;
}
REGATTA_API int cuDeviceGetP2PAttribute(int* value, int /*attribute*/, int /*a*/, int /*b*/) {
  if (value == nullptr) return invalid_value;
  *value = 0;
  return success;
}
REGATTA_API int cuCtxEnablePeerAccess(void* /*peer*/, unsigned /*flags*/) { return invalid_device; }
REGATTA_API int cuCtxDisablePeerAccess(void* /*peer*/) { return peer_access_not_enabled; }

REGATTA_API int cuProfilerInitialize(const char*, const char*, int) { return success; }
REGATTA_API int cuProfilerStart() { return success; }
REGATTA_API int cuProfilerStop() { return success; }

}  // namespace regatta::capture
