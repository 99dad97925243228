// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills of the driver API. All of them are done at once, those of a stream too.
#include "copies.h"
#include "driver.h"
#include "graphs.h"

namespace regatta::capture {

namespace {

/// CUmemorytype.
constexpr int memory_host = 1, memory_device = 2, memory_array = 3, memory_unified = 4;

int copy_now(void* to, const void* from, std::size_t bytes, CopyKind kind) {
  return in_context([&] { return cudaMemcpy(to, from, bytes, kind); });
}
int copy_in(void* stream, void* to, const void* from, std::size_t bytes, CopyKind kind) {
  return in_context([&] { return cudaMemcpyAsync(to, from, bytes, kind, stream); });
}

/// One end of a copy of CUDA_MEMCPY2D and of CUDA_MEMCPY3D.
struct End2D {
  std::size_t x, y;
  int type;
  void* host;
  DevicePointer device;
  void* array;
  std::size_t pitch;
};
struct Copy2D {
  End2D from, to;
  std::size_t width, height;
};
struct End3D {
  std::size_t x, y, z, level;
  int type;
  void* host;
  DevicePointer device;
  void* array;
  void* reserved;
  std::size_t pitch, height;
};
struct DriverCopy3D {
  End3D from, to;
  std::size_t width, height, depth;
};

struct Place {
  std::uint8_t* at = nullptr;
  Box box;
};

/// Where an end begins. invalid_value: not a place that the kind of memory allows.
int place_of(const End3D& end, std::size_t width, Place& out) {
  const State& s = State::get();
  if (end.type == memory_array) refuse("the program copies CUDA arrays by the driver API, which is not supported");
  if (end.type != memory_host && end.type != memory_device && end.type != memory_unified) return invalid_value;
  void* const base = end.type == memory_host ? end.host : pointer_to(end.device);
  if (base == nullptr) return invalid_value;
  if (end.type == memory_device && !s.is_device(base) && State::get().shared_at(base) == nullptr) return invalid_value;
  // A pitch of 0: rows without gaps.
  const std::size_t pitch = end.pitch == 0 ? end.x + width : end.pitch;
  if (pitch < end.x + width) return invalid_value;
  out.box = {pitch, pitch * end.height};
  out.at = static_cast<std::uint8_t*>(base) + end.x + end.y * pitch + end.z * out.box.slice_pitch;
  return success;
}

/// A copy between boxes. Places are looked at when it is done.
int do_copy(const DriverCopy3D& c) {
  const State& s = State::get();
  if (s.sticky != success) return s.sticky;
  Place source, target;
  int code = place_of(c.from, c.width, source);
  if (code == success) code = place_of(c.to, c.width, target);
  if (code != success) return code;
  return copy_box(target.at, target.box, source.at, source.box, {c.width, c.height, c.depth});
}

int copy_now(const DriverCopy3D& c) {
  return in_context([&] { return result(do_copy(c)); });
}
int copy_in(void* stream, const DriverCopy3D& c) {
  return in_context([&] { return in_stream(stream, NodeType::copy, [c] { return do_copy(c); }); });
}

End3D in_space(const End2D& e) { return {e.x, e.y, 0, 0, e.type, e.host, e.device, e.array, nullptr, e.pitch, 0}; }

DriverCopy3D in_space(const Copy2D& c) { return {in_space(c.from), in_space(c.to), c.width, c.height, 1}; }

/// Elements of 1, 2 or 4 bytes, in rows.
struct Fill {
  DevicePointer to;
  std::size_t pitch;
  std::uint32_t value;
  unsigned element;
  std::size_t width, height;
};

int do_fill(const Fill& f) {
  State& s = State::get();
  if (s.sticky != success) return s.sticky;
  void* const at = pointer_to(f.to);
  const std::size_t bytes = f.width * f.element;
  if (f.to % f.element != 0 || (f.height > 1 && (f.pitch < bytes || f.pitch % f.element != 0))) return invalid_value;
  if (!s.is_device(at) && s.shared_at(at) == nullptr && f.width != 0) return invalid_value;
  return fill_box(at, {f.pitch, 0}, {bytes, f.height, 1}, f.value, f.element);
}

int fill_now(const Fill& f) {
  return in_context([&] { return result(do_fill(f)); });
}
int fill_in(void* stream, const Fill& f) {
  return in_context([&] { return in_stream(stream, NodeType::fill, [f] { return do_fill(f); }); });
}

}  // namespace

REGATTA_API int cuMemcpy(DevicePointer to, DevicePointer from, std::size_t bytes) {
  return copy_now(pointer_to(to), pointer_to(from), bytes, by_address);
}
REGATTA_API int cuMemcpyAsync(DevicePointer to, DevicePointer from, std::size_t bytes, void* stream) {
  return copy_in(stream, pointer_to(to), pointer_to(from), bytes, by_address);
}
REGATTA_API int cuMemcpyHtoD_v2(DevicePointer to, const void* from, std::size_t bytes) {
  return copy_now(pointer_to(to), from, bytes, host_to_device);
}
REGATTA_API int cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t bytes, void* stream) {
  return copy_in(stream, pointer_to(to), from, bytes, host_to_device);
}
REGATTA_API int cuMemcpyDtoH_v2(void* to, DevicePointer from, std::size_t bytes) {
  return copy_now(to, pointer_to(from), bytes, device_to_host);
}
REGATTA_API int cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, std::size_t bytes, void* stream) {
  return copy_in(stream, to, pointer_to(from), bytes, device_to_host);
}
REGATTA_API int cuMemcpyDtoD_v2(DevicePointer to, DevicePointer from, std::size_t bytes) {
  return copy_now(pointer_to(to), pointer_to(from), bytes, device_to_device);
}
REGATTA_API int cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, std::size_t bytes, void* stream) {
  return copy_in(stream, pointer_to(to), pointer_to(from), bytes, device_to_device);
}
/// There is one device, so both contexts have it.
REGATTA_API int cuMemcpyPeer(DevicePointer to, Context* /*to_context*/, DevicePointer from, Context* /*from_context*/,
                             std::size_t bytes) {
  return copy_now(pointer_to(to), pointer_to(from), bytes, device_to_device);
}
REGATTA_API int cuMemcpyPeerAsync(DevicePointer to, Context* /*to_context*/, DevicePointer from,
                                  Context* /*from_context*/, std::size_t bytes, void* stream) {
  return copy_in(stream, pointer_to(to), pointer_to(from), bytes, device_to_device);
}

