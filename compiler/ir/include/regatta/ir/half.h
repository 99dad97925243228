// SPDX-License-Identifier: Apache-2.0
//
// binary16 to and from double, with every rounding direction. Static functions on purpose: the header is
// compiled for several instruction sets and must leave no shared symbol behind.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>
#include <cstring>

namespace regatta::ir {

static inline double half_to_double(std::uint32_t half) {
  const std::uint64_t sign = static_cast<std::uint64_t>(half & 0x8000u) << 48;
  const std::uint32_t exponent = (half >> 10) & 0x1fu;
  const std::uint64_t fraction = half & 0x3ffu;
  std::uint64_t bits = 0;
  if (exponent == 0x1f) {
    bits = sign | 0x7ff0000000000000ull | (fraction << 42);
  } else if (exponent != 0) {
    bits = sign | (static_cast<std::uint64_t>(exponent + 1008) << 52) | (fraction << 42);
  } else {
    const double magnitude = static_cast<double>(fraction) * 0x1p-24;
    std::memcpy(&bits, &magnitude, sizeof bits);
    bits |= sign;
  }
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Rounds to nearest even (rn, none), towards zero, down or up; NaN becomes the canonical 0x7fff.
static inline std::uint32_t double_to_half(double value, Rounding rounding) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 48) & 0x8000u;
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  std::uint64_t fraction = bits & 0xfffffffffffffull;
  if (exponent == 1024) return fraction != 0 ? 0x7fffu : (sign | 0x7c00u);
  const bool away = (rounding == Rounding::rp && sign == 0) || (rounding == Rounding::rm && sign != 0);
  const bool nearest = rounding == Rounding::rn || rounding == Rounding::none;
  if (exponent > 15) return sign | (nearest || away ? 0x7c00u : 0x7bffu);
  if ((bits << 1) == 0) return sign;
  // The significand as an integer, and how many of its low bits the half cannot hold.
  int drop = 42;
  if (exponent < -14) drop += -14 - exponent;
  if (exponent != -1023) fraction |= 1ull << 52;
  std::uint32_t kept = 0;
  bool up = away;
  if (drop > 54) {
    if (nearest) up = false;
  } else {
    kept = static_cast<std::uint32_t>(fraction >> drop);
    const std::uint64_t rest = fraction & ((1ull << drop) - 1);
    const std::uint64_t tie = 1ull << (drop - 1);
    if (rest == 0) up = false;
    if (nearest) up = rest > tie || (rest == tie && (kept & 1u) != 0);
  }
  // A carry out of the fraction moves into the exponent, which is what rounding up means.
  const std::uint32_t biased = exponent < -14 ? 0u : static_cast<std::uint32_t>(exponent + 14) << 10;
  return sign | (biased + kept + (up ? 1u : 0u));
}

}  // namespace regatta::ir
