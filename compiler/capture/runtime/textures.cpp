// SPDX-License-Identifier: Apache-2.0
//
// Texture and surface objects.
#include "textures.h"

#include <algorithm>
#include <cstring>

namespace regatta::capture {

namespace {

constexpr std::size_t max_linear_texels = std::size_t{1} << 28;

struct TextureObject {
  ResourceDescription resource{};
  SamplerDescription sampler{};
};

struct Objects {
  std::map<unsigned long long, TextureObject> textures;
  std::map<unsigned long long, ResourceDescription> surfaces;
};
Objects& objects() {
  static auto* const all = new Objects;
  return *all;
}

Error set_resource(TextureDescription& d, const ResourceDescription& r) {
  switch (r.type) {
    case resource_array:
      return set_array(d, r.array);
    case resource_mipmapped:
      refuse("the program makes a texture of a mipmapped array, which is not supported");
    case resource_linear:
      return set_linear(d, r.linear.pointer, r.linear.format, r.linear.bytes);
    case resource_pitched:
      return set_pitched(d, r.pitched.pointer, r.pitched.format, r.pitched.width, r.pitched.height, r.pitched.pitch);
    default:
      return invalid_value;
  }
}

Error create_texture(unsigned long long* out, const ResourceDescription& r, const SamplerDescription& s) {
  const Guard guard(State::get().lock);
  if (State::get().sticky != success) return State::get().sticky;
  TextureDescription d;
  Error error = set_resource(d, r);
  if (error != success) return error;
  error = set_sampler(d, {s.address, s.filter, s.read, s.srgb, s.normalized, s.border});
  if (error != success) return error;
  const Reply reply = ask_for_texture(Request::create_texture, MessageWriter().put(d));
  if (!reply.is_done()) return error_of(reply);
  *out = reply.reader().get<std::uint64_t>();
  objects().textures[*out] = {r, s};
  return success;
}

template <class Known>
Error destroy(Known& known, unsigned long long handle, Request request) {
  if (handle == 0) return success;
  if (known.erase(handle) == 0) return invalid_value;
  return error_of(ask(request, MessageWriter().put(std::uint64_t{handle})));
}

}  // namespace

std::optional<TextureSpan> texture_span(const void* pointer) {
  State& s = State::get();
  if (s.is_device(pointer)) {
    const auto& [base, bytes] = *std::prev(s.device_memory.upper_bound(address_of(pointer)));
    return TextureSpan{address_of(pointer), bytes - (address_of(pointer) - base)};
  }
  SharedRange* const range = s.shared_at(pointer);
  if (range == nullptr) return std::nullopt;
  s.commit(*range);
  const std::uint64_t offset = address_of(pointer) - address_of(range->host);
  return TextureSpan{range->device + offset, range->bytes - offset};
}

Error set_linear(TextureDescription& d, const void* pointer, const ChannelFormat& format, std::uint64_t bytes) {
  const auto span = texture_span(pointer);
  const auto texel = texel_description(format);
  if (!span || !texel) return invalid_value;
  const std::uint64_t texel_bytes = std::uint64_t{texel->bits} / 8 * texel->channels;
  d.source = TextureDescription::Source::linear;
  d.format = *texel;
  d.memory = span->address;
  d.bytes = std::min({bytes, span->bytes, max_linear_texels * texel_bytes}) / texel_bytes * texel_bytes;
  return success;
}

Error set_pitched(TextureDescription& d, const void* pointer, const ChannelFormat& format, std::size_t width,
                  std::size_t height, std::size_t pitch) {
  const auto span = texture_span(pointer);
  const auto texel = texel_description(format);
  if (!span || !texel || width > UINT32_MAX || height > UINT32_MAX) return invalid_value;
  d.source = TextureDescription::Source::pitched;
  d.format = *texel;
  d.memory = span->address;
  d.width = static_cast<std::uint32_t>(width);
  d.height = static_cast<std::uint32_t>(height);
  d.pitch = pitch;
  return success;
}

Error set_array(TextureDescription& d, const void* array) {
  const Array* const a = array_of(array);
  if (a == nullptr) return invalid_value;
  d.source = TextureDescription::Source::array;
  d.memory = a->id;
  return success;
}

Error set_sampler(TextureDescription& d, const SamplerWords& w) {
  const auto outside = [](int word, int count) { return word < 0 || word >= count; };
  if (outside(w.filter, 2) || outside(w.read, 2)) return invalid_value;
  if (w.srgb != 0) refuse("the program makes a texture of sRGB colours, which is not supported");
  // Of linear memory CUDA ignores addresses and filter.
  const bool is_linear = d.source == TextureDescription::Source::linear;
  for (std::size_t i = 0; i < 3; ++i) {
    if (outside(w.address[i], 4)) return invalid_value;
    if (!is_linear) d.address[i] = static_cast<std::uint32_t>(w.address[i]);
  }
  d.filter = is_linear ? 0 : static_cast<std::uint32_t>(w.filter);
  d.normalized = !is_linear && w.normalized != 0 ? 1 : 0;
  d.read = static_cast<std::uint32_t>(w.read);
  if (w.border != nullptr) std::memcpy(d.border, w.border, sizeof d.border);
  return success;
}

Reply ask_for_texture(Request kind, const MessageWriter& message) {
  Reply reply = ask(kind, message);
  if (reply.status == Status::invalid) warn("a texture or surface is refused: " + reply.text());
  return reply;
}

REGATTA_API int cudaCreateTextureObject(unsigned long long* out, const ResourceDescription* resource,
                                        const SamplerDescription* sampler, const void* view) {
  if (out == nullptr || resource == nullptr || sampler == nullptr) return result(invalid_value);
  if (view != nullptr) {
    refuse("the program makes a texture with a view of its resource (cudaResourceViewDesc), which is not supported");
  }
  return result(create_texture(out, *resource, *sampler));
}
REGATTA_API int cudaCreateTextureObject_v2(unsigned long long* out, const ResourceDescription* resource,
                                           const SamplerDescription* sampler, const void* view) {
  return cudaCreateTextureObject(out, resource, sampler, view);
}
REGATTA_API int cudaDestroyTextureObject(unsigned long long texture) {
  const Guard guard(State::get().lock);
  return result(destroy(objects().textures, texture, Request::destroy_texture));
}
REGATTA_API int cudaGetTextureObjectResourceDesc(ResourceDescription* out, unsigned long long texture) {
  const Guard guard(State::get().lock);
  const auto found = objects().textures.find(texture);
  if (out == nullptr || found == objects().textures.end()) return result(invalid_value);
  *out = found->second.resource;
  return result(success);
}
REGATTA_API int cudaGetTextureObjectTextureDesc(SamplerDescription* out, unsigned long long texture) {
  const Guard guard(State::get().lock);
  const auto found = objects().textures.find(texture);
  if (out == nullptr || found == objects().textures.end()) return result(invalid_value);
  *out = found->second.sampler;
  return result(success);
}
REGATTA_API int cudaGetTextureObjectTextureDesc_v2(SamplerDescription* out, unsigned long long texture) {
  return cudaGetTextureObjectTextureDesc(out, texture);
}
/// No texture has a view.
REGATTA_API int cudaGetTextureObjectResourceViewDesc(void* /*out*/, unsigned long long /*texture*/) {
  return result(invalid_value);
}

REGATTA_API int cudaCreateSurfaceObject(unsigned long long* out, const ResourceDescription* resource) {
  const Guard guard(State::get().lock);
  if (out == nullptr || resource == nullptr || resource->type != resource_array) return result(invalid_value);
  const Array* const a = array_of(resource->array);
  if (a == nullptr) return result(invalid_value);
  const Reply reply = ask_for_texture(Request::create_surface, MessageWriter().put(a->id));
  if (!reply.is_done()) return result(error_of(reply));
  *out = reply.reader().get<std::uint64_t>();
  objects().surfaces[*out] = *resource;
  return result(success);
}
REGATTA_API int cudaDestroySurfaceObject(unsigned long long surface) {
  const Guard guard(State::get().lock);
  return result(destroy(objects().surfaces, surface, Request::destroy_surface));
}
REGATTA_API int cudaGetSurfaceObjectResourceDesc(ResourceDescription* out, unsigned long long surface) {
  const Guard guard(State::get().lock);
  const auto found = objects().surfaces.find(surface);
  if (out == nullptr || found == objects().surfaces.end()) return result(invalid_value);
  *out = found->second;
  return result(success);
}

REGATTA_API int cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* out, const ChannelFormat* format, int number) {
  const Guard guard(State::get().lock);
  if (number != 0) return result(invalid_device);
  if (out == nullptr || format == nullptr || !texel_description(*format)) return result(invalid_value);
  *out = max_linear_texels;
  return result(success);
}

}  // namespace regatta::capture
