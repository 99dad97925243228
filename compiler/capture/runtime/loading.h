// SPDX-License-Identifier: Apache-2.0
//
// Modules that a program loads at run time, as modules or as libraries, from its memory or from a file.
#pragma once

#include "driver.h"
#include "driver_jit.h"

#include <string>

namespace regatta::capture {

/// `call` is the function of the API, for messages. The driver's code; PTX that is wrong is said on standard error and
/// in the log of the options.
int load_from_memory(const char* call, const void* image, JitOptions options, void** out);
int load_from_file(const char* call, const char* path, JitOptions options, void** out);
int unload(void* module);

/// A kernel or variable of a loaded module by name.
int find_kernel(void** out, void* module, const char* name);
int find_variable(DevicePointer* address, std::size_t* bytes, void* module, const char* name);
int count_kernels(unsigned* count, void* module);
/// Up to `count` of them, in the order of their names.
int list_kernels(void** out, unsigned count, void* module);

}  // namespace regatta::capture
