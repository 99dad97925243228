// SPDX-License-Identifier: Apache-2.0
//
// What the device is. There is one.
#include "state.h"

#include <link.h>

#include <algorithm>
#include <cstring>

namespace regatta::capture {

namespace {

constexpr int max_grid_x = 0x7fffffff, max_grid_yz = 65535, max_threads = 1024, max_block_z = 64;
constexpr std::size_t constant_bytes = 65536, memory_pitch = 0x7fffffff, texture_alignment = 512, texture_pitch = 32;

/// Bytes of each CTA's shared memory that CUDA keeps for itself.
std::size_t reserved_shared(const DeviceDescription& d) { return d.major >= 8 ? 1024 : 0; }

/// How many times as fast single precision is as double.
int single_to_double(const DeviceDescription& d) { return d.major == 9 ? 2 : 32; }

/// What both versions of the structure have.
template <class Properties>
void fill(Properties& p) {
  const DeviceDescription& d = device();
  std::memcpy(p.name, d.name, sizeof d.name);
  for (int i = 0; i < 16; ++i) p.uuid[i] = static_cast<char>(i + 1);
  p.global_memory = d.memory;
  p.shared_per_cta = d.shared_per_cta;
  p.registers_per_cta = static_cast<int>(d.registers_per_cta);
  p.warp_size = 32;
  p.memory_pitch = memory_pitch;
  p.max_threads = max_threads;
  p.max_block[0] = p.max_block[1] = max_threads;
  p.max_block[2] = max_block_z;
  p.max_grid[0] = max_grid_x;
  p.max_grid[1] = p.max_grid[2] = max_grid_yz;
  p.constant_memory = constant_bytes;
  p.major = static_cast<int>(d.major);
  p.minor = static_cast<int>(d.minor);
  p.texture_alignment = texture_alignment;
  p.texture_pitch_alignment = texture_pitch;
  p.multiprocessors = static_cast<int>(d.multiprocessors);
  p.can_map_host_memory = 1;
  p.texture_1d = 131072;
  p.texture_2d[0] = 131072;
  p.texture_2d[1] = 65536;
  for (int& n : p.texture_3d) n = 16384;
  p.surface_alignment = texture_alignment;
  p.concurrent_kernels = 1;
  p.ecc = 1;
  p.pci_bus = 1;
  p.async_engines = 2;
  p.unified_addressing = 1;
  p.bus_bits = static_cast<int>(d.bus_bits);
  p.l2_bytes = static_cast<int>(d.l2_bytes);
  p.threads_per_multiprocessor = static_cast<int>(d.threads_per_multiprocessor);
  p.stream_priorities = 1;
  p.global_l1 = p.local_l1 = 1;
  p.shared_per_multiprocessor = d.shared_per_multiprocessor;
  p.registers_per_multiprocessor = static_cast<int>(d.registers_per_multiprocessor);
  p.managed_memory = 1;
  p.concurrent_managed = d.major >= 6 ? 1 : 0;
  p.compute_preemption = 1;
  p.cooperative_launch = d.major >= 6 ? 1 : 0;
  p.shared_opt_in = d.shared_per_cta_opt_in;
  p.ctas_per_multiprocessor = static_cast<int>(d.ctas_per_multiprocessor);
  p.persisting_l2_bytes = static_cast<int>(d.persisting_l2);
  p.access_policy_window = static_cast<int>(d.access_policy_window);
  p.reserved_shared = reserved_shared(d);
}

int fill_12(DeviceProperties12* p, int number) {
  if (p == nullptr) return result(invalid_value);
  if (number != 0) return result(invalid_device);
  *p = {};
  fill(*p);
  p->clock_khz = static_cast<int>(device().clock_khz);
  p->memory_clock_khz = static_cast<int>(device().memory_clock_khz);
  p->overlap = 1;
  p->single_to_double = single_to_double(device());
  return result(success);
}

/// The runtime's version, for which the program was linked, 13 if it says none.
int version_asked_for() {
  int version = 13;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        for (const auto& [name, number] : {std::pair{"libcudart.so.11", 11}, std::pair{"libcudart.so.12", 12}}) {
          if (info->dlpi_name != nullptr && std::strstr(info->dlpi_name, name) != nullptr)
            *static_cast<int*>(out) = number;
        }
        return 0;
      },
      &version);
  return version;
}

}  // namespace

