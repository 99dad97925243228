// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace regatta::models::wir {

/// A table's ports of one kind: so many accesses a cycle, in order of request; the excess waits its turn.
class Ports {
 public:
  explicit Ports(unsigned ports = 1) : ports_(ports) {}
  /// Books one more access: the cycle, `now` or later, in which it is made.
  std::uint64_t take(std::uint64_t now) {
    // Without branches: nothing tells a host beforehand how they would go.
    const std::uint64_t next = std::max(now, cycle_ + (taken_ == ports_));
    taken_ = taken_ * (next == cycle_) + 1;
    cycle_ = next;
    return next;
  }
  /// Whether an access can be made in cycle `now`.
  bool free(std::uint64_t now) const { return (cycle_ + (taken_ == ports_)) <= now; }

 private:
  std::uint64_t cycle_ = 0;  ///< of the last access booked
  unsigned ports_;
  unsigned taken_ = 0;  ///< accesses booked in it
};

}  // namespace regatta::models::wir
