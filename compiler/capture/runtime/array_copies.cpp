// SPDX-License-Identifier: Apache-2.0
//
// Copies to, from and between arrays.
#include "arrays.h"
#include "graphs.h"

#include <algorithm>
#include <cstring>

namespace regatta::capture {

namespace {

ArrayRegion region_at(const CopyPlace& p, Extent e) {
  return {p.x,
          p.y,
          p.z,
          static_cast<std::uint32_t>(e.width),
          static_cast<std::uint32_t>(e.height),
          static_cast<std::uint32_t>(e.depth)};
}

bool fits(const CopyPlace& p, Extent e) {
  const ArrayDescription& d = p.array->description;
  const std::size_t height = std::max(d.height, 1u), depth = std::max({d.depth, d.layers, 1u});
  const auto inside = [](std::size_t at, std::size_t count, std::size_t size) {
    return at <= size && count <= size - at;
  };
  return inside(p.x, e.width, d.width) && inside(p.y, e.height, height) && inside(p.z, e.depth, depth);
}

MessageWriter message_of(const Array& a, const ArrayRegion& r) { return MessageWriter().put(a.id).put(r); }

/// Between an array and memory of the device. The server knows images that follow one another without a gap; others go
/// one by one.
Error copy_device(bool to_array, const CopyPlace& texels, const CopyPlace& memory, Extent e) {
  const bool at_once = e.depth == 1 || memory.slice_pitch == memory.pitch * e.height;
  const Request request = to_array ? Request::copy_to_array : Request::copy_from_array;
  ArrayRegion r = region_at(texels, e);
  if (!at_once) r.depth = 1;
  for (std::size_t z = 0; z < (at_once ? 1 : e.depth); ++z, ++r.z) {
    MessageWriter message = message_of(*texels.array, r);
    message.put(address_of(memory.pointer) + z * memory.slice_pitch).put(std::uint64_t{memory.pitch});
    const Error error = error_of(ask(request, message));
    if (error != success) return error;
  }
  return success;
}

template <class Row>
void for_rows(const CopyPlace& memory, Extent e, std::size_t row_bytes, const Row& row) {
  for (std::size_t z = 0; z < e.depth; ++z) {
    for (std::size_t y = 0; y < e.height; ++y) {
      row(static_cast<std::uint8_t*>(memory.pointer) + z * memory.slice_pitch + y * memory.pitch,
          (z * e.height + y) * row_bytes);
    }
  }
}

/// Moves a linear piece of an array, `bytes` from byte x of row y on, as the oldest copies do: rows that are not whole
/// at its two ends, and a box between them.
template <class Box>
Error for_boxes(const Array& a, std::size_t x, std::size_t y, std::size_t bytes, const Box& box) {
  const std::size_t row = a.description.width * a.texel_bytes();
  if (x >= row && bytes != 0) return invalid_value;
  std::size_t done = 0;
  while (done < bytes) {
    const std::size_t rest = bytes - done, rows = x == 0 && rest >= row ? rest / row : 1;
    const std::size_t width = rows > 1 ? row : std::min(rest, row - x);
    const Error error = box(x, y, width, rows, done);
    if (error != success) return error;
    done += width * rows;
    y += rows;
    x = 0;
  }
  return success;
}

Error copy_linear(void* array, std::size_t x, std::size_t y, void* memory, std::size_t bytes, bool to_array) {
  const Guard guard(State::get().lock);
  Array* const a = array_of(array);
  if (a == nullptr) return invalid_resource_handle;
  CopyPlace texels;
  texels.array = a;
  return for_boxes(*a, x, y, bytes,
                   [&](std::size_t at, std::size_t row, std::size_t width, std::size_t rows, std::size_t done) {
                     const CopyPlace plain = CopyPlace::of(static_cast<std::uint8_t*>(memory) + done, width);
                     if (to_array) return copy_2d_with_array(texels, at, row, plain, 0, 0, width, rows);
                     return copy_2d_with_array(plain, 0, 0, texels, at, row, width, rows);
                   });
}

Error copy_2d(void* array, std::size_t x, std::size_t y, void* memory, std::size_t pitch, std::size_t width,
              std::size_t height, bool to_array) {
  const Guard guard(State::get().lock);
  CopyPlace texels;
  texels.array = array_of(array);
  if (texels.array == nullptr) return invalid_resource_handle;
  if (width > pitch) return invalid_pitch_value;
  const CopyPlace plain = CopyPlace::of(memory, pitch);
  if (to_array) return copy_2d_with_array(texels, x, y, plain, 0, 0, width, height);
  return copy_2d_with_array(plain, 0, 0, texels, x, y, width, height);
}

}  // namespace

Error copy_with_array(const CopyPlace& to, const CopyPlace& from, Extent e) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (s.sticky != success) return s.sticky;
  for (const CopyPlace* p : {&to, &from}) {
    if (p->array != nullptr ? !fits(*p, e) : p->pointer == nullptr) return invalid_value;
  }
  if (e.width == 0 || e.height == 0 || e.depth == 0) return success;
  s.flush();
  if (to.array != nullptr && from.array != nullptr) {
    if (to.array->texel_bytes() != from.array->texel_bytes()) return invalid_value;
    MessageWriter message = message_of(*to.array, region_at(to, e));
    message.put(from.array->id).put(region_at(from, e));
    return error_of(ask(Request::copy_arrays, message));
  }
  const bool to_array = to.array != nullptr;
  const CopyPlace &texels = to_array ? to : from, &memory = to_array ? from : to;
  const std::size_t row = e.width * texels.array->texel_bytes();
  if (memory.pitch < row && (e.height > 1 || e.depth > 1)) return invalid_pitch_value;
  if (s.is_device(memory.pointer)) {
    CopyPlace place = memory;
    place.pitch = std::max(memory.pitch, row);
    return copy_device(to_array, texels, place, e);
  }
  if (to_array) {
    std::vector<std::uint8_t> packed(row * e.height * e.depth);
    for_rows(memory, e, row, [&](const std::uint8_t* at, std::size_t in) { std::memcpy(&packed[in], at, row); });
    return error_of(
        ask(Request::write_array, message_of(*texels.array, region_at(texels, e)), packed.data(), packed.size()));
  }
  const Reply reply = ask(Request::read_array, message_of(*texels.array, region_at(texels, e)));
  if (!reply.is_done()) return error_of(reply);
  for_rows(memory, e, row, [&](std::uint8_t* at, std::size_t in) { std::memcpy(at, reply.bytes.data() + in, row); });
  return success;
}

