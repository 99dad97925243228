// SPDX-License-Identifier: Apache-2.0
//
// Streams and events. Everything that is put into a stream is done before the call returns, so all streams are always
// empty; events have the host's time.
#include "graphs.h"
#include "memory.h"
#include "state.h"

namespace regatta::capture {

namespace {

int synchronise() {
  State& s = State::get();
  const Guard guard(s.lock);
  s.flush();
  return result(success);
}

bool is_default(const void* stream) { return reinterpret_cast<std::uintptr_t>(stream) <= 2; }

int check_stream(void* stream) {
  State& s = State::get();
  const Guard guard(s.lock);
  return is_default(stream) || s.streams.count(static_cast<Stream*>(stream)) != 0 ? success : invalid_resource_handle;
}

Event* event_of(void* event) {
  State& s = State::get();
  return s.events.count(static_cast<Event*>(event)) != 0 ? static_cast<Event*>(event) : nullptr;
}

/// Whether the call became a node. Others are made without the lock: they may wait for another thread.
template <class Call>
bool is_captured(void* stream, Call call) {
  State& s = State::get();
  const Guard guard(s.lock);
  GraphNode* const node = Graphs::get().add_to(stream, NodeType::host);
  if (node == nullptr) return false;
  node->work = [call] {
    State::get().flush();
    call();
    return success;
  };
  return true;
}

}  // namespace

Error record_event(void* event) {
  State& s = State::get();
  const Guard guard(s.lock);
  Event* const e = event_of(event);
  if (e == nullptr) return invalid_resource_handle;
  e->time = std::chrono::steady_clock::now();
  e->is_recorded = true;
  return success;
}

REGATTA_API int cudaStreamCreateWithPriority(void** out, unsigned flags, int priority) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (out == nullptr) return result(invalid_value);
  auto* const stream = new Stream{flags, priority, s.next_stream++, {}};
  s.streams.insert(stream);
  *out = stream;
  return result(success);
}
REGATTA_API int cudaStreamCreateWithFlags(void** out, unsigned flags) {
  return cudaStreamCreateWithPriority(out, flags, 0);
}
REGATTA_API int cudaStreamCreate(void** out) { return cudaStreamCreateWithPriority(out, 0, 0); }
REGATTA_API int cudaStreamDestroy(void* stream) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (s.streams.erase(static_cast<Stream*>(stream)) == 0) return result(invalid_resource_handle);
  delete static_cast<Stream*>(stream);
  return result(success);
}
REGATTA_API int cudaStreamSynchronize(void* stream) {
  const int known = check_stream(stream);
  if (known != success) return result(known);
  State& s = State::get();
  const Guard guard(s.lock);
  if (Graphs::Capture* const c = Graphs::get().capture_of(stream)) {
    c->is_broken = true;  // there is nothing to wait for yet
    return result(stream_capture_unsupported);
  }
  return synchronise();
}
REGATTA_API int cudaStreamQuery(void* stream) { return cudaStreamSynchronize(stream); }
REGATTA_API int cudaStreamWaitEvent(void* stream, void* event, unsigned /*flags*/) {
  State& s = State::get();
  const Guard guard(s.lock);
  Graphs::get().wait(stream, event);
  return result(check_stream(stream));
}
REGATTA_API int cudaStreamGetFlags(void* stream, unsigned* flags) {
  if (flags == nullptr) return result(invalid_value);
  *flags = is_default(stream) ? 0 : static_cast<Stream*>(stream)->flags;
  return result(success);
}
REGATTA_API int cudaStreamGetPriority(void* stream, int* priority) {
  if (priority == nullptr) return result(invalid_value);
  *priority = is_default(stream) ? 0 : static_cast<Stream*>(stream)->priority;
  return result(success);
}
REGATTA_API int cudaStreamGetId(void* stream, unsigned long long* id) {
  if (id == nullptr) return result(invalid_value);
  *id = is_default(stream) ? 0 : static_cast<Stream*>(stream)->id;
  return result(success);
}
REGATTA_API int cudaStreamGetDevice(void* /*stream*/, int* number) {
  if (number == nullptr) return result(invalid_value);
  *number = 0;
  return result(success);
}
REGATTA_API int cudaStreamAddCallback(void* stream, void (*call)(void*, int, void*), void* data, unsigned /*flags*/) {
  if (is_captured(stream, [=] { call(stream, success, data); })) return result(success);
  synchronise();
  call(stream, State::get().sticky, data);
  return result(success);
}
REGATTA_API int cudaLaunchHostFunc(void* stream, void (*call)(void*), void* data) {
  if (is_captured(stream, [=] { call(data); })) return result(success);
  synchronise();
  call(data);
  return result(success);
}

REGATTA_API int cudaEventCreateWithFlags(void** out, unsigned /*flags*/) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (out == nullptr) return result(invalid_value);
  auto* const event = new Event;
  s.events.insert(event);
  *out = event;
  return result(success);
}
REGATTA_API int cudaEventCreate(void** out) { return cudaEventCreateWithFlags(out, 0); }
REGATTA_API int cudaEventDestroy(void* event) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (s.events.erase(static_cast<Event*>(event)) == 0) return result(invalid_resource_handle);
  delete static_cast<Event*>(event);
  return result(success);
}
REGATTA_API int cudaEventRecord(void* event, void* stream) {
  State& s = State::get();
  const Guard guard(s.lock);
  if (event_of(event) == nullptr) return result(invalid_resource_handle);
  const int code = check_stream(stream);
  if (code != success) return result(code);
  Graphs::get().record(event, stream);
  if (Graphs::get().capture_of(stream) != nullptr) return result(success);
  return result(record_event(event));
}
REGATTA_API int cudaEventRecordWithFlags(void* event, void* stream, unsigned /*flags*/) {
  return cudaEventRecord(event, stream);
}
REGATTA_API int cudaEventSynchronize(void* event) {
  return event_of(event) == nullptr ? result(invalid_resource_handle) : synchronise();
}
REGATTA_API int cudaEventQuery(void* event) { return cudaEventSynchronize(event); }
REGATTA_API int cudaEventElapsedTime(float* milliseconds, void* start, void* end) {
  State& s = State::get();
  const Guard guard(s.lock);
  const Event* const a = event_of(start);
  const Event* const b = event_of(end);
  if (milliseconds == nullptr || a == nullptr || b == nullptr || !a->is_recorded || !b->is_recorded) {
    return result(invalid_resource_handle);
  }
  *milliseconds = std::chrono::duration<float, std::milli>(b->time - a->time).count();
  return result(success);
}

REGATTA_API int cudaDeviceSynchronize() { return synchronise(); }
REGATTA_API int cudaThreadSynchronize() { return synchronise(); }

}  // namespace regatta::capture