REGATTA_API int cuMemcpy2D_v2(const Copy2D* c) {
  if (c == nullptr) return invalid_value;
  return copy_now(in_space(*c));
}
REGATTA_API int cuMemcpy2DUnaligned_v2(const Copy2D* c) { return cuMemcpy2D_v2(c); }
REGATTA_API int cuMemcpy2DAsync_v2(const Copy2D* c, void* stream) {
  return c == nullptr ? int{invalid_value} : copy_in(stream, in_space(*c));
}
REGATTA_API int cuMemcpy3D_v2(const DriverCopy3D* c) {
  if (c == nullptr) return invalid_value;
  return copy_now(*c);
}
REGATTA_API int cuMemcpy3DAsync_v2(const DriverCopy3D* c, void* stream) {
  return c == nullptr ? int{invalid_value} : copy_in(stream, *c);
}

REGATTA_API int cuMemsetD8_v2(DevicePointer to, unsigned char value, std::size_t count) {
  return fill_now({to, count, value, 1, count, 1});
}
REGATTA_API int cuMemsetD16_v2(DevicePointer to, unsigned short value, std::size_t count) {
  return fill_now({to, 2 * count, value, 2, count, 1});
}
REGATTA_API int cuMemsetD32_v2(DevicePointer to, unsigned value, std::size_t count) {
  return fill_now({to, 4 * count, value, 4, count, 1});
}
REGATTA_API int cuMemsetD8Async(DevicePointer to, unsigned char value, std::size_t count, void* stream) {
  return fill_in(stream, {to, count, value, 1, count, 1});
}
REGATTA_API int cuMemsetD16Async(DevicePointer to, unsigned short value, std::size_t count, void* stream) {
  return fill_in(stream, {to, 2 * count, value, 2, count, 1});
}
REGATTA_API int cuMemsetD32Async(DevicePointer to, unsigned value, std::size_t count, void* stream) {
  return fill_in(stream, {to, 4 * count, value, 4, count, 1});
}
REGATTA_API int cuMemsetD2D8_v2(DevicePointer to, std::size_t pitch, unsigned char value, std::size_t width,
                                std::size_t height) {
  return fill_now({to, pitch, value, 1, width, height});
}
REGATTA_API int cuMemsetD2D16_v2(DevicePointer to, std::size_t pitch, unsigned short value, std::size_t width,
                                 std::size_t height) {
  return fill_now({to, pitch, value, 2, width, height});
}
REGATTA_API int cuMemsetD2D32_v2(DevicePointer to, std::size_t pitch, unsigned value, std::size_t width,
                                 std::size_t height) {
  return fill_now({to, pitch, value, 4, width, height});
}
REGATTA_API int cuMemsetD2D8Async(DevicePointer to, std::size_t pitch, unsigned char value, std::size_t width,
                                  std::size_t height, void* stream) {
  return fill_in(stream, {to, pitch, value, 1, width, height});
}
REGATTA_API int cuMemsetD2D16Async(DevicePointer to, std::size_t pitch, unsigned short value, std::size_t width,
                                   std::size_t height, void* stream) {
  return fill_in(stream, {to, pitch, value, 2, width, height});
}
REGATTA_API int cuMemsetD2D32Async(DevicePointer to, std::size_t pitch, unsigned value, std::size_t width,
                                   std::size_t height, void* stream) {
  return fill_in(stream, {to, pitch, value, 4, width, height});
}

}  // namespace regatta::capture
