// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <algorithm>

namespace regatta::capture {

Driver& Driver::get() {
  static Driver* const driver = new Driver;
  driver->primary.id = 1;
  return *driver;
}

bool Driver::is_context(const Context* c) const {
  return c == &primary || contexts.count(const_cast<Context*>(c)) != 0;
}

Module* Driver::module(void* handle) const {
  auto* const m = static_cast<Module*>(handle);
  return modules.count(m) != 0 ? m : nullptr;
}

std::vector<Context*>& context_stack() {
  thread_local std::vector<Context*> stack;
  return stack;
}

Context* current_context() {
  const std::vector<Context*>& stack = context_stack();
  if (!stack.empty()) return stack.back();
  return thread_errors().uses_runtime ? &Driver::get().primary : nullptr;
}

int check_initialised() {
  return Driver::get().is_initialised || thread_errors().uses_runtime ? int{success} : driver_error::not_initialized;
}

int check_device(int number) {
  const int code = check_initialised();
  if (code != success) return code;
  return number == 0 ? success : invalid_device;
}

int check_context() {
  const int code = check_initialised();
  if (code != success) return code;
  const Context* const c = current_context();
  if (c == nullptr) return driver_error::invalid_context;
  return Driver::get().is_context(c) ? int{success} : driver_error::context_is_destroyed;
}

int driver_code(int runtime_error) {
  switch (runtime_error) {
    case invalid_configuration:
    case invalid_pitch_value:
    case invalid_memcpy_direction:
      return invalid_value;
    case invalid_symbol:
      return driver_error::not_found;
    case invalid_device_function:
      return driver_error::invalid_handle;
    default:
      return runtime_error;  // the same number in both
  }
}

}  // namespace regatta::capture
