// SPDX-License-Identifier: Apache-2.0
//
// The emulator as the device of a launch file's program: kernels and variables, expectations at the end.
#pragma once

#include <regatta/tool/compile.h>
#include "progress.h"

#include <regatta/emulator/emulator.h>
#include <regatta/launch/program.h>
#include <regatta/trace/file.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regatta::tool {

/// A kernel of the program, compiled once however often it is launched.
struct ReadyKernel {
  CompiledKernel compiled;
  std::unique_ptr<emulator::Emulator> emulator;
  std::int64_t trace_index = -1;
};

inline KernelName kernel_name(const launch::Launch& l) { return {*l.module, l.entry}; }

class Host : launch::Device {
 public:
  /// Loads buffers and variables, `below_4_gb` for programs with 32-bit addresses. `writer` may be nullptr. All
  /// references must outlive the host.
  /// `modules` are those of the launch file's PTX files, in their order.
  Host(const launch::LaunchFile& file, const std::vector<ir::Module>& modules, const AnnotateOptions& options,
       bool below_4_gb, trace::Writer* writer, CodeResult& result);

  /// Binds a compiled kernel of a module to every launch of its entry, checking parameters and limits.
  void add_kernel(std::size_t module, CompiledKernel kernel);
  /// Refuses names that --dump-buffer cannot find, before the time of a run is spent.
  void check_dumps() const;
  void run() { program_.run(); }
  void check_expectations();
  /// Tells the result where buffers are.
  void note_buffers();
  /// Moves what the emulators found into the result.
  void collect_findings();
  /// The bytes of a buffer or variable that check_dumps() found.
  std::string contents(const std::string& name) const;

 private:
  std::uint64_t allocate(const launch::Buffer& buffer) override;
  void release(std::uint64_t address) override { memory_.release(address); }
  void write(std::uint64_t address, const void* from, std::size_t bytes) override {
    memory_.write(address, from, bytes);
  }
  void read(std::uint64_t address, void* to, std::size_t bytes) const override { memory_.read(address, to, bytes); }
  std::uint64_t variable_bytes(const launch::Global& global) const override {
    return image_of(global).variable(global.symbol)->bytes;
  }
  void write_variable(const launch::Global& global, std::uint64_t offset, const void* from, std::size_t bytes) override;
  void read_variable(const launch::Global& global, std::uint64_t offset, void* to, std::size_t bytes) const override;
  void copy(std::uint64_t to, std::uint64_t from, std::size_t bytes) override { memory_.copy(to, from, bytes); }
  std::uint64_t create_array(const launch::Array& array) override;
  void destroy_array(std::uint64_t array) override { textures_.destroy_array(array); }
  void write_array(std::uint64_t array, const launch::ArrayPart& part, const void* from) override;
  void read_array(std::uint64_t array, const launch::ArrayPart& part, void* to) const override;
  void copy_to_array(std::uint64_t array, const launch::ArrayPart& part, std::uint64_t from,
                     std::uint64_t pitch) override;
  void copy_from_array(std::uint64_t array, const launch::ArrayPart& part, std::uint64_t to,
                       std::uint64_t pitch) override;
  void copy_array(std::uint64_t to, const std::array<std::uint32_t, 3>& at, std::uint64_t from,
                  const launch::ArrayPart& part) override;
  std::uint64_t create_texture(const launch::Texture& texture, std::uint64_t memory) override;
  std::uint64_t create_surface(const launch::Surface& surface, std::uint64_t array) override;
  void destroy_texture(const launch::Texture& texture, std::uint64_t handle) override;
  void destroy_surface(const launch::Surface& surface, std::uint64_t handle) override;
  /// The handle of the reference of the PTX that a texture or surface is bound to.
  emulator::TextureHandle reference(const launch::TextureReference& r, const launch::Position& where) const;
  void launch(const launch::Launch& launch, const launch::ParameterBytes& parameters) override;
  /// Returns warnings.
  std::vector<std::string> check_launch(const launch::Launch& launch, const ir::Function& f) const;
  /// Refuses a block that the kernel was not compiled for, and too much shared memory.
  void check_block(const launch::Launch& launch, const ir::Function& f) const;
  std::optional<std::size_t> find_buffer(const std::string& name) const;
  std::optional<std::size_t> find_array(const std::string& name) const;
  std::optional<std::size_t> find_global(const std::string& name) const;
  /// The module that has the variable.
  const emulator::ModuleImage& image_of(const launch::Global& global) const;
  /// The modules that have a variable of this name.
  std::vector<std::size_t> modules_with(const std::string& variable) const;

  const launch::LaunchFile& file_;
  const AnnotateOptions& options_;
  trace::Writer* writer_;
  CodeResult& result_;
  Progress progress_;
  emulator::DeviceMemory memory_;
  emulator::TextureTable textures_{memory_};
  std::vector<emulator::ModuleImage> images_;  ///< of the launch file's PTX files
  launch::Program program_;
  std::map<KernelName, ReadyKernel> kernels_;
};

}  // namespace regatta::tool
