// SPDX-License-Identifier: Apache-2.0
//
// cudaMallocArray() and what else makes, describes and ends arrays.
#include "arrays.h"

#include <algorithm>

namespace regatta::capture {

namespace {

std::map<const void*, std::unique_ptr<Array>>& all_arrays() {
  static auto* const arrays = new std::map<const void*, std::unique_ptr<Array>>;
  return *arrays;
}

}  // namespace

Array* array_of(const void* handle) {
  const auto found = all_arrays().find(handle);
  return found == all_arrays().end() ? nullptr : found->second.get();
}

std::optional<TexelDescription> texel_description(const ChannelFormat& f) {
  if (f.kind > channel_float) {
    if (f.kind == 3) return std::nullopt;  // cudaChannelFormatKindNone
    refuse("the program has texels of cudaChannelFormatKind " + std::to_string(f.kind) +
           ", which are not supported, expected signed or unsigned integers or floats");
  }
  const int bits[] = {f.x, f.y, f.z, f.w};
  TexelDescription d;
  d.kind = static_cast<std::uint32_t>(f.kind);
  d.bits = static_cast<std::uint32_t>(f.x);
  for (const int b : bits) {
    if (b == 0) break;
    if (b != f.x) return std::nullopt;
    ++d.channels;
  }
  const bool is_size = d.bits == 32 || d.bits == 16 || (d.bits == 8 && f.kind != channel_float);
  const bool rest_is_empty = std::all_of(bits + d.channels, bits + 4, [](int b) { return b == 0; });
  if (f.kind < 0 || !is_size || d.channels == 3 || !rest_is_empty) return std::nullopt;
  return d;
}

Error create_array(void** out, const ChannelFormat& format, Extent extent, unsigned flags) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (out == nullptr) return invalid_value;
  *out = nullptr;
  if (s.sticky != success) return s.sticky;
  constexpr unsigned known = array_layered | array_surface | array_cubemap | array_gather;
  constexpr std::size_t most = UINT32_MAX;
  if ((flags & ~known) != 0) refuse("the program makes a sparse array or one for graphics, which are not supported");
  const auto texel = texel_description(format);
  if (!texel || extent.width == 0 || extent.width > most || extent.height > most || extent.depth > most) {
    return invalid_value;
  }
  Array a;
  a.format = format;
  a.extent = extent;
  a.flags = flags;
  ArrayDescription& d = a.description;
  d.format = *texel;
  d.width = static_cast<std::uint32_t>(extent.width);
  d.height = static_cast<std::uint32_t>(extent.height);
  const auto depth = static_cast<std::uint32_t>(extent.depth);
  if ((flags & array_cubemap) != 0) {
    constexpr std::uint32_t faces = 6;
    const bool is_whole = (flags & array_layered) != 0 ? depth != 0 && depth % faces == 0 : depth == faces;
    if (d.width != d.height || !is_whole) return invalid_value;
    d.layers = depth;
    d.is_cube = 1;
  } else if ((flags & array_layered) != 0) {
    if (depth == 0) return invalid_value;
    d.layers = depth;
  } else {
    if (depth != 0 && d.height == 0) return invalid_value;
    d.depth = depth;
  }
  const Reply reply = ask(Request::create_array, MessageWriter().put(d));
  if (!reply.is_done()) return error_of(reply);
  a.id = reply.reader().get<std::uint64_t>();
  auto kept = std::make_unique<Array>(a);
  *out = kept.get();
  all_arrays()[*out] = std::move(kept);
  return success;
}

Error free_array(const void* handle) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (handle == nullptr) return success;
  const Array* const a = array_of(handle);
  if (a == nullptr) return invalid_resource_handle;
  const Reply reply = ask(Request::destroy_array, MessageWriter().put(a->id));
  all_arrays().erase(handle);
  return error_of(reply);
}

REGATTA_API int cudaMallocArray(void** out, const ChannelFormat* format, std::size_t width, std::size_t height,
                                unsigned flags) {
  constexpr unsigned of_3d = array_layered | array_cubemap;
  if (format == nullptr || (flags & of_3d) != 0) return result(invalid_value);
  return result(create_array(out, *format, {width, height, 0}, flags));
}
REGATTA_API int cudaMalloc3DArray(void** out, const ChannelFormat* format, Extent extent, unsigned flags) {
  if (format == nullptr) return result(invalid_value);
  return result(create_array(out, *format, extent, flags));
}
REGATTA_API int cudaFreeArray(void* array) { return result(free_array(array)); }

REGATTA_API int cudaArrayGetInfo(ChannelFormat* format, Extent* extent, unsigned* flags, void* array) {
  const Guard guard(State::get().lock);
  const Array* const a = array_of(array);
  if (a == nullptr) return result(invalid_resource_handle);
  if (format != nullptr) *format = a->format;
  if (extent != nullptr) *extent = a->extent;
  if (flags != nullptr) *flags = a->flags;
  return result(success);
}
REGATTA_API int cudaGetChannelDesc(ChannelFormat* format, const void* array) {
  if (format == nullptr) return result(invalid_value);
  return cudaArrayGetInfo(format, nullptr, nullptr, const_cast<void*>(array));
}

}  // namespace regatta::capture
