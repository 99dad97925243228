// SPDX-License-Identifier: Apache-2.0
//
// Floats of 8 bits and of 19 (tf32) to and from wider ones. Static functions on purpose, as those of ir/half.h.
#pragma once

#include <regatta/ir/ir.h>

#include <cstdint>
#include <cstring>

namespace regatta::emulator {

/// 4 bits of exponent, 3 of fraction: no infinity, and one NaN of each sign (OCP 8-bit Floating Point Specification).
struct E4m3 {
  static constexpr int fraction = 3, bias = 7;
  static constexpr std::uint32_t largest = 0x7e, infinity = 0x7f, nan = 0x7f;
};
/// 5 bits of exponent, 2 of fraction: the upper half of a binary16.
struct E5m2 {
  static constexpr int fraction = 2, bias = 15;
  static constexpr std::uint32_t largest = 0x7b, infinity = 0x7c, nan = 0x7f;
};

/// Every value is a normal double or 0. NaN and infinity become those of double.
template <class Format>
static inline double byte_to_double(std::uint32_t byte) {
  const std::uint64_t sign = static_cast<std::uint64_t>(byte & 0x80u) << 56;
  const std::uint32_t magnitude = byte & 0x7fu;
  std::uint64_t bits = 0;
  if (magnitude >= Format::infinity) {
    bits = magnitude == Format::infinity && Format::infinity != Format::nan ? 0x7ff0000000000000u : 0x7ff8000000000000u;
  } else {
    const std::uint32_t exponent = magnitude >> Format::fraction;
    const auto fraction = static_cast<double>(magnitude & ((1u << Format::fraction) - 1));
    const std::uint64_t unit = static_cast<std::uint64_t>(1023 - Format::bias - Format::fraction +
                                                          static_cast<int>(exponent == 0 ? 1 : exponent))
                               << 52;
    double value = 0;
    std::memcpy(&value, &unit, sizeof value);
    value *= exponent == 0 ? fraction : fraction + static_cast<double>(1u << Format::fraction);
    std::memcpy(&bits, &value, sizeof bits);
  }
  bits |= sign;
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Rounds to the nearest even; what is beyond the largest number becomes that number (.satfinite).
template <class Format>
static inline std::uint32_t double_to_byte(double value) {
  constexpr int least = 1 - Format::bias;  // exponent of a normal number
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 56) & 0x80u;
  const int exponent = static_cast<int>((bits >> 52) & 0x7ffu) - 1023;
  std::uint64_t fraction = bits & 0xfffffffffffffu;
  if (exponent == 1024) return fraction != 0 ? Format::nan : sign | Format::largest;
  if (exponent != -1023) fraction |= std::uint64_t{1} << 52;
  const int drop = 52 - Format::fraction + (exponent < least ? least - exponent : 0);
  if (drop > 54) return sign;
  const auto kept = static_cast<std::uint32_t>(fraction >> drop);
  const std::uint64_t rest = fraction & ((std::uint64_t{1} << drop) - 1);
  const std::uint64_t tie = std::uint64_t{1} << (drop - 1);
  const bool up = rest > tie || (rest == tie && (kept & 1u) != 0);
  // A carry out of the fraction moves into the exponent, which is what rounding up means.
  const std::uint32_t biased = exponent < least ? 0u : static_cast<std::uint32_t>(exponent - least) << Format::fraction;
  const std::uint32_t magnitude = biased + kept + (up ? 1u : 0u);
  return sign | (magnitude > Format::largest ? Format::largest : magnitude);
}

/// The bits of an f32 with 10 bits of fraction: nearest even, nearest with ties away from zero (rna), or truncated.
static inline std::uint32_t single_to_tf32(std::uint32_t bits, ir::Rounding rounding) {
  constexpr std::uint32_t dropped = 0x1fff, infinity = 0x7f800000;
  if ((bits & 0x7fffffffu) > infinity) return 0x7fffffffu;
  const std::uint32_t kept = bits & ~dropped;
  if ((bits & infinity) == infinity || rounding == ir::Rounding::rz) return kept;
  const bool odd = (bits & (dropped + 1)) != 0;
  const std::uint32_t half = (dropped + 1) / 2, rest = bits & dropped;
  const bool up = rest > half || (rest == half && (odd || rounding == ir::Rounding::rna));
  return up ? kept + dropped + 1 : kept;
}

}  // namespace regatta::emulator
