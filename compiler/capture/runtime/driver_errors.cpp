// SPDX-License-Identifier: Apache-2.0
//
// Names and texts of the driver's codes.
#include "driver.h"

namespace regatta::capture {

namespace {

struct DriverText {
  int code;
  const char* name;
  const char* text;  ///< nullptr: that of the runtime's code
};
constexpr DriverText driver_texts[] = {
    {success, "CUDA_SUCCESS", nullptr},
    {invalid_value, "CUDA_ERROR_INVALID_VALUE", nullptr},
    {memory_allocation, "CUDA_ERROR_OUT_OF_MEMORY", nullptr},
    {driver_error::not_initialized, "CUDA_ERROR_NOT_INITIALIZED", nullptr},
    {4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {no_device, "CUDA_ERROR_NO_DEVICE", nullptr},
    {invalid_device, "CUDA_ERROR_INVALID_DEVICE", nullptr},
    {invalid_kernel_image, "CUDA_ERROR_INVALID_IMAGE", nullptr},
    {driver_error::invalid_context, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {driver_error::context_already_current, "CUDA_ERROR_CONTEXT_ALREADY_CURRENT", "context already current"},
    {driver_error::no_binary, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {driver_error::invalid_ptx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {file_not_found, "CUDA_ERROR_FILE_NOT_FOUND", nullptr},
    {driver_error::invalid_handle, "CUDA_ERROR_INVALID_HANDLE", nullptr},
    {driver_error::not_found, "CUDA_ERROR_NOT_FOUND", nullptr},
    {not_ready, "CUDA_ERROR_NOT_READY", nullptr},
    {illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS", nullptr},
    {launch_out_of_resources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", nullptr},
    {peer_access_not_enabled, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", nullptr},
    {driver_error::primary_context_active, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", "primary context active"},
    {driver_error::context_is_destroyed, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {assertion, "CUDA_ERROR_ASSERT", nullptr},
    {host_memory_already_registered, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", nullptr},
    {host_memory_not_registered, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", nullptr},
    {misaligned_address, "CUDA_ERROR_MISALIGNED_ADDRESS", nullptr},
    {launch_failure, "CUDA_ERROR_LAUNCH_FAILED", nullptr},
    {cooperative_launch_too_large, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", nullptr},
    {not_permitted, "CUDA_ERROR_NOT_PERMITTED", nullptr},
    {not_supported, "CUDA_ERROR_NOT_SUPPORTED", nullptr},
    {stream_capture_unsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", nullptr},
    {stream_capture_invalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", nullptr},
    {stream_capture_unmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", nullptr},
    {stream_capture_unjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", nullptr},
    {unknown_error, "CUDA_ERROR_UNKNOWN", nullptr},
};

const DriverText* known(int code) {
  for (const DriverText& k : driver_texts) {
    if (k.code == code) return &k;
  }
  return nullptr;
}

}  // namespace

REGATTA_API int cuGetErrorName(int code, const char** name) {
  if (name == nullptr) return invalid_value;
  const DriverText* const k = known(code);
  *name = k == nullptr ? nullptr : k->name;
  return k == nullptr ? invalid_value : success;
}

REGATTA_API int cuGetErrorString(int code, const char** text) {
  if (text == nullptr) return invalid_value;
  const DriverText* const k = known(code);
  *text = nullptr;
  if (k != nullptr) *text = k->text != nullptr ? k->text : cudaGetErrorString(code);
  return k == nullptr ? invalid_value : success;
}

}  // namespace regatta::capture
