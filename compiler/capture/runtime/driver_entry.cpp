// SPDX-License-Identifier: Apache-2.0
//
// Functions of the driver by name: cuGetProcAddress() and its like in the runtime. A name stands for the newest
// function of that name which is not newer than the version that the program was written for.
#include "driver.h"
#include "images.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace regatta::capture {

namespace {

/// What the program is told of its question (CUdriverProcAddressQueryResult).
constexpr int found = 0, not_there = 1;
constexpr int newest = 13000;

struct Suffix {
  const char* name;
  const char* suffix;
  int version;  ///< since which CUDA the name means this function
};
/// Those that came after CUDA 10. A suffix _v2 that is not here is older than any program.
constexpr Suffix suffixes[] = {
    {"cuCtxCreate", "_v4", 12050},      {"cuCtxCreate", "_v3", 11040},        {"cuDeviceGetUuid", "_v2", 11040},
    {"cuMemAdvise", "_v2", 12020},      {"cuMemPrefetchAsync", "_v2", 12020}, {"cuEventElapsedTime", "_v2", 12080},
    {"cuGetProcAddress", "_v2", 12000}, {"cuStreamGetCtx", "_v2", 12050},     {"cuCtxGetDevice", "_v2", 13000},
    {"cuCtxSynchronize", "_v2", 13000},
};

void* symbol(const std::string& name) {
  static void* const ours = [] {
    Dl_info self{};
    if (dladdr(reinterpret_cast<const void*>(&symbol), &self) == 0) return static_cast<void*>(nullptr);
    return dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  return ours == nullptr || name.rfind("cu", 0) != 0 ? nullptr : dlsym(ours, name.c_str());
}

void* entry(const std::string& name, int version) {
  bool is_listed = false;
  for (const Suffix& s : suffixes) {
    if (name != s.name) continue;
    is_listed = is_listed || std::strcmp(s.suffix, "_v2") == 0;
    if (s.version > version) continue;
    if (void* const at = symbol(name + s.suffix)) return at;
  }
  if (!is_listed) {
    if (void* const at = symbol(name + "_v2")) return at;
  }
  return symbol(name);
}

int find_entry(const char* name, void** out, int version, int* status) {
  if (name == nullptr || out == nullptr) return invalid_value;
  *out = nullptr;
  // The runtime's functions are in the same library.
  if (std::strncmp(name, "cuda", 4) != 0) *out = entry(name, version);
  if (status != nullptr) *status = *out == nullptr ? not_there : found;
  return *out == nullptr ? driver_error::not_found : success;
}

/// Whether code of a library or of the program has the CUDA runtime in it: names of errors that nothing else has.
bool has_runtime(const void* code) {
  constexpr const char* name = "cudaErrorMixedDeviceExecution";
  Dl_info object{};
  std::vector<std::uint8_t> file;
  if (dladdr(code, &object) == 0 || !read_image(object.dli_fname, file)) return false;
  return std::search(file.begin(), file.end(), name, name + std::strlen(name)) != file.end();
}

}  // namespace

REGATTA_API int cuGetProcAddress_v2(const char* name, void** out, int version, std::uint64_t /*flags*/, int* status) {
  return find_entry(name, out, version, status);
}
REGATTA_API int cuGetProcAddress(const char* name, void** out, int version, std::uint64_t /*flags*/) {
  return find_entry(name, out, version, nullptr);
}

REGATTA_API int cudaGetDriverEntryPointByVersion(const char* name, void** out, unsigned version,
                                                 unsigned long long /*flags*/, int* status) {
  const int code = find_entry(name, out, static_cast<int>(version), status);
  // The program finds in `status` that there is none.
  return result(code == invalid_value ? invalid_value : success);
}
REGATTA_API int cudaGetDriverEntryPoint(const char* name, void** out, unsigned long long flags, int* status) {
  return cudaGetDriverEntryPointByVersion(name, out, newest, flags, status);
}

/// Tables of functions that no manual has. The runtime that nvcc links into programs needs them; others ask and go on
/// without.
REGATTA_API int cuGetExportTable(const void** /*table*/, const void* /*id*/) {
  if (!has_runtime(__builtin_return_address(0))) return driver_error::not_found;
  refuse(
      "the CUDA runtime inside of the program, or of a library of it, asks the driver for tables that are not "
      "documented "
      "(cuGetExportTable): its functions cannot be replaced where there is no symbol table; expected a program that is "
      "not stripped (no strip, no -s), or nvcc -cudart shared");
}

}  // namespace regatta::capture
