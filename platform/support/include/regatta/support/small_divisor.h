// SPDX-License-Identifier: Apache-2.0
//
// Repeated division by a number known only at run time.
#pragma once

#include <cassert>
#include <cstdint>

namespace regatta::support {

/// Divides numbers below 2^16 by a number from 1 to 2^16 - 1 with a multiplication, which is several times faster than
/// a division on the host. Used several times per instruction to find the shard of a warp.
class SmallDivisor {
 public:
  explicit SmallDivisor(std::uint32_t divisor)
      : divisor_(divisor), reciprocal_((std::uint64_t{1} << 32) / divisor + 1) {
    assert(divisor != 0 && divisor < limit);
  }
  std::uint32_t value() const { return divisor_; }
  /// n / divisor.
  std::uint32_t quotient(std::uint32_t n) const {
    assert(n < limit);
    return static_cast<std::uint32_t>((n * reciprocal_) >> 32);
  }
  /// n % divisor.
  std::uint32_t remainder(std::uint32_t n) const { return n - quotient(n) * divisor_; }

 private:
  static constexpr std::uint32_t limit = 1u << 16;
  std::uint32_t divisor_;
  std::uint64_t
      reciprocal_;  ///< 2^32 / divisor, rounded up: the error of a quotient is less than n x 2^-32 < 1 / divisor
};

}  // namespace regatta::support
