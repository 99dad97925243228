// SPDX-License-Identifier: Apache-2.0
//
// Allocation of the driver API, and what an address is.
#include "driver.h"

#include <algorithm>
#include <cstring>

namespace regatta::capture {

namespace {

/// Calls `allocate` for a pointer, which becomes an address. CUDA has no allocation of nothing here.
template <class Allocate>
int allocation(DevicePointer* out, std::size_t bytes, Allocate allocate) {
  return in_context([&]() -> int {
    if (out == nullptr || bytes == 0) return invalid_value;
    void* pointer = nullptr;
    const int code = allocate(&pointer);
    if (code == success) *out = address_of(pointer);
    return code;
  });
}

struct Range {
  std::uint64_t base = 0, bytes = 0;
};

/// The allocation that has an address.
bool find_range(std::uint64_t address, Range& out) {
  State& s = State::get();
  if (const SharedRange* const range = s.shared_at(pointer_to(address))) {
    out = {address_of(range->host), range->bytes};
    return true;
  }
  const auto after = s.device_memory.upper_bound(address);
  if (after == s.device_memory.begin()) return false;
  const auto& [base, bytes] = *std::prev(after);
  if (address - base >= bytes) return false;
  out = {base, bytes};
  return true;
}

/// CUpointer_attribute.
enum class PointerAttribute : int {
  context = 1,
  memory_type,
  device_pointer,
  host_pointer,
  p2p_tokens,
  sync_memops,
  buffer_id,
  is_managed,
  device_ordinal,
  is_ipc_capable,
  range_start,
  range_size,
  is_mapped,
  allowed_handles,
  is_rdma_capable,
  access_flags,
  pool,
};

template <class T>
int answer(void* out, T value) {
  std::memcpy(out, &value, sizeof value);
  return success;
}

int get_attribute(void* out, int attribute, DevicePointer address) {
  constexpr int type_unknown = 0, type_host = 1, type_device = 2, type_managed = 3, read_and_write = 3;
  if (out == nullptr) return invalid_value;
  PointerAttributes a{};
  Range range;
  const int code = cudaPointerGetAttributes(&a, pointer_to(address));
  if (code != success) return code;
  const bool has_range = find_range(address, range);
  if (a.type == type_unknown) {
    if (attribute == static_cast<int>(PointerAttribute::is_mapped)) return answer(out, 0);
    return invalid_value;
  }
  switch (static_cast<PointerAttribute>(attribute)) {
    case PointerAttribute::context:
      return answer(out, static_cast<void*>(current_context()));
    case PointerAttribute::memory_type:  // CUmemorytype: managed memory is the device's
      return answer(out, unsigned{a.type == type_host ? 1U : 2U});
    case PointerAttribute::device_pointer:
      return answer(out, a.device_pointer);
    case PointerAttribute::host_pointer:
      if (a.type == type_device) return invalid_value;
      return answer(out, a.host_pointer);
    case PointerAttribute::sync_memops:
    case PointerAttribute::is_ipc_capable:
    case PointerAttribute::is_rdma_capable:
    case PointerAttribute::device_ordinal:
      return answer(out, 0);
    case PointerAttribute::allowed_handles:
      return answer(out, std::uint64_t{0});
    case PointerAttribute::buffer_id:
      return answer(out, std::uint64_t{range.base});
    case PointerAttribute::is_managed:
      return answer(out, a.type == type_managed ? 1 : 0);
    case PointerAttribute::range_start:
      return has_range ? answer(out, range.base) : int{invalid_value};
    case PointerAttribute::range_size:
      return has_range ? answer(out, range.bytes) : int{invalid_value};
    case PointerAttribute::is_mapped:
      return answer(out, 1);
    case PointerAttribute::access_flags:
      return answer(out, read_and_write);
    case PointerAttribute::pool:
      return answer(out, std::uint64_t{0});
    case PointerAttribute::p2p_tokens:
      return not_supported;
  }
  return invalid_value;
}

}  // namespace

REGATTA_API int cuMemAlloc_v2(DevicePointer* out, std::size_t bytes) {
  return allocation(out, bytes, [&](void** pointer) { return cudaMalloc(pointer, bytes); });
}
REGATTA_API int cuMemAllocPitch_v2(DevicePointer* out, std::size_t* pitch, std::size_t width, std::size_t height,
                                   unsigned element) {
  if (element != 4 && element != 8 && element != 16) return invalid_value;
  return allocation(out, width * height,
                    [&](void** pointer) { return cudaMallocPitch(pointer, pitch, width, height); });
}
REGATTA_API int cuMemAllocManaged(DevicePointer* out, std::size_t bytes, unsigned flags) {
  return allocation(out, bytes, [&](void** pointer) { return cudaMallocManaged(pointer, bytes, flags); });
}
REGATTA_API int cuMemFree_v2(DevicePointer address) {
  return in_context([&] { return cudaFree(pointer_to(address)); });
}
REGATTA_API int cuMemHostAlloc(void** out, std::size_t bytes, unsigned flags) {
  return in_context([&] { return bytes == 0 ? int{invalid_value} : cudaHostAlloc(out, bytes, flags); });
}
REGATTA_API int cuMemAllocHost_v2(void** out, std::size_t bytes) { return cuMemHostAlloc(out, bytes, 0); }
REGATTA_API int cuMemFreeHost(void* pointer) {
  return in_context([&] { return pointer == nullptr ? int{invalid_value} : cudaFreeHost(pointer); });
}
REGATTA_API int cuMemHostRegister_v2(void* pointer, std::size_t bytes, unsigned flags) {
  return in_context([&] { return cudaHostRegister(pointer, bytes, flags); });
}
REGATTA_API int cuMemHostUnregister(void* pointer) {
  return in_context([&] { return cudaHostUnregister(pointer); });
}
REGATTA_API int cuMemHostGetDevicePointer_v2(DevicePointer* out, void* host, unsigned flags) {
  return in_context([&] {
    void* pointer = nullptr;
    const int code = out == nullptr ? int{invalid_value} : cudaHostGetDevicePointer(&pointer, host, flags);
    if (code == success) *out = address_of(pointer);
    return code;
  });
}
REGATTA_API int cuMemHostGetFlags(unsigned* flags, void* host) {
  return in_context([&] { return cudaHostGetFlags(flags, host); });
}
REGATTA_API int cuMemGetInfo_v2(std::size_t* available, std::size_t* total) {
  return in_context([&] { return cudaMemGetInfo(available, total); });
}
REGATTA_API int cuMemGetAddressRange_v2(DevicePointer* base, std::size_t* bytes, DevicePointer address) {
  return in_context([&]() -> int {
    Range range;
    if (!find_range(address, range)) return driver_error::not_found;
    if (base != nullptr) *base = range.base;
    if (bytes != nullptr) *bytes = range.bytes;
    return success;
  });
}

REGATTA_API int cuPointerGetAttribute(void* out, int attribute, DevicePointer address) {
  return in_context([&] { return get_attribute(out, attribute, address); });
}
/// Of an address that CUDA does not know, each attribute is zero.
REGATTA_API int cuPointerGetAttributes(unsigned count, const int* attributes, void** out, DevicePointer address) {
  return in_context([&]() -> int {
    if (attributes == nullptr || out == nullptr) return invalid_value;
    for (unsigned i = 0; i < count; ++i) {
      if (get_attribute(out[i], attributes[i], address) == success) continue;
      switch (static_cast<PointerAttribute>(attributes[i])) {
        case PointerAttribute::context:
        case PointerAttribute::device_pointer:
        case PointerAttribute::host_pointer:
        case PointerAttribute::buffer_id:
        case PointerAttribute::range_start:
        case PointerAttribute::range_size:
          answer(out[i], std::uint64_t{0});
          break;
        case PointerAttribute::device_ordinal:
          answer(out[i], -2);
          break;
        default:
          answer(out[i], 0);
      }
    }
    return success;
  });
}
REGATTA_API int cuPointerSetAttribute(const void* /*value*/, int attribute, DevicePointer /*address*/) {
  return in_context(
      [&] { return attribute == static_cast<int>(PointerAttribute::sync_memops) ? success : invalid_value; });
}

// Hints: the data are right without them.
REGATTA_API int cuMemPrefetchAsync() { return success; }
REGATTA_API int cuMemPrefetchAsync_v2() { return success; }
REGATTA_API int cuMemAdvise() { return success; }
REGATTA_API int cuMemAdvise_v2() { return success; }
REGATTA_API int cuStreamAttachMemAsync() { return success; }

}  // namespace regatta::capture