REGATTA_API int cudaGetDeviceCount(int* count) {
  if (count == nullptr) return result(invalid_value);
  *count = 1;
  return result(success);
}
REGATTA_API int cudaGetDevice(int* number) {
  if (number == nullptr) return result(invalid_value);
  *number = 0;
  return result(success);
}
REGATTA_API int cudaSetDevice(int number) { return result(number == 0 ? success : invalid_device); }
REGATTA_API int cudaInitDevice(int number, unsigned /*device_flags*/, unsigned /*flags*/) {
  return cudaSetDevice(number);
}
REGATTA_API int cudaChooseDevice(int* number, const void* /*properties*/) { return cudaGetDevice(number); }
REGATTA_API int cudaSetValidDevices(int* /*list*/, int /*count*/) { return result(success); }
REGATTA_API int cudaSetDeviceFlags(unsigned /*flags*/) { return result(success); }
REGATTA_API int cudaGetDeviceFlags(unsigned* flags) {
  if (flags == nullptr) return result(invalid_value);
  *flags = 0;
  return result(success);
}

/// CUDA 11 and 13 have different structures under one name.
REGATTA_API int cudaGetDeviceProperties(void* properties, int number) {
  if (version_asked_for() < 13) return fill_12(static_cast<DeviceProperties12*>(properties), number);
  auto* const p = static_cast<DeviceProperties13*>(properties);
  if (p == nullptr) return result(invalid_value);
  if (number != 0) return result(invalid_device);
  *p = {};
  fill(*p);
  return result(success);
}
REGATTA_API int cudaGetDeviceProperties_v2(DeviceProperties12* properties, int number) {
  return fill_12(properties, number);
}

REGATTA_API int cudaDeviceGetAttribute(int* value, int attribute, int number) {
  if (value == nullptr) return result(invalid_value);
  if (number != 0) return result(invalid_device);
  const DeviceDescription& d = device();
  switch (attribute) {
    case 1:
      *value = max_threads;
      break;
    case 2:
    case 3:
      *value = max_threads;
      break;
    case 4:
      *value = max_block_z;
      break;
    case 5:
      *value = max_grid_x;
      break;
    case 6:
    case 7:
      *value = max_grid_yz;
      break;
    case 8:
      *value = static_cast<int>(d.shared_per_cta);
      break;
    case 9:
      *value = static_cast<int>(constant_bytes);
      break;
    case 10:
      *value = 32;
      break;
    case 12:
      *value = static_cast<int>(d.registers_per_cta);
      break;
    case 13:
      *value = static_cast<int>(d.clock_khz);
      break;
    case 14:
      *value = static_cast<int>(texture_alignment);
      break;
    case 16:
      *value = static_cast<int>(d.multiprocessors);
      break;
    case 36:
      *value = static_cast<int>(d.memory_clock_khz);
      break;
    case 37:
      *value = static_cast<int>(d.bus_bits);
      break;
    case 38:
      *value = static_cast<int>(d.l2_bytes);
      break;
    case 39:
      *value = static_cast<int>(d.threads_per_multiprocessor);
      break;
    case 75:
      *value = static_cast<int>(d.major);
      break;
    case 76:
      *value = static_cast<int>(d.minor);
      break;
    case 81:
      *value = static_cast<int>(d.shared_per_multiprocessor);
      break;
    case 82:
      *value = static_cast<int>(d.registers_per_multiprocessor);
      break;
    case 97:
      *value = static_cast<int>(d.shared_per_cta_opt_in);
      break;
    case 11:
      *value = static_cast<int>(memory_pitch);
      break;
    case 51:
      *value = static_cast<int>(texture_pitch);
      break;
    case 87:
      *value = single_to_double(d);
      break;
    case 108:
      *value = static_cast<int>(d.persisting_l2);
      break;
    case 109:
      *value = static_cast<int>(d.access_policy_window);
      break;
    case 111:
      *value = static_cast<int>(reserved_shared(d));
      break;
    case 106:
      *value = static_cast<int>(d.ctas_per_multiprocessor);
      break;
    case 15:   // gpuOverlap
    case 19:   // canMapHostMemory
    case 31:   // concurrentKernels
    case 32:   // eccEnabled
    case 33:   // pciBusId
    case 41:   // unifiedAddressing
    case 78:   // streamPrioritiesSupported
    case 79:   // globalL1CacheSupported
    case 80:   // localL1CacheSupported
    case 83:   // managedMemory
    case 89:   // concurrentManagedAccess
    case 90:   // computePreemptionSupported
    case 95:   // cooperativeLaunch
    case 99:   // hostRegisterSupported
    case 115:  // memoryPoolsSupported
      *value = 1;
      break;
    case 40:
      *value = 2;
      break;
    default:
      *value = 0;
  }
  return result(success);
}

