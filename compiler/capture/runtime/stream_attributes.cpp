// SPDX-License-Identifier: Apache-2.0
//
// Attributes of streams (cudaLaunchAttributeID): hints for the caches and for waiting, which the host may read back.
#include "driver.h"

#include <cstring>

namespace regatta::capture {

namespace {

constexpr int access_policy_window = 1, synchronization_policy = 3, priority = 8, memory_domain_map = 9,
              memory_domain = 10;

struct AccessPolicyWindow {
  void* base;
  std::size_t bytes;
  float hit_ratio;
  int hit, miss;
};

/// nullptr: no such stream.
Stream* stream_of(void* handle) {
  static auto* const of_default = new Stream;
  if (reinterpret_cast<std::uintptr_t>(handle) <= 2) return of_default;
  auto* const s = static_cast<Stream*>(handle);
  return State::get().streams.count(s) != 0 ? s : nullptr;
}

bool is_of_streams(int attribute) {
  return attribute == access_policy_window || attribute == synchronization_policy || attribute == priority ||
         attribute == memory_domain_map || attribute == memory_domain;
}

int set(void* handle, int attribute, const StreamAttribute* value) {
  const Guard guard(State::get().lock);
  Stream* const s = stream_of(handle);
  if (s == nullptr) return result(invalid_resource_handle);
  if (value == nullptr || !is_of_streams(attribute)) return result(invalid_value);
  if (attribute == access_policy_window) {
    AccessPolicyWindow window{};
    std::memcpy(&window, value, sizeof window);
    if (window.bytes > device().access_policy_window || !(window.hit_ratio >= 0 && window.hit_ratio <= 1)) {
      return result(invalid_value);
    }
  }
  if (attribute == priority) std::memcpy(&s->priority, value, sizeof s->priority);
  s->attributes[attribute] = *value;
  return result(success);
}

int get(void* handle, int attribute, StreamAttribute* out) {
  const Guard guard(State::get().lock);
  const Stream* const s = stream_of(handle);
  if (s == nullptr) return result(invalid_resource_handle);
  if (out == nullptr || !is_of_streams(attribute)) return result(invalid_value);
  const auto known = s->attributes.find(attribute);
  *out = known == s->attributes.end() ? StreamAttribute{} : known->second;
  if (attribute == priority) std::memcpy(out->bytes, &s->priority, sizeof s->priority);
  return result(success);
}

int copy(void* to, void* from) {
  const Guard guard(State::get().lock);
  Stream* const target = stream_of(to);
  const Stream* const source = stream_of(from);
  if (target == nullptr || source == nullptr) return result(invalid_resource_handle);
  target->attributes = source->attributes;
  return result(success);
}

}  // namespace

REGATTA_API int cudaStreamSetAttribute(void* stream, int attribute, const StreamAttribute* value) {
  return set(stream, attribute, value);
}
REGATTA_API int cudaStreamGetAttribute(void* stream, int attribute, StreamAttribute* value) {
  return get(stream, attribute, value);
}
REGATTA_API int cudaStreamCopyAttributes(void* to, void* from) { return copy(to, from); }
REGATTA_API int cuStreamSetAttribute(void* stream, int attribute, const StreamAttribute* value) {
  return in_context([&] { return set(stream, attribute, value); });
}
REGATTA_API int cuStreamGetAttribute(void* stream, int attribute, StreamAttribute* value) {
  return in_context([&] { return get(stream, attribute, value); });
}
REGATTA_API int cuStreamCopyAttributes(void* to, void* from) {
  return in_context([&] { return copy(to, from); });
}

}  // namespace regatta::capture
