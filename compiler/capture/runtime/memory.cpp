// SPDX-License-Identifier: Apache-2.0
//
// Allocation, copies and fills of the runtime API. Calls of a stream are done at once, which is one of the orders that
// streams allow.
#include "memory.h"

#include "arrays.h"
#include "constants.h"
#include "copies.h"
#include "graphs.h"
#include "pools.h"
#include "state.h"

#include <algorithm>
#include <cstring>

namespace regatta::capture {

namespace {

constexpr std::size_t pitch_granule = 512;

Error release(void* pointer) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (pointer == nullptr) return success;
  const auto found = s.device_memory.find(address_of(pointer));
  if (found == s.device_memory.end()) return s.release_shared(pointer);
  const Reply reply = ask(Request::release, MessageWriter().put(address_of(pointer)));
  if (!reply.is_done()) return invalid_value;
  s.used -= found->second;
  release_of_pool(found->first);
  s.device_memory.erase(found);
  return success;
}

Error allocate_shared(void** out, std::uint64_t bytes, SharedRange::Kind kind) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (out == nullptr) return invalid_value;
  *out = nullptr;
  if (bytes == 0) return kind == SharedRange::Kind::managed ? invalid_value : success;
  return s.allocate_shared(bytes, kind, out);
}

Error copy_2d(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
              std::size_t height) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (s.sticky != success) return s.sticky;
  if (width > to_pitch || width > from_pitch) return invalid_pitch_value;
  return copy_box(to, {to_pitch, 0}, from, {from_pitch, 0}, {width, height, 1});
}

Error fill(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (s.sticky != success) return s.sticky;
  if (width > pitch) return invalid_pitch_value;
  if (!s.is_device(to) && s.shared_at(to) == nullptr && width != 0) return invalid_value;
  return fill_box(to, {pitch, 0}, {width, height, 1}, static_cast<std::uint8_t>(value), 1);
}

int fill_3d(PitchedPointer to, int value, Extent extent) {
  for (std::size_t z = 0; z < extent.depth; ++z) {
    const int code = fill(static_cast<std::uint8_t*>(to.pointer) + z * to.pitch * to.height, to.pitch, value,
                          extent.width, extent.height);
    if (code != success) return code;
  }
  return success;
}

/// Positions are texels of an array and bytes of memory, the extent texels.
Error copy_3d_with_array(const Copy3D& c) {
  CopyPlace places[2];
  const auto place = [](CopyPlace& p, void* array, const PitchedPointer& memory, const Position3& at) {
    if (array == nullptr) {
      const std::size_t slice = memory.pitch * memory.height;
      if (memory.pointer == nullptr) return false;
      p = CopyPlace::of(static_cast<std::uint8_t*>(memory.pointer) + at.x + at.y * memory.pitch + at.z * slice,
                        memory.pitch, slice);
      return true;
    }
    p.array = array_of(array);
    p.x = static_cast<std::uint32_t>(at.x);
    p.y = static_cast<std::uint32_t>(at.y);
    p.z = static_cast<std::uint32_t>(at.z);
    return p.array != nullptr && memory.pointer == nullptr && std::max({at.x, at.y, at.z}) <= UINT32_MAX;
  };
  if (!place(places[0], c.to_array, c.to, c.to_position)) return invalid_value;
  if (!place(places[1], c.from_array, c.from, c.from_position)) return invalid_value;
  return copy_with_array(places[0], places[1], c.extent);
}

}  // namespace

Error allocate(void** out, std::uint64_t bytes) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (out == nullptr) return invalid_value;
  *out = nullptr;
  if (bytes == 0) return success;
  const Reply reply = ask(Request::allocate, MessageWriter().put(bytes));
  if (!reply.is_done()) return error_of(reply);
  const auto address = reply.reader().get<std::uint64_t>();
  s.device_memory[address] = bytes;
  s.used += bytes;
  *out = pointer_to(address);
  return success;
}

Error copy(void* to, const void* from, std::size_t bytes, int kind) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (s.sticky != success) return s.sticky;
  if (kind < host_to_host || kind > by_address) return invalid_memcpy_direction;
  // The kind tells what the caller believes; a device address where it believes in a host's is its mistake.
  if (kind == host_to_device && s.is_device(from) && !s.is_device(to)) return invalid_value;
  if (kind == device_to_host && s.is_device(to) && !s.is_device(from)) return invalid_value;
  if (kind == host_to_device && !s.is_device(to) && s.shared_at(to) == nullptr && bytes != 0) return invalid_value;
  if (kind == device_to_host && !s.is_device(from) && s.shared_at(from) == nullptr && bytes != 0) return invalid_value;
  const auto is_known = [&](const void* at) { return s.is_device(at) || s.shared_at(at) != nullptr; };
  if (kind == device_to_device && bytes != 0 && !(is_known(to) && is_known(from))) return invalid_value;
  return copy_bytes(to, from, bytes);
}

