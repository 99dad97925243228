// SPDX-License-Identifier: Apache-2.0
//
// Texture and surface references, which programs of CUDA 11 and before have. The compiler registers them by the host's
// variable; its fields are the sampler when the program binds it.
#include "textures.h"

#include <cstring>

namespace regatta::capture {

namespace {

struct Reference {
  Module* module = nullptr;
  std::string name;
  bool reads_normalized = false;
};

std::map<const void*, Reference>& references() {
  static auto* const all = new std::map<const void*, Reference>;
  return *all;
}

void add(void** handle, const void* host, const char* name, bool reads_normalized) {
  const Guard guard(State::get().lock);
  references()[host] = {reinterpret_cast<Module*>(handle), name, reads_normalized};
}

/// nullptr: it is none. Its module is loaded.
const Reference* reference_of(const void* host) {
  const auto found = references().find(host);
  if (found == references().end()) return nullptr;
  State::get().load(*found->second.module);
  return &found->second;
}

MessageWriter message_of(const Reference& r) { return MessageWriter().put(r.module->index).put_text(r.name); }

/// `set` describes the memory.
template <class Set>
Error bind(const TextureReference* host, const Set& set) {
  const Guard guard(State::get().lock);
  if (State::get().sticky != success) return State::get().sticky;
  const Reference* const r = reference_of(host);
  if (r == nullptr) return invalid_texture;
  TextureDescription d;
  Error error = set(d);
  if (error != success) return error;
  error =
      set_sampler(d, {host->address, host->filter, r->reads_normalized ? 1 : 0, host->srgb, host->normalized, nullptr});
  if (error != success) return error;
  return error_of(ask_for_texture(Request::bind_texture, message_of(*r).put(d)));
}

}  // namespace

REGATTA_API void __cudaRegisterTexture(void** handle, const void* host, const void** /*device*/, const char* name,
                                       int /*dimensions*/, int normalized, int /*external*/) {
  add(handle, host, name, normalized != 0);
}
REGATTA_API void __cudaRegisterSurface(void** handle, const void* host, const void** /*device*/, const char* name,
                                       int /*dimensions*/, int /*external*/) {
  add(handle, host, name, false);
}

REGATTA_API int cudaBindTexture(std::size_t* offset, const TextureReference* host, const void* pointer,
                                const ChannelFormat* format, std::size_t bytes) {
  if (format == nullptr) return result(invalid_value);
  // Any address that texels can have is bound as it is.
  if (offset != nullptr) *offset = 0;
  return result(bind(host, [&](TextureDescription& d) { return set_linear(d, pointer, *format, bytes); }));
}
REGATTA_API int cudaBindTexture2D(std::size_t* offset, const TextureReference* host, const void* pointer,
                                  const ChannelFormat* format, std::size_t width, std::size_t height,
                                  std::size_t pitch) {
  if (format == nullptr) return result(invalid_value);
  if (offset != nullptr) *offset = 0;
  return result(
      bind(host, [&](TextureDescription& d) { return set_pitched(d, pointer, *format, width, height, pitch); }));
}
REGATTA_API int cudaBindTextureToArray(const TextureReference* host, const void* array,
                                       const ChannelFormat* /*format*/) {
  return result(bind(host, [&](TextureDescription& d) { return set_array(d, array); }));
}
REGATTA_API int cudaUnbindTexture(const void* host) {
  const Guard guard(State::get().lock);
  const Reference* const r = reference_of(host);
  if (r == nullptr) return result(invalid_texture);
  return result(error_of(ask(Request::unbind, message_of(*r))));
}
REGATTA_API int cudaBindSurfaceToArray(const SurfaceReference* host, const void* array,
                                       const ChannelFormat* /*format*/) {
  const Guard guard(State::get().lock);
  const Reference* const r = reference_of(host);
  const Array* const a = array_of(array);
  if (r == nullptr || a == nullptr) return result(r == nullptr ? invalid_surface : invalid_value);
  return result(error_of(ask_for_texture(Request::bind_surface, message_of(*r).put(a->id))));
}
REGATTA_API int cudaGetTextureAlignmentOffset(std::size_t* offset, const void* host) {
  const Guard guard(State::get().lock);
  if (offset == nullptr || reference_of(host) == nullptr) return result(invalid_texture);
  *offset = 0;
  return result(success);
}
REGATTA_API int cudaGetTextureReference(const void** out, const void* symbol) {
  const Guard guard(State::get().lock);
  if (out == nullptr || reference_of(symbol) == nullptr) return result(invalid_texture);
  *out = symbol;
  return result(success);
}
REGATTA_API int cudaGetSurfaceReference(const void** out, const void* symbol) {
  const Guard guard(State::get().lock);
  if (out == nullptr || reference_of(symbol) == nullptr) return result(invalid_surface);
  *out = symbol;
  return result(success);
}

}  // namespace regatta::capture
