// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core.h"

#include <vector>

namespace regatta::sm {

/// When memory instructions leave the queues of the sub-cores for the SM's load-store unit: a sub-core makes the
/// addresses of one every few cycles, and the SM takes one every few cycles, from the sub-cores in turn (Huerta et al.,
/// MICRO 2025, section 5.4 and Table 1).
class MemoryTurns {
 public:
  /// `interval`, `sm_interval`: cycles between two instructions of a sub-core, and of the SM.
  MemoryTurns(unsigned sub_cores, unsigned interval, unsigned sm_interval)
      : interval_(interval), sm_interval_(sm_interval), next_(sub_cores) {}

  /// The sub-core whose oldest instruction leaves in cycle `at`, of those in `ready` (a bit each); the number of
  /// sub-cores: none.
  unsigned take(Cycle at, std::uint32_t ready) {
    const auto count = static_cast<unsigned>(next_.size());
    if (at < sm_next_) return count;
    for (unsigned i = 0; i < count; ++i) {
      const unsigned s = (turn_ + i) % count;
      if (((ready >> s) & 1) == 0 || at < next_[s]) continue;
      next_[s] = at + interval_;
      sm_next_ = at + sm_interval_;
      turn_ = (s + 1) % count;
      return s;
    }
    return count;
  }

 private:
  unsigned interval_, sm_interval_;
  std::vector<Cycle> next_;  ///< per sub-core: its next instruction leaves no earlier
  Cycle sm_next_;
  unsigned turn_ = 0;
};

}  // namespace regatta::sm
