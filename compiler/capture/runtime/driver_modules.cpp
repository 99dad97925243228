// SPDX-License-Identifier: Apache-2.0
//
// Modules and libraries of the driver API, and the libraries of the runtime API, which are the same.
#include "loading.h"

namespace regatta::capture {

namespace {

/// Runs `call` with a current context.
template <class Call>
int with_context(Call call) {
  const Guard guard(State::get().lock);
  const int code = check_context();
  return code != success ? code : call();
}

/// A code of the driver as the runtime has it.
int runtime_code(int driver) { return result(driver == driver_error::invalid_image ? invalid_kernel_image : driver); }

}  // namespace

REGATTA_API int cuModuleLoad(void** out, const char* path) {
  return with_context([&] { return load_from_file("cuModuleLoad", path, {0, nullptr, nullptr}, out); });
}
REGATTA_API int cuModuleLoadData(void** out, const void* image) {
  return with_context([&] { return load_from_memory("cuModuleLoadData", image, {0, nullptr, nullptr}, out); });
}
REGATTA_API int cuModuleLoadDataEx(void** out, const void* image, unsigned count, int* options, void** values) {
  return with_context([&] { return load_from_memory("cuModuleLoadDataEx", image, {count, options, values}, out); });
}
REGATTA_API int cuModuleLoadFatBinary(void** out, const void* image) {
  return with_context([&] { return load_from_memory("cuModuleLoadFatBinary", image, {0, nullptr, nullptr}, out); });
}
REGATTA_API int cuModuleUnload(void* module) {
  return with_context([&] { return unload(module); });
}
REGATTA_API int cuModuleGetFunction(void** out, void* module, const char* name) {
  return with_context([&] { return find_kernel(out, module, name); });
}
REGATTA_API int cuModuleGetGlobal_v2(DevicePointer* address, std::size_t* bytes, void* module, const char* name) {
  return with_context([&] { return find_variable(address, bytes, module, name); });
}
REGATTA_API int cuModuleGetFunctionCount(unsigned* count, void* module) { return count_kernels(count, module); }
REGATTA_API int cuModuleEnumerateFunctions(void** out, unsigned count, void* module) {
  return list_kernels(out, count, module);
}
REGATTA_API int cuModuleGetLoadingMode(int* mode) {
  constexpr int eager = 1;
  if (mode == nullptr) return invalid_value;
  *mode = eager;
  return success;
}

// Libraries need no context.
REGATTA_API int cuLibraryLoadData(void** out, const void* image, int* options, void** values, unsigned count,
                                  int* /*library_options*/, void** /*library_values*/, unsigned /*library_count*/) {
  const int code = check_initialised();
  return code != success ? code : load_from_memory("cuLibraryLoadData", image, {count, options, values}, out);
}
REGATTA_API int cuLibraryLoadFromFile(void** out, const char* path, int* options, void** values, unsigned count,
                                      int* /*library_options*/, void** /*library_values*/, unsigned /*library_count*/) {
  const int code = check_initialised();
  return code != success ? code : load_from_file("cuLibraryLoadFromFile", path, {count, options, values}, out);
}
REGATTA_API int cuLibraryUnload(void* library) { return unload(library); }
REGATTA_API int cuLibraryGetKernel(void** out, void* library, const char* name) {
  return find_kernel(out, library, name);
}
REGATTA_API int cuLibraryGetModule(void** out, void* library) {
  const Guard guard(State::get().lock);
  if (Driver::get().module(library) == nullptr) return driver_error::invalid_handle;
  if (out == nullptr) return invalid_value;
  *out = library;
  return success;
}
REGATTA_API int cuLibraryGetGlobal(DevicePointer* address, std::size_t* bytes, void* library, const char* name) {
  return find_variable(address, bytes, library, name);
}
REGATTA_API int cuLibraryGetKernelCount(unsigned* count, void* library) { return count_kernels(count, library); }
REGATTA_API int cuLibraryEnumerateKernels(void** out, unsigned count, void* library) {
  return list_kernels(out, count, library);
}

REGATTA_API int cudaLibraryLoadData(void** out, const void* image, int* options, void** values, unsigned count,
                                    int* /*library_options*/, void** /*library_values*/, unsigned /*library_count*/) {
  return runtime_code(load_from_memory("cudaLibraryLoadData", image, {count, options, values}, out));
}
REGATTA_API int cudaLibraryLoadFromFile(void** out, const char* path, int* options, void** values, unsigned count,
                                        int* /*library_options*/, void** /*library_values*/,
                                        unsigned /*library_count*/) {
  return runtime_code(load_from_file("cudaLibraryLoadFromFile", path, {count, options, values}, out));
}
REGATTA_API int cudaLibraryUnload(void* library) { return runtime_code(unload(library)); }
REGATTA_API int cudaLibraryGetKernel(void** out, void* library, const char* name) {
  return runtime_code(find_kernel(out, library, name));
}
REGATTA_API int cudaLibraryGetGlobal(DevicePointer* address, std::size_t* bytes, void* library, const char* name) {
  return runtime_code(find_variable(address, bytes, library, name));
}
REGATTA_API int cudaLibraryGetKernelCount(unsigned* count, void* library) {
  return runtime_code(count_kernels(count, library));
}
REGATTA_API int cudaLibraryEnumerateKernels(void** out, unsigned count, void* library) {
  return runtime_code(list_kernels(out, count, library));
}

}  // namespace regatta::capture
