// SPDX-License-Identifier: Apache-2.0
//
// What the runtime knows on the program's side: modules with their kernels and variables, memory, streams and events,
// the last error. All of it is one object under one lock.
#pragma once

#include "abi.h"
#include "connection.h"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace regatta::capture {

struct Module;

struct Kernel {
  Module* module = nullptr;
  std::string name;
  std::string refusal;  ///< why it cannot be launched; empty: it can
  KernelDescription description;
  struct Parameter {
    std::uint32_t offset = 0, bytes = 0;
  };
  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  int max_dynamic_shared = 0;  ///< asked for by cudaFuncSetAttribute()
};

struct Variable {
  Module* module = nullptr;
  std::string name;
  VariableDescription description;
};

/// A fat binary or PTX. The server sees it when the program first uses something of it.
struct Module {
  std::string name;
  std::vector<std::uint8_t> image;
  bool is_loaded = false;
  std::uint32_t index = 0;
  std::map<std::string, Kernel> kernels;
  std::map<std::string, Variable> variables;
  std::vector<std::pair<std::string, void**>> managed;  ///< variables whose address the host reads from there
};

/// Memory that host and device both have. The host's copy counts between launches.
struct SharedRange {
  std::uint8_t* host = nullptr;
  std::uint64_t device = 0;
  std::uint64_t bytes = 0;
  enum class Kind : std::uint8_t { managed, pinned, registered, variable } kind = Kind::managed;
  bool is_committed = false;        ///< the device has memory for it
  std::vector<std::uint8_t> known;  ///< what the device has
};

/// cudaLaunchAttributeValue.
struct StreamAttribute {
  alignas(8) std::uint8_t bytes[64] = {};
};

struct Stream {
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  std::map<int, StreamAttribute> attributes;  ///< those that were set
};
struct Event {
  std::chrono::steady_clock::time_point time;
  bool is_recorded = false;
};

class State {
 public:
  static State& get();

  std::recursive_mutex lock;

  // Modules.
  Module& add_module(const std::string& name, std::vector<std::uint8_t> image);
  /// Sends it to the server, which may end the program.
  void load(Module& module);
  /// Likewise for an image that the program brings at run time. False, with the reason: it is no PTX that is right.
  bool try_load(Module& module, std::string& why);
  std::map<const void*, std::pair<Module*, std::string>> functions;  ///< by the host's address of the stub
  std::map<const void*, std::pair<Module*, std::string>> symbols;    ///< by the host's address of the variable
  /// A kernel by stub or handle; nullptr: unknown.
  Kernel* kernel(const void* function);
  Kernel* kernel(Module& module, const std::string& name);
  /// What the compiled kernel takes; the server compiles it the first time. Of a kernel that cannot be launched, which
  /// the program may only ask about, 32 registers.
  const KernelDescription& resources(Kernel& kernel);
  Variable* variable(const void* symbol);
  std::vector<std::unique_ptr<Module>> modules;

  // Memory.
  std::map<std::uint64_t, std::uint64_t> device_memory;  ///< bytes by address: cudaMalloc() and .global variables
  std::map<std::uint64_t, SharedRange> shared;           ///< by the host's address
  std::uint64_t used = 0;                                ///< bytes of cudaMalloc()
  std::map<std::uint64_t, Variable*> constants;          ///< .const variables whose address the program asked for
  /// Whether the address is the device's alone.
  bool is_device(const void* address) const;
  SharedRange* shared_at(const void* address);
  /// By an address of the device.
  SharedRange* shared_of_device(std::uint64_t address);
  Error allocate_shared(std::uint64_t bytes, SharedRange::Kind kind, void** out);
  Error release_shared(const void* host);
  void commit(SharedRange& range);
  /// Before a launch whose parameters are given: what the host wrote goes to the device.
  void to_device(const std::vector<std::uint8_t>& parameters);
  /// After it: what the device wrote goes to the host.
  void to_host();

  // Launches.
  Error launch(Kernel& kernel, Dim3 grid, Dim3 block, const std::vector<std::uint8_t>& parameters, std::uint64_t shared,
               std::uint32_t flags);

  // Streams and events.
  std::set<Stream*> streams;
  std::set<Event*> events;
  unsigned long long next_stream = 1;

  /// What kernels printed since the last synchronisation goes to standard output.
  void flush();

  // Errors.
  Error sticky = success;
  /// Keeps the code for cudaGetLastError() and returns it.
  Error keep(int code);

 private:
  /// What the server says of a module.
  void learn(Module& module, const Reply& reply);

  std::string printed_;
  std::set<const void*> handles_;  ///< kernels that were given out as handles
};

/// What the runtime API keeps for a thread.
struct ThreadErrors {
  Error last = success;       ///< for cudaGetLastError()
  bool uses_runtime = false;  ///< the thread has called the runtime: it has the primary context
};
ThreadErrors& thread_errors();
inline Error& last_error() { return thread_errors().last; }

/// What a call returns: an earlier fault of a kernel, or `code`, which cudaGetLastError() then knows.
int result(int code);

/// The API's error of a reply that is not done.
Error error_of(const Reply& reply);

using Guard = std::lock_guard<std::recursive_mutex>;

}  // namespace regatta::capture
