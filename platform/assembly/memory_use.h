// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/simulation.h>

#include <string>

namespace regatta::assembly {

/// A resource that limits the run next, and the share of the cycles in which it is in use.
struct NextLimit {
  double share = 0;
  std::string name;  ///< "DRAM"
};

/// Shares of a run's cycles in which the resources of the memory were in use.
struct MemoryUse {
  double dram = 0, l2 = 0, interconnect = 0, l1 = 0;
  double banks = 0;  ///< of shared memory
  /// Shares in which the next request waited at the L1: for an entry that fetches its line, and for a place in the
  /// queue towards the L2.
  double mshrs = 0, miss_queue = 0;

  double most() const;
  /// The resource that is used most, of those in the first line.
  NextLimit next_limit() const;
};

/// Of the statistics of the result; means over `sms` SMs.
MemoryUse memory_use(const SimulationResult& result, unsigned sms, unsigned l2_banks);

}  // namespace regatta::assembly
