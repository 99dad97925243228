// SPDX-License-Identifier: Apache-2.0
#include "cuda_driver.h"

#include <dlfcn.h>

namespace regatta::hardware {
namespace {

/// Looks up entry points and remembers the first that is missing.
class Finder {
 public:
  explicit Finder(void* library) : library_(library) {}
  template <class F>
  void operator()(F*& function, const char* name) {
    function = reinterpret_cast<F*>(::dlsym(library_, name));
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

}  // namespace

bool load_driver(const std::string& name, CudaDriver& d, std::string& why) {
  void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    why = ::dlerror();
    return false;
  }
  Finder find(library);
  find(d.init, "cuInit");
  find(d.get_error_string, "cuGetErrorString");
  find(d.driver_get_version, "cuDriverGetVersion");
  find(d.device_get_count, "cuDeviceGetCount");
  find(d.device_get, "cuDeviceGet");
  find(d.device_get_name, "cuDeviceGetName");
  find(d.device_get_attribute, "cuDeviceGetAttribute");
  find(d.primary_context_retain, "cuDevicePrimaryCtxRetain");
  find(d.primary_context_release, "cuDevicePrimaryCtxRelease_v2");
  find(d.context_set_current, "cuCtxSetCurrent");
  find(d.context_synchronize, "cuCtxSynchronize");
  find(d.module_load_data, "cuModuleLoadDataEx");
  find(d.module_unload, "cuModuleUnload");
  find(d.module_get_function, "cuModuleGetFunction");
  find(d.module_get_global, "cuModuleGetGlobal_v2");
  find(d.function_set_attribute, "cuFuncSetAttribute");
  find(d.memory_allocate, "cuMemAlloc_v2");
  find(d.memory_free, "cuMemFree_v2");
  find(d.copy_to_device, "cuMemcpyHtoD_v2");
  find(d.copy_to_host, "cuMemcpyDtoH_v2");
  find(d.fill_bytes, "cuMemsetD8_v2");
  find(d.launch_kernel, "cuLaunchKernel");
  if (!find.missing().empty()) why = name + " has no " + find.missing();
  return find.missing().empty();
}

}  // namespace regatta::hardware
