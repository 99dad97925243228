// SPDX-License-Identifier: Apache-2.0
//
// Contexts of the driver API.
#include "driver.h"

#include <algorithm>

namespace regatta::capture {

namespace {

constexpr unsigned api_version = 3020;

int create(Context** out, unsigned flags, int number) {
  State& s = State::get();
  const Guard guard(s.lock);
  const int code = check_device(number);
  if (code != success) return code;
  if (out == nullptr) return invalid_value;
  Driver& d = Driver::get();
  d.ever_made.push_back(std::make_unique<Context>(Context{flags, d.next_context++}));
  Context* const c = d.ever_made.back().get();
  d.contexts.insert(c);
  context_stack().push_back(c);
  s.sticky = success;  // a kernel's fault ends with the context in which it was
  *out = c;
  return success;
}

int pop(Context** out) {
  const int code = check_initialised();
  if (code != success) return code;
  std::vector<Context*>& stack = context_stack();
  if (stack.empty()) return driver_error::invalid_context;
  if (out != nullptr) *out = stack.back();
  stack.pop_back();
  return success;
}

int check(const Context* c) {
  const int code = check_initialised();
  if (code != success) return code;
  return Driver::get().is_context(c) ? int{success} : driver_error::invalid_context;
}

}  // namespace

REGATTA_API int cuCtxCreate_v2(Context** out, unsigned flags, int number) { return create(out, flags, number); }
REGATTA_API int cuCtxCreate_v3(Context** out, void* /*affinities*/, int /*count*/, unsigned flags, int number) {
  return create(out, flags, number);
}
REGATTA_API int cuCtxCreate_v4(Context** out, void* /*parameters*/, unsigned flags, int number) {
  return create(out, flags, number);
}

REGATTA_API int cuCtxDestroy_v2(Context* c) {
  State& s = State::get();
  const Guard guard(s.lock);
  const int code = check_initialised();
  if (code != success) return code;
  Driver& d = Driver::get();
  if (d.contexts.erase(c) == 0) return driver_error::invalid_context;
  s.flush();
  std::vector<Context*>& stack = context_stack();
  if (!stack.empty() && stack.back() == c) stack.pop_back();
  s.sticky = success;
  // The handle stays taken: other threads may have it in their stacks.
  return success;
}

REGATTA_API int cuCtxPushCurrent_v2(Context* c) {
  const Guard guard(State::get().lock);
  const int code = check(c);
  if (code != success) return code;
  context_stack().push_back(c);
  return success;
}
REGATTA_API int cuCtxPopCurrent_v2(Context** out) {
  const Guard guard(State::get().lock);
  return pop(out);
}
REGATTA_API int cuCtxSetCurrent(Context* c) {
  const Guard guard(State::get().lock);
  if (c == nullptr) {
    const int code = check_initialised();
    if (code != success) return code;
    if (!context_stack().empty()) context_stack().pop_back();
    return success;
  }
  const int code = check(c);
  if (code != success) return code;
  if (context_stack().empty()) {
    context_stack().push_back(c);
  } else {
    context_stack().back() = c;
  }
  return success;
}
REGATTA_API int cuCtxGetCurrent(Context** out) {
  const Guard guard(State::get().lock);
  const int code = check_initialised();
  if (code != success) return code;
  if (out == nullptr) return invalid_value;
  *out = current_context();
  return success;
}
REGATTA_API int cuCtxAttach(Context** out, unsigned /*flags*/) {
  const Guard guard(State::get().lock);
  const int code = check_context();
  if (code != success) return code;
  if (out == nullptr) return invalid_value;
  *out = current_context();
  return success;
}
REGATTA_API int cuCtxDetach(Context* /*c*/) { return success; }

REGATTA_API int cuCtxGetDevice(int* number) {
  return in_context([&] { return number == nullptr ? invalid_value : (*number = 0, success); });
}
REGATTA_API int cuCtxGetDevice_v2(int* number, Context* c) {
  const Guard guard(State::get().lock);
  if (number == nullptr) return invalid_value;
  *number = 0;
  return c == nullptr ? check_context() : check(c);
}
REGATTA_API int cuCtxGetFlags(unsigned* flags) {
  return in_context([&] { return flags == nullptr ? invalid_value : (*flags = current_context()->flags, success); });
}
REGATTA_API int cuCtxSetFlags(unsigned flags) {
  return in_context([&] { return current_context()->flags = flags, success; });
}
REGATTA_API int cuCtxGetId(Context* c, unsigned long long* id) {
  const Guard guard(State::get().lock);
  const int code = c == nullptr ? check_context() : check(c);
  if (code != success) return code;
  if (id == nullptr) return invalid_value;
  *id = (c == nullptr ? current_context() : c)->id;
  return success;
}
REGATTA_API int cuCtxGetApiVersion(Context* c, unsigned* version) {
  const Guard guard(State::get().lock);
  const int code = c == nullptr ? check_context() : check(c);
  if (code != success) return code;
  if (version == nullptr) return invalid_value;
  *version = api_version;
  return success;
}
REGATTA_API int cuCtxSynchronize() {
  return in_context([] { return cudaDeviceSynchronize(); });
}
REGATTA_API int cuCtxSynchronize_v2(Context* c) {
  const Guard guard(State::get().lock);
  const int code = c == nullptr ? check_context() : check(c);
  return code != success ? code : through_runtime([] { return cudaDeviceSynchronize(); });
}
REGATTA_API int cuCtxSetLimit(int limit, std::size_t value) {
  return in_context([&] { return cudaDeviceSetLimit(limit, value); });
}
REGATTA_API int cuCtxGetLimit(std::size_t* value, int limit) {
  return in_context([&] { return cudaDeviceGetLimit(value, limit); });
}
REGATTA_API int cuCtxSetCacheConfig(int preference) {
  return in_context([&] { return cudaDeviceSetCacheConfig(preference); });
}
REGATTA_API int cuCtxGetCacheConfig(int* preference) {
  return in_context([&] { return cudaDeviceGetCacheConfig(preference); });
}
REGATTA_API int cuCtxSetSharedMemConfig(int banks) {
  return in_context([&] { return cudaDeviceSetSharedMemConfig(banks); });
}
REGATTA_API int cuCtxGetSharedMemConfig(int* banks) {
  return in_context([&] { return cudaDeviceGetSharedMemConfig(banks); });
}
REGATTA_API int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return in_context([&] { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}
REGATTA_API int cuCtxResetPersistingL2Cache() {
  return in_context([] { return success; });
}

REGATTA_API int cuDevicePrimaryCtxRetain(Context** out, int number) {
  const Guard guard(State::get().lock);
  const int code = check_device(number);
  if (code != success) return code;
  if (out == nullptr) return invalid_value;
  Driver& d = Driver::get();
  ++d.primary_users;
  *out = &d.primary;
  return success;
}
REGATTA_API int cuDevicePrimaryCtxRelease_v2(int number) {
  const Guard guard(State::get().lock);
  const int code = check_device(number);
  if (code != success) return code;
  Driver& d = Driver::get();
  if (d.primary_users == 0) return driver_error::invalid_context;
  --d.primary_users;
  State::get().flush();
  return success;
}
REGATTA_API int cuDevicePrimaryCtxReset_v2(int number) {
  const Guard guard(State::get().lock);
  const int code = check_device(number);
  return code != success ? code : through_runtime([] { return cudaDeviceReset(); });
}
REGATTA_API int cuDevicePrimaryCtxSetFlags_v2(int number, unsigned flags) {
  const Guard guard(State::get().lock);
  const int code = check_device(number);
  if (code == success) Driver::get().primary.flags = flags;
  return code;
}
REGATTA_API int cuDevicePrimaryCtxGetState(int number, unsigned* flags, int* active) {
  const Guard guard(State::get().lock);
  const int code = check_device(number);
  if (code != success) return code;
  const Driver& d = Driver::get();
  if (flags != nullptr) *flags = d.primary.flags;
  if (active != nullptr) *active = d.primary_users != 0 || thread_errors().uses_runtime ? 1 : 0;
  return success;
}

}  // namespace regatta::capture
