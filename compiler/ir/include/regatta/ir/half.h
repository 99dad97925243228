// SPDX-License-Identifier: Apache-2.0
//
// binary16 and bfloat16 to and from double, with every rounding direction. Static functions on purpose: the header is
// compiled for several instruction sets and must leave no shared symbol behind.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>
#include <cstring>

namespace regatta::ir {

/// A float of 16 bits: sign, exponent, fraction.
struct Binary16 {
  static constexpr int fraction = 10, top = 15;  ///< bits of the fraction; largest exponent, and the bias
};
struct BFloat16 {
  static constexpr int fraction = 7, top = 127;
};

template <class Format>
static inline double small_to_double(std::uint32_t small) {
  constexpr int spare = 52 - Format::fraction;
  constexpr std::uint32_t all_ones = 2 * Format::top + 1;
  const std::uint64_t sign = static_cast<std::uint64_t>(small & 0x8000u) << 48;
  const std::uint32_t exponent = (small >> Format::fraction) & all_ones;
  const std::uint64_t fraction = small & ((1u << Format::fraction) - 1);
  std::uint64_t bits = 0;
  if (exponent == all_ones) {
    bits = sign | 0x7ff0000000000000ull | (fraction << spare);
  } else if (exponent != 0) {
    bits = sign | (static_cast<std::uint64_t>(exponent + 1023 - Format::top) << 52) | (fraction << spare);
  } else {
    // Exact: the smallest subnormal is a normal double.
    const std::uint64_t least = static_cast<std::uint64_t>(1024 - Format::top - Format::fraction) << 52;
    double magnitude = 0;
    std::memcpy(&magnitude, &least, sizeof magnitude);
    magnitude *= static_cast<double>(fraction);
    std::memcpy(&bits, &magnitude, sizeof bits);
    bits |= sign;
  }
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Rounds to nearest even (rn, none), towards zero, down or up; NaN becomes the canonical 0x7fff.
template <class Format>
static inline std::uint32_t double_to_small(double value, Rounding rounding) {
  constexpr std::uint32_t infinity = (2u * Format::top + 1) << Format::fraction;
  constexpr int least = 1 - Format::top;  // exponent of a normal number
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 48) & 0x8000u;
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  std::uint64_t fraction = bits & 0xfffffffffffffull;
  if (exponent == 1024) return fraction != 0 ? 0x7fffu : (sign | infinity);
  const bool away = (rounding == Rounding::rp && sign == 0) || (rounding == Rounding::rm && sign != 0);
  const bool nearest = rounding == Rounding::rn || rounding == Rounding::none;
  if (exponent > Format::top) return sign | (nearest || away ? infinity : infinity - 1);
  if ((bits << 1) == 0) return sign;
  // The significand as an integer, and how many of its low bits the result cannot hold.
  int drop = 52 - Format::fraction;
  if (exponent < least) drop += least - exponent;
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
  const std::uint32_t biased = exponent < least ? 0u : static_cast<std::uint32_t>(exponent - least) << Format::fraction;
  return sign | (biased + kept + (up ? 1u : 0u));
}

/// Of the type f16 or bf16.
static inline bool is_small_float(Type t) { return t == Type::f16 || t == Type::bf16; }
static inline double small_to_double(Type t, std::uint32_t small) {
  return t == Type::bf16 ? small_to_double<BFloat16>(small) : small_to_double<Binary16>(small);
}
static inline std::uint32_t double_to_small(Type t, double value, Rounding rounding) {
  return t == Type::bf16 ? double_to_small<BFloat16>(value, rounding) : double_to_small<Binary16>(value, rounding);
}

}  // namespace regatta::ir
