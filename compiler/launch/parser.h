// SPDX-License-Identifier: Apache-2.0
//
// From TOML to LaunchFile.
#pragma once

#include "toml_table.h"

#include <string>
#include <vector>

namespace regatta::launch {

class LaunchFileParser {
 public:
  LaunchFileParser(LaunchFile& out, std::string folder) : out_(out), folder_(std::move(folder)) {}
  void parse(const toml::table& root);

 private:
  // parser.cpp
  void single(TomlTable& root);
  void program(TomlTable& root);
  void geometry(TomlTable& t, Launch& launch);
  void parameters(TomlTable& t, Launch& launch, bool inline_buffers);
  Parameter parameter(const toml::table& table, bool inline_buffers, const std::string& name, unsigned depth);
  void pointer(TomlTable& t, Parameter& p, bool inline_buffers, const std::string& name);
  void members(TomlTable& t, Parameter& p, bool inline_buffers, const std::string& name, unsigned depth);
  std::vector<Step> steps(TomlTable& t, std::vector<std::string>& counters, unsigned depth);
  Step step(const toml::table& table, std::vector<std::string>& counters, unsigned depth);
  void check_counters(const Parameter& parameter, const Launch& launch, const std::vector<std::string>& counters) const;
  void check_counters(const Step& run, const std::vector<std::string>& counters) const;
  std::size_t find_buffer(const std::string& name, const Position& where, bool inline_buffers) const;

  // contents.cpp
  Contents contents(TomlTable& t, const char* size_key);
  Buffer buffer(TomlTable& t, const char* size_key, const std::string& default_name);
  ir::Type type(TomlTable& t, bool required);
  std::uint64_t pattern_bits(const std::string& text, const Position& where, ir::Type type) const;
  std::uint64_t scalar_bits(const toml::node& node, ir::Type type) const;
  std::string path(const std::string& name) const;
  void add_buffer(Buffer b);

  LaunchFile& out_;
  std::string folder_;
};

}  // namespace regatta::launch
