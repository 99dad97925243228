// SPDX-License-Identifier: Apache-2.0
//
// The GPU of a captured program: its memory, its modules, and launches that the emulator runs at once. Everything that
// the host does to it goes into a ProgramLog, from which the same work is done again.
#pragma once

#include "program_log.h"
#include "protocol.h"

#include <regatta/emulator/emulator.h>
#include <regatta/emulator/launch_memo.h>
#include <regatta/ptx/ptx.h>
#include <regatta/tool/compile.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regatta::capture {

struct DeviceOptions {
  DeviceDescription description;
  /// Memory is as cudaMalloc() gives it in a fresh process, all zero, reads a little outside of buffers give zero, and
  /// so do values that CUDA leaves undefined (EmulatorOptions::undefined_zero). With `strict` memory is uninitialised
  /// and what depends on such a value, or reads outside of buffers, is an error.
  bool strict = false;
  std::uint64_t max_instructions = std::uint64_t{1} << 31;  ///< per warp and launch
  unsigned threads = 0;                                     ///< emulator::EmulatorOptions::threads; 0: base::threads()
  bool remember_launches = true;                            ///< emulator::LaunchMemo; the results are the same without
  std::uint32_t stack_bytes = ir::default_stack_bytes;      ///< ptx::LoweringOptions
  std::uint64_t heap_bytes = emulator::DeviceMemory::default_heap_bytes;  ///< of the kernels' malloc()
  emulator::Approximations approximations = emulator::Approximations::rounded;
  /// The code of the trace. The program is told its registers: a cooperative grid that it makes as large as they allow
  /// must fit in the trace too.
  tool::CompileOptions code;
};

struct KernelLaunch {
  std::uint32_t module = 0;
  std::string kernel;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t dynamic_shared = 0;  ///< bytes
  std::uint32_t flags = 0;           ///< launch_cooperative
  std::vector<std::uint8_t> parameters;
};

/// Rows of bytes in device memory; pitch in bytes from one row to the next.
struct Rows {
  std::uint64_t address = 0;
  std::uint64_t pitch = 0;
  std::uint64_t width = 0;
  std::uint64_t rows = 1;

  std::uint64_t end() const { return rows == 0 ? address : address + (rows - 1) * pitch + width; }
};

/// The kernel did what a GPU stops.
class KernelFault : public trace::InputError {
 public:
  KernelFault(Fault fault, const std::string& what) : trace::InputError(what), fault_(fault) {}
  Fault fault() const { return fault_; }

 private:
  Fault fault_;
};

/// Every function throws std::out_of_range for an address, a number or a name that does not exist.
class CapturedDevice {
 public:
  /// Both must outlive the device.
  CapturedDevice(const DeviceOptions& options, ProgramLog& log);

  /// Loads PTX, or the PTX of a fat binary, that `name` gave. Throws trace::InputError for what cannot be.
  std::uint32_t load_module(const std::string& name, const std::vector<std::uint8_t>& image);
  const ptx::ModuleResult& module(std::uint32_t index) const { return modules_.at(index)->parsed; }
  const emulator::ModuleImage& image(std::uint32_t index) const { return *modules_.at(index)->image; }
  KernelDescription describe(std::uint32_t module, const ptx::EntryResult& entry) const;
  /// With the registers and the local memory of the compiled kernel, which it compiles the first time. Throws
  /// trace::InputError for a kernel that cannot be run.
  KernelDescription compile(std::uint32_t module, const std::string& name);

  /// Returns the address, a multiple of 512. Throws base::OutOfMemory.
  std::uint64_t allocate(std::uint64_t bytes);
  /// As allocate(), but the memory is there only after commit(). A reserved address that is released costs nothing.
  std::uint64_t reserve(std::uint64_t bytes);
  void commit(std::uint64_t address);
  void release(std::uint64_t address);
  void write(const Rows& to, const std::uint8_t* bytes);
  std::vector<std::uint8_t> read(const Rows& from) const;
  void copy(const Rows& to, const Rows& from);
  /// `value` repeats every `size` bytes, 1, 2 or 4.
  void fill(const Rows& to, std::uint32_t value, unsigned size);
  void write_variable(std::uint32_t module, const std::string& name, std::uint64_t offset,
                      const std::vector<std::uint8_t>& bytes);
  std::vector<std::uint8_t> read_variable(std::uint32_t module, const std::string& name, std::uint64_t offset,
                                          std::uint64_t bytes) const;

