// SPDX-License-Identifier: Apache-2.0
//
// Correctly rounded results for references: an exact value is known only by how it compares with representable
// numbers, and the two neighbours are found from that. 113 bits hold every number that is compared.
#pragma once

#include "forms.h"

#include <cmath>
#include <limits>

namespace regatta::test::forms {

__extension__ using f128 = __float128;

enum class Direction : std::uint8_t { nearest, zero, down, up };

/// Sign of (exact value - x).
using Compare = std::function<int(f128 x)>;

inline int sign_of(f128 x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

/// s + e compared with x, where |e| is at most half a unit of s.
inline Compare sum_of(f128 s, f128 e) {
  return [s, e](f128 x) { return s != x ? sign_of(s - x) : sign_of(e); };
}
/// a + b without an error.
inline Compare exact_sum(f128 a, f128 b) {
  const f128 s = a + b, t = s - a;
  const f128 e = (a - (s - t)) + (b - t);
  return sum_of(s, e);
}

/// The float or double that a nonzero finite exact value rounds to; `guess` is near it.
template <class T>
T round_exact(const Compare& compare, T guess, Direction direction) {
  constexpr T infinity = std::numeric_limits<T>::infinity(), largest = std::numeric_limits<T>::max();
  const int sign = compare(0);
  T low = guess > largest ? largest : guess < -largest ? -largest : guess;
  while (low > -infinity && compare(low) < 0) low = std::nextafter(low, -infinity);
  while (low < infinity && std::nextafter(low, infinity) < infinity && compare(std::nextafter(low, infinity)) >= 0)
    low = std::nextafter(low, infinity);
  if (low > -infinity && compare(low) == 0) return low;
  const T high = std::nextafter(low, infinity);
  bool up = false;
  if (direction == Direction::nearest) {
    // Beyond the largest number the grid goes on for half a step.
    const T inner = std::isinf(high) ? std::nextafter(low, -infinity) : std::nextafter(high, infinity);
    const f128 middle = std::isinf(high)  ? static_cast<f128>(low) + (static_cast<f128>(low) - inner) / 2
                        : std::isinf(low) ? static_cast<f128>(high) - (static_cast<f128>(inner) - high) / 2
                                          : (static_cast<f128>(low) + high) / 2;
    const int side = compare(middle);
    const bool low_is_odd = std::isinf(low) ? false : (to_bits(low) & 1u) != 0;
    up = side > 0 || (side == 0 && (std::isinf(high) || (!std::isinf(low) && low_is_odd)));
  } else {
    up = direction == Direction::up || (direction == Direction::zero && sign < 0);
  }
  const T result = up ? high : low;
  return result == 0 ? std::copysign(T{0}, static_cast<T>(sign)) : result;
}

/// Rounds a value that 113 bits hold.
template <class T>
T round_value(f128 v, Direction direction) {
  if (v == 0) return T{0};
  return round_exact<T>(sum_of(v, 0), static_cast<T>(v), direction);
}

/// The value of a binary16.
inline double half_value(u64 bits) {
  const int exponent = static_cast<int>((bits >> 10) & 31u);
  const double fraction = static_cast<double>(bits & 1023u);
  const double sign = (bits & 0x8000u) != 0 ? -1.0 : 1.0;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

/// The binary16 that an exact value rounds to. Positive halves ascend with their encodings.
inline u64 round_half(const Compare& compare, Direction direction, bool negative_zero = false) {
  const int sign = compare(0);
  if (sign == 0) return negative_zero ? 0x8000u : 0u;
  const auto beyond = [&](u64 bits) { return sign * compare(sign * static_cast<f128>(half_value(bits))); };
  u64 low = 0, high = 0x7c00;  // |low| <= |exact| < |high|
  while (high - low > 1) {
    const u64 middle = (low + high) / 2;
    (beyond(middle) >= 0 ? low : high) = middle;
  }
  const u64 sign_bit = sign < 0 ? 0x8000u : 0u;
  if (beyond(low) == 0) return sign_bit | low;
  bool away = (direction == Direction::up && sign > 0) || (direction == Direction::down && sign < 0);
  if (direction == Direction::nearest) {
    const f128 top = high == 0x7c00 ? static_cast<f128>(65536) : static_cast<f128>(half_value(high));
    const int side = sign * compare(sign * (static_cast<f128>(half_value(low)) + top) / 2);
    away = side > 0 || (side == 0 && (low & 1u) != 0);
  }
  return sign_bit | (away ? high : low);
}
inline u64 round_half(double v, Direction direction = Direction::nearest) {
  if (std::isnan(v)) return 0x7fff;
  if (std::isinf(v)) return v > 0 ? 0x7c00 : 0xfc00;
  return round_half(sum_of(v, 0), direction, std::signbit(v));
}

inline float flush(float v) { return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v; }
inline double flush(double v) { return v; }
inline u64 number_bits(float v) { return std::isnan(v) ? 0x7fffffffu : to_bits(v); }
inline u64 number_bits(double v) { return std::isnan(v) ? 0xfff8000000000000u : to_bits(v); }

}  // namespace regatta::test::forms
