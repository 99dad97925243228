// SPDX-License-Identifier: Apache-2.0
//
// Streams and events of the driver API: the runtime's.
#include "driver.h"

namespace regatta::capture {

REGATTA_API int cuStreamCreateWithPriority(void** out, unsigned flags, int priority) {
  return in_context([&] { return cudaStreamCreateWithPriority(out, flags, priority); });
}
REGATTA_API int cuStreamCreate(void** out, unsigned flags) { return cuStreamCreateWithPriority(out, flags, 0); }
REGATTA_API int cuStreamDestroy_v2(void* stream) {
  return in_context([&] { return cudaStreamDestroy(stream); });
}
REGATTA_API int cuStreamSynchronize(void* stream) {
  return in_context([&] { return cudaStreamSynchronize(stream); });
}
REGATTA_API int cuStreamQuery(void* stream) {
  return in_context([&] { return cudaStreamQuery(stream); });
}
REGATTA_API int cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return in_context([&] { return cudaStreamWaitEvent(stream, event, flags); });
}
REGATTA_API int cuStreamGetFlags(void* stream, unsigned* flags) {
  return in_context([&] { return cudaStreamGetFlags(stream, flags); });
}
REGATTA_API int cuStreamGetPriority(void* stream, int* priority) {
  return in_context([&] { return cudaStreamGetPriority(stream, priority); });
}
REGATTA_API int cuStreamGetId(void* stream, unsigned long long* id) {
  return in_context([&] { return cudaStreamGetId(stream, id); });
}
REGATTA_API int cuStreamIsCapturing(void* stream, int* status) {
  return in_context([&] { return cudaStreamIsCapturing(stream, status); });
}
REGATTA_API int cuStreamGetCtx(void* /*stream*/, Context** out) {
  return in_context([&] { return out == nullptr ? invalid_value : (*out = current_context(), success); });
}
REGATTA_API int cuStreamGetCtx_v2(void* /*stream*/, Context** out, void** green) {
  return in_context([&] {
    if (green != nullptr) *green = nullptr;
    return out == nullptr ? invalid_value : (*out = current_context(), success);
  });
}
REGATTA_API int cuStreamGetDevice(void* /*stream*/, int* number) {
  return in_context([&] { return number == nullptr ? invalid_value : (*number = 0, success); });
}

// Without the lock: the program's function may wait for another thread of its own.
REGATTA_API int cuStreamAddCallback(void* stream, void (*call)(void*, int, void*), void* data, unsigned flags) {
  if (call == nullptr) return invalid_value;
  const int code = check_context();
  return code != success ? code : through_runtime([&] { return cudaStreamAddCallback(stream, call, data, flags); });
}
REGATTA_API int cuLaunchHostFunc(void* stream, void (*call)(void*), void* data) {
  if (call == nullptr) return invalid_value;
  const int code = check_context();
  return code != success ? code : through_runtime([&] { return cudaLaunchHostFunc(stream, call, data); });
}

REGATTA_API int cuEventCreate(void** out, unsigned flags) {
  return in_context([&] { return cudaEventCreateWithFlags(out, flags); });
}
REGATTA_API int cuEventDestroy_v2(void* event) {
  return in_context([&] { return cudaEventDestroy(event); });
}
REGATTA_API int cuEventRecord(void* event, void* stream) {
  return in_context([&] { return cudaEventRecord(event, stream); });
}
REGATTA_API int cuEventRecordWithFlags(void* event, void* stream, unsigned /*flags*/) {
  return cuEventRecord(event, stream);
}
REGATTA_API int cuEventQuery(void* event) {
  return in_context([&] { return cudaEventQuery(event); });
}
REGATTA_API int cuEventSynchronize(void* event) {
  return in_context([&] { return cudaEventSynchronize(event); });
}
REGATTA_API int cuEventElapsedTime_v2(float* milliseconds, void* start, void* end) {
  return in_context([&] { return cudaEventElapsedTime(milliseconds, start, end); });
}

}  // namespace regatta::capture
