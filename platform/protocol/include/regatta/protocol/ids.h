// SPDX-License-Identifier: Apache-2.0
// Strong types for the numbers that are easy to confuse.
#pragma once

#include <regatta/trace/types.h>

#include <cstdint>
#include <functional>

namespace regatta::protocol {

using trace::LaneMask;
using trace::WarpValue;

/// A small integer that names one thing; different tags do not mix.
template <class Tag, class Rep>
class Id {
 public:
  using rep = Rep;
  constexpr Id() = default;
  constexpr explicit Id(Rep v) : value_(v) {}
  constexpr Rep value() const { return value_; }
  constexpr explicit operator std::size_t() const { return value_; }
  friend constexpr bool operator==(Id a, Id b) { return a.value_ == b.value_; }
  friend constexpr bool operator!=(Id a, Id b) { return a.value_ != b.value_; }
  friend constexpr bool operator<(Id a, Id b) { return a.value_ < b.value_; }

 private:
  Rep value_ = 0;
};

/// A resident warp of one SM, 0 .. resident warps - 1. Freed and reused as CTAs come and go.
using WarpSlot = Id<struct WarpSlotTag, std::uint16_t>;
/// A resident CTA of one SM.
using CtaSlot = Id<struct CtaSlotTag, std::uint16_t>;
/// A general register of one thread, R0 .. R254.
using RegisterId = Id<struct RegisterIdTag, std::uint8_t>;

/// A point in time of the SM clock, in cycles since the start of the run.
class Cycle {
 public:
  constexpr Cycle() = default;
  constexpr explicit Cycle(std::uint64_t v) : value_(v) {}
  constexpr std::uint64_t value() const { return value_; }
  constexpr Cycle operator+(std::uint64_t n) const { return Cycle(value_ + n); }
  constexpr std::uint64_t operator-(Cycle other) const { return value_ - other.value_; }
  friend constexpr bool operator==(Cycle a, Cycle b) { return a.value_ == b.value_; }
  friend constexpr bool operator!=(Cycle a, Cycle b) { return a.value_ != b.value_; }
  friend constexpr bool operator<(Cycle a, Cycle b) { return a.value_ < b.value_; }
  friend constexpr bool operator<=(Cycle a, Cycle b) { return a.value_ <= b.value_; }
  friend constexpr bool operator>(Cycle a, Cycle b) { return a.value_ > b.value_; }
  friend constexpr bool operator>=(Cycle a, Cycle b) { return a.value_ >= b.value_; }

 private:
  std::uint64_t value_ = 0;
};
inline constexpr Cycle never{~std::uint64_t{0}};

}  // namespace regatta::protocol
