// SPDX-License-Identifier: Apache-2.0
#include <regatta/baseline/unified_memory.h>

#include <algorithm>

namespace regatta::models {

void UnifiedMemoryConfig::declare(support::OptionSet& o) {
  o.add("um.bytes", bytes, "bytes", "of the unified memory that registers, shared memory and the L1 divide", 1024,
        1U << 30);
  o.add("um.least_l1", least_l1, "bytes", "that the L1 keeps whatever else is wanted, in whole ways", 0, 1U << 30);
}

void UnifiedMemory::check(const std::string& scheme) const {
  const auto refuse = [&](const std::string& what, std::uint64_t found, const std::string& expected) {
    throw support::ConfigError("configuration: scheme " + scheme + ": " + what + " = " + std::to_string(found) +
                               ", expected " + expected);
  };
  if (least_l1 % way() != 0 || least_l1 == 0 || least_l1 > l1_bytes) {
    refuse("um.least_l1", least_l1,
           "whole ways of the L1, of " + std::to_string(way()) + " bytes each, at least one and at most " +
               std::to_string(l1_bytes) + " bytes (use --machine finereg_um)");
  }
  if (bytes <= least_l1) refuse("um.bytes", bytes, "more than um.least_l1 = " + std::to_string(least_l1));
}

std::uint64_t UnifiedMemory::l1_share(std::uint64_t used) const {
  return std::min<std::uint64_t>((bytes - used) / way() * way(), l1_bytes);
}

}  // namespace regatta::models
