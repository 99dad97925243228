// SPDX-License-Identifier: Apache-2.0
//
// The host side of a launch file: buffers on the device, steps in order, expectations at the end.
#pragma once

#include "compile.h"
#include "progress.h"

#include <regatta/emulator/emulator.h>
#include <regatta/launch/launch_file.h>
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
  trace::Kernel trace_kernel;
  std::unique_ptr<emulator::Emulator> emulator;
  std::int64_t trace_index = -1;
};

class Host {
 public:
  /// Loads buffers and variables. `writer` may be nullptr. All references must outlive the host.
  Host(const launch::LaunchFile& file, const ir::Module& module, const AnnotateOptions& options, trace::Writer* writer,
       AnnotateResult& result);

  /// Binds a compiled kernel to every launch of its entry, checking parameters and limits.
  void add_kernel(CompiledKernel kernel);
  /// Refuses names that --dump-buffer cannot find, before the time of a run is spent.
  void check_dumps() const;
  void run();
  void check_expectations();
  /// Moves what the emulators found into the result.
  void collect_races();
  void dump() const;

 private:
  void run_steps(const std::vector<launch::Step>& steps);
  void run_launch(const launch::Launch& launch);
  void check_launch(const launch::Launch& launch, const ir::Function& f) const;
  std::vector<std::uint8_t> parameters(const launch::Launch& launch, const ir::Function& f) const;
  /// Writes a parameter's bytes as they are now.
  void put_parameter(const launch::Parameter& p, std::uint8_t* to) const;
  std::optional<std::size_t> find_buffer(const std::string& name) const;
  std::vector<std::uint8_t> buffer_bytes(std::size_t buffer) const;

  const launch::LaunchFile& file_;
  const AnnotateOptions& options_;
  trace::Writer* writer_;
  AnnotateResult& result_;
  Progress progress_;
  emulator::DeviceMemory memory_;
  emulator::ModuleImage image_;
  std::vector<std::uint64_t> address_;  ///< per buffer; swaps exchange entries
  std::map<std::string, ReadyKernel> kernels_;
  std::map<std::string, std::uint64_t> counters_;
  std::uint64_t steps_done_ = 0;
};

}  // namespace regatta::tool