Error copy_2d_with_array(const CopyPlace& to, std::size_t to_x, std::size_t to_y, const CopyPlace& from,
                         std::size_t from_x, std::size_t from_y, std::size_t width, std::size_t height) {
  CopyPlace t = to, f = from;
  const auto place = [](CopyPlace& p, std::size_t x, std::size_t y) {
    if (p.array == nullptr) return true;
    const std::size_t texel = p.array->texel_bytes();
    if (x % texel != 0 || x / texel > UINT32_MAX || y > UINT32_MAX) return false;
    p.x = static_cast<std::uint32_t>(x / texel);
    p.y = static_cast<std::uint32_t>(y);
    return true;
  };
  if (!place(t, to_x, to_y) || !place(f, from_x, from_y)) return invalid_value;
  const std::size_t texel = (t.array != nullptr ? t.array : f.array)->texel_bytes();
  if (width % texel != 0) return invalid_value;
  return copy_with_array(t, f, {width / texel, height, 1});
}

REGATTA_API int cudaMemcpyToArray(void* to, std::size_t x, std::size_t y, const void* from, std::size_t bytes,
                                  int /*kind*/) {
  return result(copy_linear(to, x, y, const_cast<void*>(from), bytes, true));
}
REGATTA_API int cudaMemcpyToArrayAsync(void* to, std::size_t x, std::size_t y, const void* from, std::size_t bytes,
                                       int /*kind*/, void* stream) {
  return in_stream(stream, NodeType::copy, [=] { return copy_linear(to, x, y, const_cast<void*>(from), bytes, true); });
}
REGATTA_API int cudaMemcpyFromArray(void* to, const void* from, std::size_t x, std::size_t y, std::size_t bytes,
                                    int /*kind*/) {
  return result(copy_linear(const_cast<void*>(from), x, y, to, bytes, false));
}
REGATTA_API int cudaMemcpyFromArrayAsync(void* to, const void* from, std::size_t x, std::size_t y, std::size_t bytes,
                                         int /*kind*/, void* stream) {
  return in_stream(stream, NodeType::copy,
                   [=] { return copy_linear(const_cast<void*>(from), x, y, to, bytes, false); });
}
REGATTA_API int cudaMemcpyArrayToArray(void* to, std::size_t to_x, std::size_t to_y, const void* from,
                                       std::size_t from_x, std::size_t from_y, std::size_t bytes, int /*kind*/) {
  const Guard guard(State::get().lock);
  if (array_of(to) == nullptr || array_of(from) == nullptr) return result(invalid_resource_handle);
  // Rows of the two may differ in length: through the host.
  std::vector<std::uint8_t> moved(bytes);
  const Error error = copy_linear(const_cast<void*>(from), from_x, from_y, moved.data(), bytes, false);
  return result(error != success ? error : copy_linear(to, to_x, to_y, moved.data(), bytes, true));
}

REGATTA_API int cudaMemcpy2DToArray(void* to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                                    std::size_t width, std::size_t height, int /*kind*/) {
  return result(copy_2d(to, x, y, const_cast<void*>(from), pitch, width, height, true));
}
REGATTA_API int cudaMemcpy2DToArrayAsync(void* to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                                         std::size_t width, std::size_t height, int /*kind*/, void* stream) {
  return in_stream(stream, NodeType::copy,
                   [=] { return copy_2d(to, x, y, const_cast<void*>(from), pitch, width, height, true); });
}
REGATTA_API int cudaMemcpy2DFromArray(void* to, std::size_t pitch, const void* from, std::size_t x, std::size_t y,
                                      std::size_t width, std::size_t height, int /*kind*/) {
  return result(copy_2d(const_cast<void*>(from), x, y, to, pitch, width, height, false));
}
REGATTA_API int cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, const void* from, std::size_t x, std::size_t y,
                                           std::size_t width, std::size_t height, int /*kind*/, void* stream) {
  return in_stream(stream, NodeType::copy,
                   [=] { return copy_2d(const_cast<void*>(from), x, y, to, pitch, width, height, false); });
}
REGATTA_API int cudaMemcpy2DArrayToArray(void* to, std::size_t to_x, std::size_t to_y, const void* from,
                                         std::size_t from_x, std::size_t from_y, std::size_t width, std::size_t height,
                                         int /*kind*/) {
  const Guard guard(State::get().lock);
  CopyPlace t, f;
  t.array = array_of(to);
  f.array = array_of(from);
  if (t.array == nullptr || f.array == nullptr) return result(invalid_resource_handle);
  return result(copy_2d_with_array(t, to_x, to_y, f, from_x, from_y, width, height));
}

}  // namespace regatta::capture
