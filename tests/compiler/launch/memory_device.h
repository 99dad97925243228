// SPDX-License-Identifier: Apache-2.0
//
// A device of plain memory, for tests: buffers lie one after the other from 0x1000 on, variables have 32 bytes, and a
// launch is noted.
#pragma once

#include <regatta/launch/program.h>

#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace regatta::test {

struct MemoryDevice : launch::Device {
  static constexpr std::uint64_t first_address = 0x1000;
  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(0x4000);
  std::map<std::string, std::vector<std::uint8_t>> variables;
  std::uint64_t next = first_address;
  std::vector<std::pair<launch::Launch, launch::ParameterBytes>> launches;

  std::uint64_t allocate(const launch::Buffer& b) override {
    const std::uint64_t address = next;
    next += (b.contents.bytes + 255) / 256 * 256;
    return address;
  }
  void release(std::uint64_t) override {}
  void write(std::uint64_t address, const void* from, std::size_t bytes) override {
    check(address, bytes);
    if (bytes != 0) std::memcpy(&memory[address], from, bytes);
  }
  void read(std::uint64_t address, void* to, std::size_t bytes) const override {
    check(address, bytes);
    if (bytes != 0) std::memcpy(to, &memory[address], bytes);
  }
  std::uint64_t variable_bytes(const launch::Global&) const override { return 32; }
  void write_variable(const launch::Global& g, std::uint64_t offset, const void* from, std::size_t bytes) override {
    std::vector<std::uint8_t>& v = variables[g.symbol];
    v.resize(32);
    if (offset > v.size() || bytes > v.size() - offset) throw std::logic_error("outside of a variable");
    std::memcpy(&v[offset], from, bytes);
  }
  void read_variable(const launch::Global& g, std::uint64_t offset, void* to, std::size_t bytes) const override {
    std::vector<std::uint8_t> v(32);
    if (const auto known = variables.find(g.symbol); known != variables.end()) v = known->second;
    std::memcpy(to, &v[offset], bytes);
  }
  void launch(const launch::Launch& l, const launch::ParameterBytes& p) override { launches.emplace_back(l, p); }

  template <class T>
  T at(std::uint64_t address) const {
    T value{};
    read(address, &value, sizeof value);
    return value;
  }
  template <class T>
  T parameter(std::size_t launch, std::size_t number, std::size_t offset = 0) const {
    T value{};
    const std::vector<std::uint8_t>& bytes = launches.at(launch).second.at(number);
    if (offset + sizeof value > bytes.size()) throw std::logic_error("outside of a parameter");
    std::memcpy(&value, &bytes[offset], sizeof value);
    return value;
  }

 private:
  void check(std::uint64_t address, std::size_t bytes) const {
    if (address > memory.size() || bytes > memory.size() - address) throw std::logic_error("outside of the memory");
  }
};

/// The message of the error that a launch file ends with, when it is read or when it runs; "" if it succeeds.
inline std::string launch_error(const std::string& text) {
  try {
    const launch::LaunchFile f = launch::parse_launch_file(text, "l.toml");
    MemoryDevice device;
    launch::Program(f, device).run();
  } catch (const trace::InputError& e) {
    return e.what();
  }
  return "";
}

/// A device on which a launch file has run.
inline MemoryDevice launched(const std::string& text) {
  const launch::LaunchFile f = launch::parse_launch_file(text, "l.toml");
  MemoryDevice device;
  launch::Program(f, device).run();
  return device;
}

}  // namespace regatta::test