Error copy_3d(const Copy3D& c) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (s.sticky != success) return s.sticky;
  if (c.from_array != nullptr || c.to_array != nullptr) return copy_3d_with_array(c);
  const auto place = [](const PitchedPointer& p, const Position3& at) {
    return static_cast<std::uint8_t*>(p.pointer) + at.x + at.y * p.pitch + at.z * p.pitch * p.height;
  };
  return copy_box(place(c.to, c.to_position), {c.to.pitch, c.to.pitch * c.to.height}, place(c.from, c.from_position),
                  {c.from.pitch, c.from.pitch * c.from.height}, {c.extent.width, c.extent.height, c.extent.depth});
}

Error copy_symbol(const void* symbol, void* host, std::size_t bytes, std::size_t offset, bool to_symbol) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (s.sticky != success) return s.sticky;
  Variable* const v = s.variable(symbol);
  if (v == nullptr) return invalid_symbol;
  if (offset > v->description.bytes || bytes > v->description.bytes - offset) return invalid_value;
  if (v->description.is_constant == 0) {
    void* const at = pointer_to(v->description.address + offset);
    return to_symbol ? copy_bytes(at, host, bytes) : copy_bytes(host, at, bytes);
  }
  if (to_symbol) {
    std::vector<std::uint8_t> from(bytes);  // of a device's buffer too
    const Error error = copy_bytes(from.data(), host, bytes);
    return error != success ? error : write_constant({v, offset}, from.data(), bytes);
  }
  std::vector<std::uint8_t> to(bytes);
  const Error error = read_constant({v, offset}, to.data(), bytes);
  return error != success ? error : copy_bytes(host, to.data(), bytes);
}

REGATTA_API int cudaMalloc(void** out, std::size_t bytes) { return result(allocate(out, bytes)); }
REGATTA_API int cudaFree(void* pointer) { return result(release(pointer)); }

REGATTA_API int cudaMallocPitch(void** out, std::size_t* pitch, std::size_t width, std::size_t height) {
  if (pitch == nullptr) return result(invalid_value);
  *pitch = (width + pitch_granule - 1) / pitch_granule * pitch_granule;
  return result(allocate(out, *pitch * height));
}
REGATTA_API int cudaMalloc3D(PitchedPointer* out, Extent extent) {
  if (out == nullptr) return result(invalid_value);
  out->pitch = (extent.width + pitch_granule - 1) / pitch_granule * pitch_granule;
  out->width = extent.width;
  out->height = extent.height;
  return result(allocate(&out->pointer, out->pitch * extent.height * extent.depth));
}

REGATTA_API int cudaMallocManaged(void** out, std::size_t bytes, unsigned /*flags*/) {
  return result(allocate_shared(out, bytes, SharedRange::Kind::managed));
}
REGATTA_API int cudaMallocHost(void** out, std::size_t bytes) {
  return result(allocate_shared(out, bytes, SharedRange::Kind::pinned));
}
REGATTA_API int cudaHostAlloc(void** out, std::size_t bytes, unsigned /*flags*/) { return cudaMallocHost(out, bytes); }
REGATTA_API int cudaFreeHost(void* pointer) {
  State& s = State::get();
  const Guard guard(s.lock);
  return result(pointer == nullptr ? success : s.release_shared(pointer));
}
REGATTA_API int cudaHostRegister(void* pointer, std::size_t bytes, unsigned /*flags*/) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (pointer == nullptr || bytes == 0) return result(invalid_value);
  if (s.shared_at(pointer) != nullptr) return result(host_memory_already_registered);
  const Reply reply = ask(Request::reserve, MessageWriter().put(std::uint64_t{bytes}));
  if (!reply.is_done()) return result(error_of(reply));
  SharedRange range;
  range.host = static_cast<std::uint8_t*>(pointer);
  range.device = reply.reader().get<std::uint64_t>();
  range.bytes = bytes;
  range.kind = SharedRange::Kind::registered;
  s.shared[address_of(pointer)] = std::move(range);
  return result(success);
}
REGATTA_API int cudaHostUnregister(void* pointer) {
  State& s = State::get();
  const Guard guard(s.lock);
  return result(s.release_shared(pointer) == success ? success : host_memory_not_registered);
}
REGATTA_API int cudaHostGetDevicePointer(void** out, void* host, unsigned /*flags*/) {
  State& s = State::get();
  const Guard guard(s.lock);
  SharedRange* const range = s.shared_at(host);
  if (out == nullptr || range == nullptr) return result(invalid_value);
  s.commit(*range);
  *out = pointer_to(range->device + static_cast<std::uint64_t>(static_cast<std::uint8_t*>(host) - range->host));
  return result(success);
}
REGATTA_API int cudaHostGetFlags(unsigned* flags, void* host) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (flags == nullptr || s.shared_at(host) == nullptr) return result(invalid_value);
  *flags = 0;
  return result(success);
}

