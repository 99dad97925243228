// SPDX-License-Identifier: Apache-2.0
//
// Division by a number that is known only at run time, many times over.
#pragma once

#include <cassert>
#include <cstdint>

namespace regatta::support {

/// Divides numbers below 2^16 by one of 1 to 2^16 - 1 with a multiplication: what a host takes several times as long
/// for when it has to divide. Which shard a warp belongs to is asked several times per instruction.
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
      reciprocal_;  ///< 2^32 / divisor, rounded up: too large by less than n x 2^-32 < 1 / divisor of a quotient
};

}  // namespace regatta::support