REGATTA_API int cudaDeviceReset() {
  State& s = State::get();
  const Guard guard(s.lock);
  s.flush();
  s.sticky = last_error() = success;
  return success;
}
REGATTA_API int cudaThreadExit() { return cudaDeviceReset(); }
REGATTA_API int cudaDeviceSetCacheConfig(int /*preference*/) { return result(success); }
REGATTA_API int cudaDeviceGetCacheConfig(int* preference) {
  if (preference == nullptr) return result(invalid_value);
  *preference = 0;
  return result(success);
}
REGATTA_API int cudaDeviceSetSharedMemConfig(int /*banks*/) { return result(success); }
REGATTA_API int cudaDeviceGetSharedMemConfig(int* banks) {
  if (banks == nullptr) return result(invalid_value);
  *banks = 1;
  return result(success);
}

namespace {
constexpr int limit_of_persisting_l2 = 6;
std::size_t limits[7] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};
}  // namespace
REGATTA_API int cudaDeviceSetLimit(int limit, std::size_t value) {
  if (limit < 0 || limit > limit_of_persisting_l2) return result(invalid_value);
  if (limit == limit_of_persisting_l2) value = std::min<std::size_t>(value, device().persisting_l2);
  const Guard guard(State::get().lock);
  MessageWriter message;
  message.put(std::int32_t{limit}).put(std::uint64_t{value});
  const Error error = error_of(ask(Request::set_limit, message));
  if (error == success) limits[limit] = value;
  return result(error);
}
REGATTA_API int cudaDeviceGetLimit(std::size_t* value, int limit) {
  if (value == nullptr || limit < 0 || limit > limit_of_persisting_l2) return result(invalid_value);
  *value = limits[limit];
  return result(success);
}
REGATTA_API int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return result(success);
}
REGATTA_API int cudaDeviceGetPCIBusId(char* text, int bytes, int number) {
  if (text == nullptr || bytes < 13) return result(invalid_value);
  if (number != 0) return result(invalid_device);
  std::strcpy(text, "0000:01:00.0");
  return result(success);
}
REGATTA_API int cudaDeviceGetByPCIBusId(int* number, const char* /*text*/) { return cudaGetDevice(number); }
REGATTA_API int cudaDeviceCanAccessPeer(int* can, int /*a*/, int /*b*/) {
  if (can == nullptr) return result(invalid_value);
  *can = 0;
  return result(success);
}
REGATTA_API int cudaDeviceEnablePeerAccess(int /*number*/, unsigned /*flags*/) { return result(invalid_device); }
REGATTA_API int cudaDeviceDisablePeerAccess(int /*number*/) { return result(peer_access_not_enabled); }
REGATTA_API int cudaDeviceGetP2PAttribute(int* value, int /*attribute*/, int /*a*/, int /*b*/) {
  if (value == nullptr) return result(invalid_value);
  *value = 0;
  return result(success);
}
REGATTA_API int cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return result(invalid_value);
  *version = 1000 * version_asked_for();
  return result(success);
}
REGATTA_API int cudaDriverGetVersion(int* version) {
  if (version == nullptr) return result(invalid_value);
  *version = 13000;
  return result(success);
}
REGATTA_API int cudaProfilerStart() { return result(success); }
REGATTA_API int cudaProfilerStop() { return result(success); }
REGATTA_API int cudaCtxResetPersistingL2Cache() { return result(success); }

REGATTA_API ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) { return {x, y, z, w, kind}; }

}  // namespace regatta::capture
