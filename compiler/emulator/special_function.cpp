// SPDX-License-Identifier: Apache-2.0
#include "special_function.h"

#include "special_function_tables.h"

namespace regatta::emulator::h100 {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

constexpr u32 nan_bits = 0x7fffffffu, infinity = 0x7f800000u, sign_bit = 0x80000000u, fraction_mask = 0x7fffffu;
constexpr int fraction_bits = 23, exponent_bias = 127;

bool is_negative(u32 x) { return (x & sign_bit) != 0; }
bool is_nan(u32 x) { return (x & ~sign_bit) > infinity; }
bool is_infinite(u32 x) { return (x & ~sign_bit) == infinity; }
/// Subnormal numbers are zeros to the unit.
bool is_zero(u32 x) { return (x & infinity) == 0; }
int exponent_of(u32 x) { return static_cast<int>((x >> fraction_bits) & 0xffu) - exponent_bias; }

/// A normal number, or the zero or infinity in its place where the exponent is out of range.
u32 assemble(u32 sign, int exponent, u32 fraction) {
  if (exponent > exponent_bias) return sign | infinity;
  if (exponent <= -exponent_bias) return sign;
  return sign | (static_cast<u32>(exponent + exponent_bias) << fraction_bits) | fraction;
}

/// The square of 17 bits. The squarer adds x_i at column 2i and x_i x_j, i < j, at column i + j + 1, and has no columns
/// below 19.
u64 square(u32 x) {
  constexpr unsigned first_column = 19, partial_rows = 10;
  constexpr u64 columns = ~((u64{1} << first_column) - 1);
  u64 sum = 0;
  for (unsigned i = 0; i < partial_rows; ++i) {
    const u64 row = (u64{1} << (2 * i)) | (static_cast<u64>(x >> (i + 1)) << (2 * i + 2));
    sum += row & columns & (u64{0} - ((x >> i) & 1u));
  }
  const u64 upper = x >> partial_rows;  // rows that lose nothing
  return sum + ((upper * upper) << (2 * partial_rows));
}

/// Where a function's coefficients stand in the sum, and what is added so that truncation rounds. The sum is in units
/// of 2^-One.
struct Places {
  int one, c0, c1;
  int sign1, sign2;
  i64 rounding;
};
constexpr Places rcp_places{56, 30, 17, -1, 1, 0xfcf0000};
constexpr Places rsqrt_places{57, 31, 17, -1, 1, 0x7fff0000};
constexpr Places sqrt_places{58, 33, 18, 1, -1, 0x1fffe0000};
constexpr Places ex2_places{57, 32, 19, 1, 1, 0xbf140000};
constexpr Places lg2_places{56, 30, 18, 1, -1, 0xd160000};
constexpr Places sin_places{56, 31, 19, 1, -1, 0};
constexpr Places tanh_places{54, 33, 18, 1, -1, 0};

i64 interpolate(const Places& p, const Segment& s, u32 x, u64 squared) {
  const i64 first = static_cast<i64>(static_cast<u64>(s.c1) * x) << p.c1;
  const i64 second = static_cast<i64>(s.c2 * squared);
  return (static_cast<i64>(s.c0) << p.c0) + p.sign1 * first + p.sign2 * second + p.rounding;
}
/// By 23 bits: 6 select the segment, 17 are interpolated.
constexpr unsigned low_bits = 17;
i64 interpolate(const Places& p, const Segment* segments, u32 bits) {
  const u32 x = bits & ((1u << low_bits) - 1);
  return interpolate(p, segments[bits >> low_bits], x, square(x));
}

/// The sum, truncated to 24 bits, as a number.
u32 normalise(u32 sign, i64 sum, int one) {
  if (sum == 0) return sign;
  const int top = 63 - __builtin_clzll(static_cast<u64>(sum));
  const int down = top - fraction_bits;
  const u64 digits = down >= 0 ? static_cast<u64>(sum) >> down : static_cast<u64>(sum) << -down;
  return assemble(sign, top - one, static_cast<u32>(digits) & fraction_mask);
}

/// A finite number's magnitude as fixed point with 23 bits of fraction, truncated; bits above 2^8 are lost.
u32 fixed_point(u32 x) {
  const int exponent = exponent_of(x);
  const u32 digits = (x & fraction_mask) | (fraction_mask + 1);
  if (is_zero(x) || exponent < -fraction_bits || exponent > 31) return 0;
  return exponent >= 0 ? digits << exponent : digits >> -exponent;
}

/// A quarter of the sine's wave: of 23 bits of a quarter turn.
u32 quarter_wave(u32 sign, u32 bits) {
  return normalise(sign, interpolate(sin_places, sin_segments, bits & fraction_mask), sin_places.one);
}

}  // namespace

