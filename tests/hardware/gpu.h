// SPDX-License-Identifier: Apache-2.0
//
// An NVIDIA GPU behind its driver, and a PTX file on it as the device of a launch file's program.
#pragma once

#include <regatta/launch/program.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cuda_driver.h"

namespace regatta::hardware {

/// A call of the driver that failed: what was to be done, and what the driver says.
class CudaError : public std::runtime_error {
 public:
  CudaError(const std::string& what, CudaResult code) : std::runtime_error(what), code_(code) {}
  CudaResult code() const { return code_; }

 private:
  CudaResult code_;
};

struct ComputeCapability {
  int major = 0, minor = 0;
  bool operator==(const ComputeCapability& other) const { return major == other.major && minor == other.minor; }
};

/// The first GPU, with its context made current. The driver must outlive it.
class Gpu {
 public:
  /// Throws CudaError (cuda_no_device if there is none).
  explicit Gpu(const CudaDriver& driver);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  /// "NVIDIA H100, compute capability 9.0, driver for CUDA 12.4".
  std::string description() const;
  ComputeCapability compute_capability() const;
  const CudaDriver& driver() const { return driver_; }
  /// Throws CudaError when `result` is one.
  void check(CudaResult result, const std::string& what) const;

 private:
  const CudaDriver& driver_;
  int device_ = 0;
  void* context_ = nullptr;
};

/// Buffers, variables and kernels of one program.
class GpuProgram : public launch::Device {
 public:
  /// Compiles `ptx`, the texts of a launch file's PTX files, for the GPU. The launches that it is given have resolved
  /// entries (regatta/launch/entry_names.h). Throws CudaError.
  GpuProgram(const Gpu& gpu, const std::vector<std::string>& ptx);
  ~GpuProgram() override;
  GpuProgram(const GpuProgram&) = delete;
  GpuProgram& operator=(const GpuProgram&) = delete;

  std::uint64_t allocate(const launch::Buffer& buffer) override;
  void release(std::uint64_t address) override;
  void write(std::uint64_t address, const void* from, std::size_t bytes) override;
  void read(std::uint64_t address, void* to, std::size_t bytes) const override;
  std::uint64_t variable_bytes(const launch::Global& global) const override;
  void write_variable(const launch::Global& global, std::uint64_t offset, const void* from, std::size_t bytes) override;
  void read_variable(const launch::Global& global, std::uint64_t offset, void* to, std::size_t bytes) const override;
  void launch(const launch::Launch& launch, const launch::ParameterBytes& parameters) override;
  /// The bytes of a module-level variable.
  std::vector<std::uint8_t> variable(const std::string& name) const;

 private:
  void load(const std::string& ptx);
  /// A variable's address and size; `module`: in this file alone.
  CudaAddress find_variable(const std::string& name, std::optional<std::size_t> module, std::size_t& bytes) const;

  const Gpu& gpu_;
  const CudaDriver& driver_;
  std::vector<void*> modules_;
  std::vector<CudaAddress> allocated_;
};

}  // namespace regatta::hardware
