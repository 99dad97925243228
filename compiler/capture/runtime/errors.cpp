// SPDX-License-Identifier: Apache-2.0
//
// Error codes: names and texts, and the last one.
#include "state.h"

namespace regatta::capture {

namespace {

struct Known {
  int code;
  const char* name;
  const char* text;
};
constexpr Known errors[] = {
    {success, "cudaSuccess", "no error"},
    {invalid_value, "cudaErrorInvalidValue", "invalid argument"},
    {memory_allocation, "cudaErrorMemoryAllocation", "out of memory"},
    {initialization_error, "cudaErrorInitializationError", "initialization error"},
    {invalid_configuration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {invalid_pitch_value, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {invalid_symbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {invalid_texture, "cudaErrorInvalidTexture", "invalid texture reference"},
    {invalid_surface, "cudaErrorInvalidSurface", "invalid surface reference"},
    {invalid_memcpy_direction, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {invalid_device_function, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {no_device, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {invalid_device, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {invalid_kernel_image, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {file_not_found, "cudaErrorFileNotFound", "file not found"},
    {invalid_resource_handle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {illegal_state, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {symbol_not_found, "cudaErrorSymbolNotFound", "named symbol not found"},
    {not_ready, "cudaErrorNotReady", "device not ready"},
    {illegal_address, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {launch_out_of_resources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {peer_access_not_enabled, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {assertion, "cudaErrorAssert", "device-side assert triggered"},
    {host_memory_already_registered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {host_memory_not_registered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {misaligned_address, "cudaErrorMisalignedAddress", "misaligned address"},
    {launch_failure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cooperative_launch_too_large, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {not_permitted, "cudaErrorNotPermitted", "operation not permitted"},
    {not_supported, "cudaErrorNotSupported", "operation not supported"},
    {stream_capture_unsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {stream_capture_invalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {stream_capture_unmatched, "cudaErrorStreamCaptureUnmatched", "the capture was not initiated in this stream"},
    {stream_capture_unjoined, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    {graph_exec_update_failure, "cudaErrorGraphExecUpdateFailure", "the graph update was not performed"},
    {unknown_error, "cudaErrorUnknown", "unknown error"},
};

}  // namespace

REGATTA_API const char* cudaGetErrorName(int code) {
  for (const Known& k : errors) {
    if (k.code == code) return k.name;
  }
  return "unrecognized error code";
}
REGATTA_API const char* cudaGetErrorString(int code) {
  for (const Known& k : errors) {
    if (k.code == code) return k.text;
  }
  return "unrecognized error code";
}
REGATTA_API int cudaGetLastError() {
  Error& last = last_error();
  const Error was = State::get().sticky != success ? State::get().sticky : last;
  last = success;
  return was;
}
REGATTA_API int cudaPeekAtLastError() { return State::get().sticky != success ? State::get().sticky : last_error(); }

}  // namespace regatta::capture
