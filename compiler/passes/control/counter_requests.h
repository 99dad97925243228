// SPDX-License-Identifier: Apache-2.0
//
// Which instructions need a counter, and what waits for it: as if there were a counter for each.
#pragma once

#include <cstdint>
#include <vector>

#include "pending.h"

namespace regatta::passes {

/// One counter of one variable instruction.
struct CounterRequest {
  std::uint32_t place = 0;             ///< in Hazards::variable()
  bool is_write = true;                ///< the write counter; else the read counter
  std::vector<std::uint32_t> waiters;  ///< static indices of the first instructions that wait, ascending
  std::uint32_t distance = 0;          ///< instructions to the nearest waiter ahead; without one, all of the kernel's

  bool same_waiters(const CounterRequest& other) const { return !waiters.empty() && waiters == other.waiters; }
};

class CounterRequests {
 public:
  explicit CounterRequests(const Hazards& hazards);

  /// In the order of the instructions, a write counter before a read counter. A result always has one, because only
  /// few are never used; source registers only if a later write may find them unread.
  const std::vector<CounterRequest>& requests() const { return requests_; }
  /// Whether one may be outstanding where the other is raised, so that they should not share a counter.
  bool interfere(const CounterRequest& a, const CounterRequest& b) const;

 private:
  void find_pending();
  void find_waiters();
  bool outstanding(const CounterRequest& request, std::uint32_t at_place) const;

  const Hazards& hazards_;
  std::vector<Pending> in_;        ///< per block
  std::vector<Pending> at_raise_;  ///< per variable instruction: what is outstanding when it issues
  std::vector<CounterRequest> requests_;
};

}  // namespace regatta::passes
