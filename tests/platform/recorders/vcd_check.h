// SPDX-License-Identifier: Apache-2.0
//
// A checker of value change dumps (IEEE 1364-2005, clause 18) that samples them at the rising edges of a clock.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace regatta::test {

struct VcdFacts {
  std::string error;  ///< "line 7: ...", empty when the file is sound
  std::uint64_t edges = 0;
  std::uint64_t first_time = 0, last_time = 0;
  std::map<std::string, unsigned> widths;  ///< by full name: "sm0.units.sp_valid"
  /// How often each signal had which value at a rising edge; -1: unknown.
  std::map<std::string, std::map<std::int64_t, std::uint64_t>> samples;
  std::uint64_t sum(const std::string& name) const;
  /// Edges at which a signal whose name begins and ends so was 1.
  std::uint64_t ones(const std::string& begin, const std::string& end) const;
};

/// `clock` is the full name of the clock signal.
VcdFacts check_vcd(const std::string& text, const std::string& clock);

}  // namespace regatta::test
