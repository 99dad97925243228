// SPDX-License-Identifier: Apache-2.0
//
// Address arithmetic without divisions.
#pragma once

#include <cstdint>

namespace regatta::memory {

/// Division by a constant known at construction: a shift where it is a power of two.
class Divisor {
 public:
  explicit Divisor(std::uint64_t value)
      : value_(value),
        shift_(static_cast<unsigned>(__builtin_ctzll(value))),
        power_of_two_((value & (value - 1)) == 0) {}
  std::uint64_t value() const { return value_; }
  std::uint64_t quotient(std::uint64_t n) const { return power_of_two_ ? n >> shift_ : n / value_; }
  std::uint64_t remainder(std::uint64_t n) const { return power_of_two_ ? n & (value_ - 1) : n % value_; }

 private:
  std::uint64_t value_;
  unsigned shift_;
  bool power_of_two_;
};

}  // namespace regatta::memory
