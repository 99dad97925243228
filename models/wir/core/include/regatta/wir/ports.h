// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace regatta::models::wir {

/// A table's ports of one kind: a fixed number of accesses per cycle, in order of request; further accesses wait.
class Ports {
 public:
  explicit Ports(unsigned ports = 1) : ports_(ports) {}
  /// Books an access and returns its cycle, `now` or later.
  std::uint64_t take(std::uint64_t now) {
    // Without branches, which the host could not predict.
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