REGATTA_API int cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  return result(copy(to, from, bytes, kind));
}
REGATTA_API int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void* stream) {
  return in_stream(stream, NodeType::copy, [=] { return copy(to, from, bytes, kind); });
}
REGATTA_API int cudaMemcpyPeer(void* to, int /*to_device*/, const void* from, int /*from_device*/, std::size_t bytes) {
  return result(copy(to, from, bytes, by_address));
}
REGATTA_API int cudaMemcpyPeerAsync(void* to, int /*to_device*/, const void* from, int /*from_device*/,
                                    std::size_t bytes, void* stream) {
  return in_stream(stream, NodeType::copy, [=] { return copy(to, from, bytes, by_address); });
}
REGATTA_API int cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                             std::size_t width, std::size_t height, int /*kind*/) {
  return result(copy_2d(to, to_pitch, from, from_pitch, width, height));
}
REGATTA_API int cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                  std::size_t width, std::size_t height, int /*kind*/, void* stream) {
  return in_stream(stream, NodeType::copy, [=] { return copy_2d(to, to_pitch, from, from_pitch, width, height); });
}
REGATTA_API int cudaMemcpy3D(const Copy3D* c) { return result(c == nullptr ? invalid_value : copy_3d(*c)); }
REGATTA_API int cudaMemcpy3DAsync(const Copy3D* c, void* stream) {
  if (c == nullptr) return result(invalid_value);
  return in_stream(stream, NodeType::copy, [c = *c] { return copy_3d(c); });
}

REGATTA_API int cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                                   int /*kind*/) {
  return result(copy_symbol(symbol, const_cast<void*>(from), bytes, offset, true));
}
REGATTA_API int cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                                        int /*kind*/, void* stream) {
  return in_stream(stream, NodeType::copy,
                   [=] { return copy_symbol(symbol, const_cast<void*>(from), bytes, offset, true); });
}
REGATTA_API int cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                     int /*kind*/) {
  return result(copy_symbol(symbol, to, bytes, offset, false));
}
REGATTA_API int cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                          int /*kind*/, void* stream) {
  return in_stream(stream, NodeType::copy, [=] { return copy_symbol(symbol, to, bytes, offset, false); });
}
REGATTA_API int cudaGetSymbolAddress(void** out, const void* symbol) {
  State& s = State::get();
  const Guard guard(s.lock);
  Variable* const v = s.variable(symbol);
  if (out == nullptr || v == nullptr) return result(invalid_symbol);
  *out = pointer_to(address_of_variable(*v));
  return result(success);
}
REGATTA_API int cudaGetSymbolSize(std::size_t* out, const void* symbol) {
  State& s = State::get();
  const Guard guard(s.lock);
  const Variable* const v = s.variable(symbol);
  if (out == nullptr || v == nullptr) return result(invalid_symbol);
  *out = v->description.bytes;
  return result(success);
}

REGATTA_API int cudaMemset(void* to, int value, std::size_t bytes) { return result(fill(to, bytes, value, bytes, 1)); }
REGATTA_API int cudaMemsetAsync(void* to, int value, std::size_t bytes, void* stream) {
  return in_stream(stream, NodeType::fill, [=] { return fill(to, bytes, value, bytes, 1); });
}
REGATTA_API int cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return result(fill(to, pitch, value, width, height));
}
REGATTA_API int cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                                  void* stream) {
  return in_stream(stream, NodeType::fill, [=] { return fill(to, pitch, value, width, height); });
}
REGATTA_API int cudaMemset3D(PitchedPointer to, int value, Extent extent) { return result(fill_3d(to, value, extent)); }
REGATTA_API int cudaMemset3DAsync(PitchedPointer to, int value, Extent extent, void* stream) {
  return in_stream(stream, NodeType::fill, [=] { return fill_3d(to, value, extent); });
}

REGATTA_API int cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (total != nullptr) *total = device().memory;
  if (available != nullptr) *available = device().memory - s.used;
  return result(success);
}

REGATTA_API int cudaPointerGetAttributes(PointerAttributes* a, const void* pointer) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (a == nullptr) return result(invalid_value);
  constexpr int unregistered = 0, host = 1, of_device = 2, managed = 3;
  *a = {unregistered, 0, nullptr, const_cast<void*>(pointer)};
  if (s.is_device(pointer)) *a = {of_device, 0, const_cast<void*>(pointer), nullptr};
  if (const SharedRange* const range = s.shared_at(pointer)) {
    const bool is_managed = range->kind == SharedRange::Kind::managed || range->kind == SharedRange::Kind::variable;
    const std::uint64_t offset = address_of(pointer) - address_of(range->host);
    *a = {is_managed ? managed : host, 0, pointer_to(range->device + offset), const_cast<void*>(pointer)};
  }
  return result(success);
}

// Hints: the data are right without them.
REGATTA_API int cudaMemPrefetchAsync() { return result(success); }
REGATTA_API int cudaMemPrefetchAsync_v2() { return result(success); }
REGATTA_API int cudaMemAdvise() { return result(success); }
REGATTA_API int cudaMemAdvise_v2() { return result(success); }
REGATTA_API int cudaStreamAttachMemAsync() { return result(success); }

}  // namespace regatta::capture
