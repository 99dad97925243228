// SPDX-License-Identifier: Apache-2.0
//
// The emulator as the device of a launch file's program: kernels and variables, expectations at the end.
#pragma once

#include "compile.h"
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

class Host : launch::Device {
 public:
  /// Loads buffers and variables, `below_4_gb` for programs with 32-bit addresses. `writer` may be nullptr. All
  /// references must outlive the host.
  Host(const launch::LaunchFile& file, const ir::Module& module, const AnnotateOptions& options, bool below_4_gb,
       trace::Writer* writer, AnnotateResult& result);

  /// Binds a compiled kernel to every launch of its entry, checking parameters and limits.
  void add_kernel(CompiledKernel kernel);
  /// Refuses names that --dump-buffer cannot find, before the time of a run is spent.
  void check_dumps() const;
  void run() { program_.run(); }
  void check_expectations();
  /// Moves what the emulators found into the result.
  void collect_races();
  /// The bytes of a buffer or variable that check_dumps() found.
  std::string contents(const std::string& name) const;

 private:
  std::uint64_t allocate(const launch::Buffer& buffer) override;
  void write(std::uint64_t address, const void* from, std::size_t bytes) override {
    memory_.write(address, from, bytes);
  }
  void read(std::uint64_t address, void* to, std::size_t bytes) const override { memory_.read(address, to, bytes); }
  void launch(const launch::Launch& launch, const launch::ParameterBytes& parameters) override;
  void check_launch(const launch::Launch& launch, const ir::Function& f) const;
  std::optional<std::size_t> find_buffer(const std::string& name) const;

  const launch::LaunchFile& file_;
  const AnnotateOptions& options_;
  trace::Writer* writer_;
  AnnotateResult& result_;
  Progress progress_;
  emulator::DeviceMemory memory_;
  emulator::ModuleImage image_;
  launch::Program program_;
  std::map<std::string, ReadyKernel> kernels_;
};

}  // namespace regatta::tool
