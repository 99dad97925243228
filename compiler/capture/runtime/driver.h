// SPDX-License-Identifier: Apache-2.0
//
// The driver API. What it shares with the runtime API (memory, copies, streams, launches) is done by the runtime's
// functions, whose codes become the driver's here. Its own are contexts and modules: there is one device and one
// address space, so a context is a handle that is created, made current and destroyed.
#pragma once

#include "runtime_api.h"
#include "state.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace regatta::capture {

/// CUresult, where the runtime has another code for the same, or none.
namespace driver_error {
inline constexpr int not_initialized = 3, invalid_context = 201, context_already_current = 202, invalid_image = 200,
                     no_binary = 209, invalid_ptx = 218, invalid_handle = 400, not_found = 500,
                     primary_context_active = 708, context_is_destroyed = 709;
}

using DevicePointer = unsigned long long;  ///< CUdeviceptr

struct Context {
  unsigned flags = 0;
  unsigned long long id = 0;
};

/// A launch that is put together by the calls of before CUDA 4.
struct LegacyLaunch {
  Dim3 block{1, 1, 1};
  unsigned shared = 0;
  std::vector<std::uint8_t> parameters;
};

class Driver {
 public:
  static Driver& get();

  bool is_initialised = false;
  std::set<Context*> contexts;                      ///< without the primary one
  std::vector<std::unique_ptr<Context>> ever_made;  ///< a destroyed one may be in another thread's stack
  Context primary;
  unsigned primary_users = 0;
  unsigned long long next_context = 2;
  std::set<Module*> modules;  ///< those that the program has loaded and not unloaded
  std::map<Kernel*, LegacyLaunch> legacy;

  bool is_context(const Context* c) const;
  /// A loaded module, which is a library too; nullptr: the handle is none.
  Module* module(void* handle) const;
};

/// Contexts of this thread, the current one last.
std::vector<Context*>& context_stack();
/// nullptr: none. A thread that has called the runtime has the primary one.
Context* current_context();

/// The driver's code for one of the runtime.
int driver_code(int runtime_error);

/// Calls something of the runtime API for the driver API: its code, without an effect on cudaGetLastError().
template <class Call>
int through_runtime(Call call) {
  const ThreadErrors before = thread_errors();
  const int code = call();
  thread_errors() = before;
  return driver_code(code);
}

/// The code that every call has which needs cuInit(), a device or a context; success: go on.
int check_initialised();
int check_device(int number);
int check_context();

/// A call of the runtime API with a current context.
template <class Call>
int in_context(Call call) {
  const Guard guard(State::get().lock);
  const int code = check_context();
  return code != success ? code : through_runtime(call);
}

}  // namespace regatta::capture
