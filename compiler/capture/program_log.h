// SPDX-License-Identifier: Apache-2.0
//
// What a captured program did to the device, as a launch file with its PTX and its data beside it: "launch.toml",
// "module0.ptx" ..., "data.bin". Buffers keep their addresses, so pointers in data stay right.
#pragma once

#include "protocol.h"

#include <regatta/base/output_file.h>
#include <regatta/ptx/ptx.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regatta::capture {

/// Which launches are traced; the others run.
struct LaunchChoice {
  std::vector<std::string> kernels;                              ///< words that a kernel's name contains; empty: all
  std::vector<std::pair<std::uint64_t, std::uint64_t>> numbers;  ///< ranges, from 1; empty: all
  std::uint64_t first = UINT64_MAX;                              ///< only so many of those
};

class ProgramLog {
 public:
  /// `folder` must exist. What is in it is written over.
  ProgramLog(std::string folder, LaunchChoice choice, bool initialised);
  ~ProgramLog();

  void add_module(const std::string& ptx);
  std::size_t add_buffer(std::uint64_t address, std::uint64_t bytes);
  void release(std::size_t buffer);
  void load(std::size_t buffer, std::uint64_t offset, const std::uint8_t* from, std::uint64_t bytes);
  void load_variable(std::uint32_t module, const std::string& name, std::uint64_t offset, const std::uint8_t* from,
                     std::uint64_t bytes);
  /// Bytes that repeat a value of `size` bytes.
  void fill(std::size_t buffer, std::uint64_t offset, std::uint32_t value, unsigned size, std::uint64_t bytes);
  void copy(std::size_t to, std::uint64_t to_offset, std::size_t from, std::uint64_t offset, std::uint64_t bytes);

  // texture_log.cpp
  std::size_t add_array(const ArrayDescription& description, std::uint64_t address);
  void release_array(std::size_t array);
  void load_array(std::size_t array, const ArrayRegion& region, const std::uint8_t* from, std::uint64_t bytes);
  /// Between an array and a buffer, in which rows are `pitch` bytes apart.
  void copy_array(bool to_array, std::size_t array, const ArrayRegion& region, std::size_t buffer, std::uint64_t offset,
                  std::uint64_t pitch);
  void copy_arrays(std::size_t to, const ArrayRegion& place, std::size_t from, const ArrayRegion& region);
  struct TextureMemory {
    bool is_array = false;
    std::size_t index = 0;  ///< of the array or buffer
    std::uint64_t offset = 0;
  };
  /// An object's handle, or a reference of a module.
  struct TextureName {
    std::uint64_t handle = 0;
    std::uint32_t module = 0;
    std::string reference;
  };
  /// Returns the name for destroy().
  std::string add_texture(const TextureDescription& description, const TextureMemory& memory, const TextureName& name);
  std::string add_surface(std::size_t array, const TextureName& name);
  void destroy(const std::string& name);

  struct Launch {
    std::uint32_t module = 0;
    const ptx::EntryResult* entry = nullptr;
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    std::uint32_t dynamic_shared = 0;
    bool cooperative = false;
    const std::vector<std::uint8_t>* parameters = nullptr;
  };
  void launch(const Launch& launch);

  /// How many there were.
  std::size_t buffers() const { return buffer_count_; }
  std::size_t arrays() const { return array_count_; }
  std::uint64_t traced() const { return traced_; }
  /// Writes the launch file; nothing may follow. Returns its path.
  std::string finish();

 private:
  bool is_chosen(const std::string& kernel);
  /// Where in data.bin the bytes are; equal ones once.
  std::uint64_t store(const std::uint8_t* from, std::uint64_t bytes);
  std::string buffer_name(std::size_t buffer) const;
  std::string add_object(const char* table, const std::string& prefix, const TextureName& name,
                         const std::string& keys);
  std::string variable_name(std::uint32_t module, const std::string& name);
  void step(const std::string& text);

  std::string folder_;
  LaunchChoice choice_;
  bool initialised_;
  std::unique_ptr<base::OutputFile> data_;
  std::uint64_t data_bytes_ = 0;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> known_;  ///< hash and size -> offset
  std::string ptx_, buffers_, textures_, globals_, launches_, steps_;
  std::size_t steps_at_last_traced_ = 0;
  std::uint64_t module_count_ = 0, buffer_count_ = 0, array_count_ = 0, object_count_ = 0, launch_count_ = 0,
                traced_ = 0;
  std::map<std::string, std::string> launch_names_;  ///< by table
  std::set<std::pair<std::uint32_t, std::string>> known_variables_;
};

}  // namespace regatta::capture
