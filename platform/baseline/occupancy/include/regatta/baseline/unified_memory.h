// SPDX-License-Identifier: Apache-2.0
//
// One on-chip memory that registers, shared memory and the L1 divide at every launch: the unified memory that FineReg
// (MICRO 2018, section VI-H) is compared and combined with.
#pragma once

#include <regatta/protocol/residency.h>
#include <regatta/support/config.h>

#include <cstdint>
#include <string>

namespace regatta::models {

struct UnifiedMemoryConfig {
  unsigned bytes = 0;         ///< of the memory; 0: there is none, and the L1 keeps its size
  unsigned least_l1 = 16384;  ///< bytes that the L1 keeps whatever else is wanted

  /// Knobs um.*, with `bytes` as the default of the scheme.
  void declare(support::OptionSet& options);
  /// Bytes for registers and shared memory.
  std::uint64_t for_ctas() const { return bytes - least_l1; }
};

/// The unified memory of an SM: the knobs, and the L1 that takes part.
struct UnifiedMemory : UnifiedMemoryConfig {
  unsigned l1_bytes = 49152;  ///< most that the L1 can have
  unsigned l1_ways = 8;       ///< of which it has whole ones

  /// Throws support::ConfigError for a memory that the L1's least share does not fit into, or is no whole way.
  void check(const std::string& scheme) const;
  unsigned way() const { return l1_bytes / l1_ways; }
  /// What the L1 has when `used` bytes, at most for_ctas(), are taken: the rest, in whole ways.
  std::uint64_t l1_share(std::uint64_t used) const;
};

}  // namespace regatta::models
