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

/// A float of 16 bits: binary16, bfloat16.
struct Small {
  int fraction, top;  ///< bits of the fraction; largest exponent, and the bias
  u64 infinity() const { return static_cast<u64>(2 * top + 1) << fraction; }
  u64 one() const { return static_cast<u64>(top) << fraction; }
};
constexpr Small half_format{10, 15}, brain_format{7, 127};

inline double small_value(const Small& f, u64 bits) {
  const int exponent = static_cast<int>((bits >> f.fraction) & static_cast<u64>(2 * f.top + 1));
  const double hidden = std::ldexp(1.0, f.fraction);
  const double fraction = static_cast<double>(bits & ((u64{1} << f.fraction) - 1));
  const double sign = (bits & 0x8000u) != 0 ? -1.0 : 1.0;
  if (exponent == 2 * f.top + 1) return fraction != 0 ? std::nan("") : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - f.top - f.fraction)
                               : std::ldexp(hidden + fraction, exponent - f.top - f.fraction));
}

/// What an exact value rounds to. Positive ones ascend with their encodings.
inline u64 round_small(const Small& f, const Compare& compare, Direction direction, bool negative_zero = false) {
  const int sign = compare(0);
  if (sign == 0) return negative_zero ? 0x8000u : 0u;
  const auto beyond = [&](u64 bits) { return sign * compare(sign * static_cast<f128>(small_value(f, bits))); };
  u64 low = 0, high = f.infinity();  // |low| <= |exact| < |high|
  while (high - low > 1) {
    const u64 middle = (low + high) / 2;
    (beyond(middle) >= 0 ? low : high) = middle;
  }
  const u64 sign_bit = sign < 0 ? 0x8000u : 0u;
  if (beyond(low) == 0) return sign_bit | low;
  bool away = (direction == Direction::up && sign > 0) || (direction == Direction::down && sign < 0);
  if (direction == Direction::nearest) {
    // Beyond the largest number the grid goes on for half a step.
    const f128 top = static_cast<f128>(high == f.infinity() ? std::ldexp(1.0, f.top + 1) : small_value(f, high));
    const int side = sign * compare(sign * (static_cast<f128>(small_value(f, low)) + top) / 2);
    away = side > 0 || (side == 0 && (low & 1u) != 0);
  }
  return sign_bit | (away ? high : low);
}
inline u64 round_small(const Small& f, double v, Direction direction = Direction::nearest) {
  if (std::isnan(v)) return 0x7fff;
  if (std::isinf(v)) return v > 0 ? f.infinity() : 0x8000u | f.infinity();
  return round_small(f, sum_of(v, 0), direction, std::signbit(v));
}
/// a + b.
inline u64 small_sum(const Small& f, double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b)) return round_small(f, a + b);
  return round_small(f, exact_sum(a, b), Direction::nearest, std::signbit(a) && std::signbit(b));
}

inline float flush(float v) { return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v; }
inline double flush(double v) { return v; }
inline u64 number_bits(float v) { return std::isnan(v) ? 0x7fffffffu : to_bits(v); }
inline u64 number_bits(double v) { return std::isnan(v) ? 0xfff8000000000000u : to_bits(v); }

}  // namespace regatta::test::forms
