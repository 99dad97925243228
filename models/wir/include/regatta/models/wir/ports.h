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
    const std::uint64_t slot = std::max(next_, now * ports_);
    next_ = slot + 1;
    return slot / ports_;
  }
  /// Whether an access can be made in cycle `now`.
  bool free(std::uint64_t now) const { return next_ < (now + 1) * ports_; }

 private:
  std::uint64_t ports_;
  std::uint64_t next_ = 0;  ///< first free slot, slots numbered through: `ports_` a cycle
};

}  // namespace regatta::models::wir