u32 rcp(u32 x) {
  const u32 sign = x & sign_bit;
  if (is_nan(x)) return nan_bits;
  if (is_infinite(x)) return sign;
  if (is_zero(x)) return sign | infinity;
  constexpr unsigned low = 16;
  const u32 fraction = x & fraction_mask, rest = fraction & ((1u << low) - 1);
  const i64 sum = interpolate(rcp_places, rcp_segments[fraction >> low], rest, square(rest << 1) >> 2);
  const u32 mantissa = normalise(0, sum, rcp_places.one);
  return assemble(sign, exponent_of(mantissa) - exponent_of(x), mantissa & fraction_mask);
}

u32 rsqrt(u32 x) {
  if (is_nan(x)) return nan_bits;
  if (is_zero(x)) return (x & sign_bit) | infinity;
  if (is_negative(x)) return nan_bits;
  if (is_infinite(x)) return 0;
  const int exponent = exponent_of(x), odd = exponent & 1, half = (exponent - odd) / 2;
  const u32 fraction = x & fraction_mask;
  if (odd == 0 && fraction == 0) return assemble(0, -half, 0);
  const u32 mantissa = normalise(0, interpolate(rsqrt_places, rsqrt_segments + 64 * odd, fraction), rsqrt_places.one);
  return assemble(0, exponent_of(mantissa) - half, mantissa & fraction_mask);
}

u32 sqrt(u32 x) {
  if (is_nan(x)) return nan_bits;
  if (is_zero(x)) return x & sign_bit;
  if (is_negative(x)) return nan_bits;
  if (is_infinite(x)) return x;
  const int exponent = exponent_of(x), odd = exponent & 1, half = (exponent - odd) / 2;
  const u32 mantissa =
      normalise(0, interpolate(sqrt_places, sqrt_segments + 64 * odd, x & fraction_mask), sqrt_places.one);
  return assemble(0, exponent_of(mantissa) + half, mantissa & fraction_mask);
}

u32 ex2(u32 x) {
  if (is_nan(x)) return nan_bits;
  if (exponent_of(x) >= 7) return is_negative(x) ? 0 : infinity;
  const u32 magnitude = fixed_point(x);
  int whole = static_cast<int>(magnitude >> fraction_bits);
  u32 fraction = magnitude & fraction_mask;
  if (is_negative(x)) {
    // The complement of the bits, not the negative number.
    whole = fraction == 0 ? -whole : -whole - 1;
    fraction = fraction == 0 ? 0 : ~fraction & fraction_mask;
  }
  const u32 mantissa = normalise(0, interpolate(ex2_places, ex2_segments, fraction), ex2_places.one);
  return assemble(0, exponent_of(mantissa) + whole, mantissa & fraction_mask);
}

u32 lg2(u32 x) {
  if (is_nan(x)) return nan_bits;
  if (is_zero(x)) return sign_bit | infinity;
  if (is_negative(x)) return nan_bits;
  if (is_infinite(x)) return infinity;
  constexpr u32 one = 0x3f800000u;
  if (x == one) return 0;
  constexpr int lost = 20;  // bits of the sum that normalisation does not see
  i64 sum = interpolate(lg2_places, lg2_segments, x & fraction_mask) +
            static_cast<i64>(exponent_of(x)) * (i64{1} << lg2_places.one);
  if (sum < 0) sum = -sum;
  sum &= ~((i64{1} << lost) - 1);
  return normalise(x < one ? sign_bit : 0, sum, lg2_places.one);
}

u32 sin_of_turns(u32 turns) {
  if (is_nan(turns) || is_infinite(turns)) return nan_bits;
  const u32 quarters = is_zero(turns) ? 0 : fixed_point(turns + (2u << fraction_bits));
  const u32 sign = (turns ^ (quarters >> (fraction_bits + 1) << 31)) & sign_bit;
  return quarter_wave(sign, (quarters >> fraction_bits & 1u) != 0 ? ~quarters : quarters);
}

u32 cos_of_turns(u32 turns) {
  if (is_nan(turns) || is_infinite(turns)) return nan_bits;
  const u32 quarters = is_zero(turns) ? 0 : fixed_point(turns + (2u << fraction_bits));
  const u32 sign = (quarters + (1u << fraction_bits)) >> (fraction_bits + 1) << 31;
  return quarter_wave(sign, (quarters >> fraction_bits & 1u) != 0 ? quarters : ~quarters);
}

bool has_tanh(u32 x) { return exponent_of(x) == -1; }

u32 tanh(u32 x) {
  constexpr unsigned ignored = 4;  // the operand is fixed point with 20 bits of fraction
  const u32 bits = ((x & fraction_mask) | (fraction_mask + 1)) >> ignored;
  const u32 rest = bits & ((1u << low_bits) - 1);
  const Segment& segment = tanh_segments[(bits >> low_bits) - 4];
  return normalise(x & sign_bit, interpolate(tanh_places, segment, rest, square(rest)), tanh_places.one);
}

}  // namespace regatta::emulator::h100
