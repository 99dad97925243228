// SPDX-License-Identifier: Apache-2.0
//
// The kernels of traces/kernels, annotated in process.
#pragma once

#include <regatta/launch/launch_file.h>
#include <regatta/tool/annotate.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "folder.h"

namespace regatta::test {

enum class Size { small, full };

/// Path of a kernel's launch file.
std::string launch_path(const std::string& kernel, Size size);

/// Which compiler a kernel's PTX comes from: nvcc, for sm_75 or what the launch file names; clang for sm_35, with
/// addresses of 64 or of 32 bits.
enum class Ptx { nvcc, sm35, sm35_32 };

/// Path of a kernel's PTX.
std::string ptx_path(const std::string& kernel, Ptx ptx);

/// Annotates a kernel into `folder` and returns the trace's path.
std::string annotate_kernel(const Folder& folder, const std::string& kernel, Size size, unsigned warp_size = 32);
/// The same without annotations.
std::string execute_kernel(const Folder& folder, const std::string& kernel, Size size);

/// The data of a launch file: what its buffers hold at first and what its scalars are.
class LaunchData {
 public:
  explicit LaunchData(const std::string& path) : file_(launch::read_launch_file(path)) {}

  template <class T>
  std::vector<T> buffer(const std::string& name) const {
    return elements<T>(contents(name));
  }
  /// What a module-level variable holds at first.
  template <class T>
  std::vector<T> global(const std::string& name) const {
    return elements<T>(global_contents(name));
  }
  /// The `index`-th scalar parameter, counted among the scalars, of launch `name` (a single launch has no name).
  template <class T>
  T scalar(std::size_t index, const std::string& name = "") const {
    const std::uint64_t bits = scalar_bits(index, name);
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  /// How often the only repeated group of steps runs.
  std::uint64_t repetitions() const;

 private:
  template <class T>
  static std::vector<T> elements(const std::vector<std::uint8_t>& bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }
  std::vector<std::uint8_t> contents(const std::string& name) const;
  std::vector<std::uint8_t> global_contents(const std::string& name) const;
  std::uint64_t scalar_bits(std::size_t index, const std::string& name) const;
  launch::LaunchFile file_;
};

}  // namespace regatta::test
