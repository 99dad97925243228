// SPDX-License-Identifier: Apache-2.0
//
// A bank of a staging unit by itself, called through its port.
#pragma once

#include <regatta/regless/osu_bank.h>
#include <regatta/test/catch.h>

#include <array>
#include <cstdint>
#include <string>
#include <systemc>

namespace regatta::test {

using LaneValues = std::array<std::uint32_t, 32>;
using ByteEnables = std::array<unsigned char, 128>;

inline LaneValues lanes(std::uint32_t seed) {
  LaneValues v{};
  for (unsigned i = 0; i < v.size(); ++i) v[i] = seed * 2654435761u + i;
  return v;
}

/// In the place of a shard.
struct BankUser : sc_core::sc_module {
  explicit BankUser(const sc_core::sc_module_name& name) : sc_module(name) {}
  sc_core::sc_port<models::OsuBankAccess> bank{"bank"};
};

struct BankBench {
  explicit BankBench(unsigned lines, unsigned warps = 16, unsigned registers = 64, unsigned banks = 1)
      : user("user"), block("bank0", models::OsuBankConfig{lines, warps, banks, 128, false}), port(user.bank) {
    port.bind(block.access);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    port->kernel_started(registers);
  }

  models::OsuBankAccess* operator->() { return port.operator->(); }
  /// A line for the register, which must be there.
  std::uint16_t allocate(unsigned warp, unsigned reg, std::uint64_t now = 0, bool may_dirty = true) {
    const std::uint16_t line = port->allocate(warp, reg, now, may_dirty).line;
    REQUIRE(line != models::no_line);
    return line;
  }
  bool write(std::uint16_t line, const LaneValues& value, std::uint64_t at = 0) {
    return port->write(line, reinterpret_cast<const unsigned char*>(value.data()), nullptr, at);
  }
  /// Writes the lanes whose bits are set.
  bool write_lanes(std::uint16_t line, const LaneValues& value, std::uint32_t which, std::uint64_t at = 0) {
    ByteEnables enable{};
    for (unsigned i = 0; i < enable.size(); ++i) enable[i] = (which >> (i / 4) & 1) != 0 ? 0xff : 0;
    return port->write(line, reinterpret_cast<const unsigned char*>(value.data()), enable.data(), at);
  }
  LaneValues read(std::uint16_t line, bool* defined = nullptr) {
    LaneValues v{};
    const bool was_written = port->read(line, v.data());
    if (defined != nullptr) *defined = was_written;
    return v;
  }
  std::uint64_t statistic(const std::string& name) {
    support::StatGroup group;
    block.register_stats(group);
    for (const auto& s : group.stats()) {
      if (s.name == name) return *s.counter;
    }
    FAIL("no statistic " << name);
    return 0;
  }

  BankUser user;
  models::OsuBank block;
  sc_core::sc_port<models::OsuBankAccess>& port;
};

}  // namespace regatta::test