  // device_textures.cpp: arrays by id, textures and surfaces by handle. What CUDA refuses throws std::invalid_argument.
  std::uint64_t create_array(const ArrayDescription& description);
  void destroy_array(std::uint64_t array);
  /// Of the texels, one after another.
  std::uint64_t region_bytes(std::uint64_t array, const ArrayRegion& region) const;
  void write_array(std::uint64_t array, const ArrayRegion& region, const std::uint8_t* bytes);
  std::vector<std::uint8_t> read_array(std::uint64_t array, const ArrayRegion& region) const;
  /// To the array or from it. In memory, rows are `pitch` bytes apart, images pitch * rows.
  void copy_array(bool to_array, std::uint64_t array, const ArrayRegion& region, std::uint64_t address,
                  std::uint64_t pitch);
  /// `place`: where in the array `to`; its size does not count.
  void copy_arrays(std::uint64_t to, const ArrayRegion& place, std::uint64_t from, const ArrayRegion& region);
  std::uint64_t create_texture(const TextureDescription& description);
  std::uint64_t create_surface(std::uint64_t array);
  void destroy_texture(std::uint64_t handle);
  void destroy_surface(std::uint64_t handle);
  void bind_texture(std::uint32_t module, const std::string& name, const TextureDescription& description);
  void bind_surface(std::uint32_t module, const std::string& name, std::uint64_t array);
  void unbind(std::uint32_t module, const std::string& name);

  /// cudaDeviceSetLimit(): the stack of recursive functions, which never becomes smaller, and the heap of malloc(),
  /// which has its size once a kernel has used it. Others have no effect.
  void set_limit(std::int32_t limit, std::uint64_t value);
  std::uint32_t stack_bytes() const { return stack_bytes_; }
  std::uint64_t heap_bytes() const { return heap_bytes_; }
  /// Runs a kernel to its end. Returns what it printed. Throws KernelFault, and trace::InputError for a kernel that
  /// cannot be run.
  std::string launch(const KernelLaunch& launch);

  std::uint64_t memory_used() const { return used_; }
  std::uint64_t launches() const { return launches_; }
  std::uint64_t warp_instructions() const { return warp_instructions_; }
  /// Launches that did what an earlier one had done, and were not run.
  std::uint64_t repeated() const { return memo_.repeated(); }
  /// Seconds in the emulator.
  double seconds() const { return seconds_; }

 private:
  /// Of texture and surface objects: beyond those that the table gives references, so that the pass that makes the
  /// trace has them free.
  static constexpr std::uint64_t first_handle = std::uint64_t{1} << 20;

  struct Kernel {
    tool::CompiledKernel compiled;
    std::unique_ptr<emulator::Emulator> emulator;
    bool uses_textures = false;  ///< or surfaces: the memo does not see what they read and write
  };
  struct Module {
    std::string text, file;
    ptx::ModuleResult parsed;
    std::unique_ptr<emulator::ModuleImage> image;
    std::map<std::string, Kernel> kernels;
  };

  std::string memo_key(const KernelLaunch& launch) const;
  /// A texture or surface reference of a module.
  emulator::TextureHandle reference(std::uint32_t module, const std::string& name) const;
  /// What the log calls the memory of a texture. Throws trace::InputError for memory that the log cannot name.
  ProgramLog::TextureMemory log_place(const TextureDescription& description) const;
  void take_memory(std::uint64_t bytes);

  Kernel& kernel(std::uint32_t module, const std::string& name);
  const ptx::EntryResult& entry(std::uint32_t module, const std::string& name) const;
  /// Logs what `range`, which lies in one allocation, holds now.
  void log_contents(std::uint64_t address, std::uint64_t bytes);
  const emulator::Allocation& allocation(std::uint64_t address, std::uint64_t bytes) const;

  const DeviceOptions& options_;
  ProgramLog& log_;
  emulator::DeviceMemory memory_;
  emulator::LaunchMemo memo_;
  emulator::TextureTable textures_{memory_};
  std::vector<std::unique_ptr<Module>> modules_;
  std::map<std::uint64_t, std::size_t> buffers_;                              ///< by address: the log's number
  std::map<std::uint64_t, std::uint64_t> reserved_;                           ///< bytes by address
  std::map<std::uint64_t, std::pair<std::uint32_t, std::string>> variables_;  ///< by address
  std::map<std::uint64_t, std::size_t> arrays_;                               ///< the log's number by id
  std::map<std::uint64_t, std::string> objects_;                              ///< by handle: the log's name
  std::map<emulator::TextureHandle, std::string> bound_;  ///< by handle of a reference: the log's name
  std::uint64_t next_handle_ = first_handle;
  std::string printed_;
  std::uint64_t next_low_, next_high_, used_ = 0, launches_ = 0, warp_instructions_ = 0;
  double seconds_ = 0;
  std::uint32_t stack_bytes_;
  std::uint64_t heap_bytes_;
};

}  // namespace regatta::capture
