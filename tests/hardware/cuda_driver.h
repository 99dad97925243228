// SPDX-License-Identifier: Apache-2.0
//
// The part of NVIDIA's driver API (libcuda) that running a PTX file needs, declared here, so that neither building nor
// starting needs CUDA. Names, arguments and numbers are those of the CUDA driver API reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace regatta::hardware {

using CudaResult = int;  ///< 0: success
using CudaAddress = unsigned long long;

inline constexpr CudaResult cuda_no_device = 100;
inline constexpr CudaResult cuda_no_binary_for_gpu = 209;
inline constexpr CudaResult cuda_unsupported_ptx_version = 222;

inline constexpr int jit_error_log_buffer = 5;
inline constexpr int jit_error_log_buffer_size_bytes = 6;
inline constexpr int attribute_compute_capability_major = 75;
inline constexpr int attribute_compute_capability_minor = 76;
inline constexpr int function_max_dynamic_shared_bytes = 8;

/// Entry points; objects of the API are opaque pointers.
struct CudaDriver {
  CudaResult (*init)(unsigned flags);
  CudaResult (*get_error_string)(CudaResult error, const char** text);
  CudaResult (*driver_get_version)(int* version);
  CudaResult (*device_get_count)(int* count);
  CudaResult (*device_get)(int* device, int ordinal);
  CudaResult (*device_get_name)(char* name, int length, int device);
  CudaResult (*device_get_attribute)(int* value, int attribute, int device);
  CudaResult (*primary_context_retain)(void** context, int device);
  CudaResult (*primary_context_release)(int device);
  CudaResult (*context_set_current)(void* context);
  CudaResult (*context_synchronize)();
  CudaResult (*module_load_data)(void** module, const void* image, unsigned options, int* names, void** values);
  CudaResult (*module_unload)(void* module);
  CudaResult (*module_get_function)(void** function, void* module, const char* name);
  CudaResult (*module_get_global)(CudaAddress* address, std::size_t* bytes, void* module, const char* name);
  CudaResult (*function_set_attribute)(void* function, int attribute, int value);
  CudaResult (*memory_allocate)(CudaAddress* address, std::size_t bytes);
  CudaResult (*memory_free)(CudaAddress address);
  CudaResult (*copy_to_device)(CudaAddress to, const void* from, std::size_t bytes);
  CudaResult (*copy_to_host)(void* to, CudaAddress from, std::size_t bytes);
  CudaResult (*fill_bytes)(CudaAddress to, unsigned char value, std::size_t bytes);
  CudaResult (*launch_kernel)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                              unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream,
                              void** parameters, void** extra);
};

/// Loads the driver library called `name` ("libcuda.so.1") for as long as the program runs. False when there is none,
/// or none that has all of the above: `why` says so.
bool load_driver(const std::string& name, CudaDriver& driver, std::string& why);

}  // namespace regatta::hardware
