// SPDX-License-Identifier: Apache-2.0
#include "loading.h"

#include "constants.h"
#include "images.h"

#include <unistd.h>

#include <utility>

namespace regatta::capture {

namespace {

int load(const std::string& name, std::vector<std::uint8_t> image, JitOptions options, void** out) {
  State& s = State::get();
  if (image.empty()) return driver_error::invalid_image;
  Module& m = s.add_module(name, std::move(image));
  std::string why;
  if (!s.try_load(m, why)) {
    s.modules.pop_back();
    const std::string line = "regatta-capture: " + name + ": " + why + "\n";
    if (write(STDERR_FILENO, line.data(), line.size()) < 0) return unknown_error;
    options.answer(why);
    return driver_error::invalid_ptx;
  }
  options.answer("");
  Driver::get().modules.insert(&m);
  *out = &m;
  return success;
}

}  // namespace

int load_from_memory(const char* call, const void* image, JitOptions options, void** out) {
  const Guard guard(State::get().lock);
  if (image == nullptr || out == nullptr) return invalid_value;
  return load("the image given to " + std::string(call) + "()", image_at(image), options, out);
}

int load_from_file(const char* call, const char* path, JitOptions options, void** out) {
  const Guard guard(State::get().lock);
  if (path == nullptr || out == nullptr) return invalid_value;
  std::vector<std::uint8_t> image;
  if (!read_image(path, image)) return file_not_found;
  return load("'" + std::string(path) + "', given to " + call + "()", std::move(image), options, out);
}

int unload(void* module) {
  const Guard guard(State::get().lock);
  Driver& d = Driver::get();
  Module* const m = d.module(module);
  if (m == nullptr) return driver_error::invalid_handle;
  // The device keeps its code and its variables: launches before this one may be traced.
  d.modules.erase(m);
  return success;
}

int find_kernel(void** out, void* module, const char* name) {
  State& s = State::get();
  const Guard guard(s.lock);
  Module* const m = Driver::get().module(module);
  if (m == nullptr) return driver_error::invalid_handle;
  if (out == nullptr || name == nullptr || *name == '\0') return invalid_value;
  Kernel* const k = s.kernel(*m, name);
  if (k == nullptr) return driver_error::not_found;
  *out = k;
  return success;
}

int find_variable(DevicePointer* address, std::size_t* bytes, void* module, const char* name) {
  const Guard guard(State::get().lock);
  Module* const m = Driver::get().module(module);
  if (m == nullptr) return driver_error::invalid_handle;
  if (name == nullptr || (address == nullptr && bytes == nullptr)) return invalid_value;
  const auto found = m->variables.find(name);
  if (found == m->variables.end()) return driver_error::not_found;
  if (address != nullptr) *address = address_of_variable(found->second);
  if (bytes != nullptr) *bytes = found->second.description.bytes;
  return success;
}

int count_kernels(unsigned* count, void* module) {
  const Guard guard(State::get().lock);
  const Module* const m = Driver::get().module(module);
  if (m == nullptr) return driver_error::invalid_handle;
  if (count == nullptr) return invalid_value;
  *count = static_cast<unsigned>(m->kernels.size());
  return success;
}

int list_kernels(void** out, unsigned count, void* module) {
  const Guard guard(State::get().lock);
  Module* const m = Driver::get().module(module);
  if (m == nullptr) return driver_error::invalid_handle;
  if (out == nullptr) return invalid_value;
  for (auto& [name, kernel] : m->kernels) {
    if (count-- == 0) break;
    *out++ = &kernel;
  }
  return success;
}

}  // namespace regatta::capture
