// SPDX-License-Identifier: Apache-2.0
//
// Operations on packed and narrow formats: floats of 8 to 19 bits, pairs of them, and lanes of bytes and halves.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "operations.h"

namespace regatta::test::differential {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using f128 = __float128;

struct Format {
  int fraction, bias;
  u64 largest;  ///< its code
  u64 sign;
  bool has_infinity = true;  ///< behind the largest number, before NaN
};
constexpr Format half{10, 15, 0x7bff, 0x8000}, brain{7, 127, 0x7f7f, 0x8000}, tf32{10, 127, 0x3fbff, 0x40000},
    e5m2{2, 15, 0x7b, 0x80}, e4m3{3, 7, 0x7e, 0x80, false};

float single(u64 v) {
  const auto low = static_cast<u32>(v);
  float value = 0;
  std::memcpy(&value, &low, sizeof value);
  return value;
}
double value_of(const Format& f, u64 code) {
  const u64 magnitude = code & (f.sign - 1);
  const int exponent = static_cast<int>(magnitude >> f.fraction);
  const u64 fraction = magnitude & ((u64{1} << f.fraction) - 1), hidden = exponent == 0 ? 0 : u64{1} << f.fraction;
  const double sign = (code & f.sign) != 0 ? -1.0 : 1.0;
  const bool infinite = f.has_infinity && magnitude == f.largest + 1;
  if (magnitude > f.largest) return infinite ? sign * INFINITY : NAN;
  return sign * std::ldexp(static_cast<double>(fraction + hidden), std::max(exponent, 1) - f.bias - f.fraction);
}

enum class Mode { nearest, away, zero };

/// The code of a number, which is no NaN. What is beyond the largest becomes the code behind it, or, saturated, it.
/// `rest_beyond`: the sign of what the exact number has beyond v.
u64 code_of(const Format& f, f128 v, bool negative, Mode mode, bool saturated, f128 rest_beyond = 0) {
  const f128 magnitude = v < 0 ? -v : v;
  const u64 sign = negative ? f.sign : 0, beyond = saturated ? f.largest : f.largest + 1;
  if (magnitude == 0) return sign;
  const auto near = static_cast<double>(magnitude);
  if (std::isinf(near)) return sign | beyond;
  int exponent = std::ilogb(near);
  if (static_cast<f128>(std::ldexp(1.0, exponent)) > magnitude) --exponent;
  exponent = std::max(exponent, 1 - f.bias);
  const f128 units = magnitude / static_cast<f128>(std::ldexp(1.0, exponent - f.fraction));
  const auto whole = static_cast<u64>(units);
  const f128 rest = units - static_cast<f128>(whole);
  const bool middle = rest * 2 == 1, tie = middle && rest_beyond == 0;
  const bool more = rest * 2 > 1 || (middle && rest_beyond != 0 && (rest_beyond > 0) == (v > 0));
  const bool up = mode != Mode::zero && (more || (tie && (mode == Mode::away || whole % 2 != 0)));
  const u64 code = (static_cast<u64>(exponent - 1 + f.bias) << f.fraction) + whole + (up ? 1 : 0);
  if (code <= f.largest) return sign | code;
  return sign | (mode == Mode::zero ? f.largest : beyond);
}
/// From an f32. `nan` is what a NaN becomes.
u64 converted(const Format& f, float v, Mode mode, bool saturated, bool relu, u64 nan) {
  if (std::isnan(v)) return nan;
  if (relu && std::signbit(v)) return 0;
  if (std::isinf(v)) return (std::signbit(v) ? f.sign : 0) | (saturated ? f.largest : f.largest + 1);
  return code_of(f, v, std::signbit(v), mode, saturated);
}
u64 bytes_to_halves(const Format& f, u64 bytes) {
  const auto one = [&](u64 code) {
    const double v = value_of(f, code);
    if (std::isnan(v)) return u64{0x7fff};
    return std::isinf(v) ? (v < 0 ? u64{0xfc00} : u64{0x7c00})
                         : code_of(half, v, std::signbit(v), Mode::nearest, false);
  };
  return one(bytes & 0xff) | one(bytes >> 8 & 0xff) << 16;
}
/// a b + c, rounded once.
u64 fused(const Format& f, u64 a, u64 b, u64 c) {
  const double x = value_of(f, a), y = value_of(f, b), z = value_of(f, c), near = x * y + z;
  if (std::isnan(near)) return 0x7fff;
  if (std::isinf(near)) return near < 0 ? f.sign | (f.largest + 1) : f.largest + 1;
  const f128 product = static_cast<f128>(x) * y, sum = product + z, added = sum - product;
  const f128 lost = (product - (sum - added)) + (z - added);
  return code_of(f, sum, sum < 0 || (sum == 0 && std::signbit(near)), Mode::nearest, false, lost);
}
/// min and max with .xorsign.abs of numbers in codes whose largest is `infinity`.
u64 extreme(bool largest, bool nan, u64 a, u64 b, u64 sign_bit, u64 infinity, u64 canonical) {
  const u64 x = a & (sign_bit - 1), y = b & (sign_bit - 1), sign = (a ^ b) & sign_bit;
  const bool no_x = x > infinity, no_y = y > infinity;
  if (no_x && (no_y || nan)) return canonical;
  if (no_y && nan) return canonical;
  if (no_x || no_y) return sign | (no_x ? y : x);
  return sign | (largest ? std::max(x, y) : std::min(x, y));
}

s64 byte_of(u64 v, unsigned n) { return static_cast<std::int8_t>(v >> (8 * n)); }
u64 in_bytes(const u64* in, s64 (*f)(s64, s64)) {
  u64 r = 0;
  for (unsigned n = 0; n < 4; ++n) r |= (static_cast<u64>(f(byte_of(in[0], n), byte_of(in[1], n))) & 0xff) << (8 * n);
  return r;
}
s64 half_of(u64 v, unsigned n) { return static_cast<std::int16_t>(v >> (16 * n)); }

}  // namespace

std::vector<Operation> packed_operations() {
  return {
      // Conversions.
      {"cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "h:ff",
       [](const u64* in, u64* out) {
         out[0] = converted(e4m3, single(in[0]), Mode::nearest, true, false, 0x7f) << 8 |
                  converted(e4m3, single(in[1]), Mode::nearest, true, false, 0x7f);
       }},
      {"cvt.rn.satfinite.relu.e5m2x2.f32 $0, $1, $2;", "h:ff",
       [](const u64* in, u64* out) {
         out[0] = converted(e5m2, single(in[0]), Mode::nearest, true, true, 0x7f) << 8 |
                  converted(e5m2, single(in[1]), Mode::nearest, true, true, 0x7f);
       }},
      {"cvt.rn.f16x2.e4m3x2 $0, $1;", "r:H", [](const u64* in, u64* out) { out[0] = bytes_to_halves(e4m3, in[0]); }},
      {"cvt.rn.f16x2.e5m2x2 $0, $1;", "r:H", [](const u64* in, u64* out) { out[0] = bytes_to_halves(e5m2, in[0]); }},
      {"cvt.rn.f16x2.f32 $0, $1, $2;", "r:ff",
       [](const u64* in, u64* out) {
         out[0] = converted(half, single(in[0]), Mode::nearest, false, false, 0x7fff) << 16 |
                  converted(half, single(in[1]), Mode::nearest, false, false, 0x7fff);
       }},
      {"cvt.rz.relu.satfinite.bf16x2.f32 $0, $1, $2;", "r:ff",
       [](const u64* in, u64* out) {
         out[0] = converted(brain, single(in[0]), Mode::zero, true, true, 0x7fff) << 16 |
                  converted(brain, single(in[1]), Mode::zero, true, true, 0x7fff);
       }},
      {"cvt.rn.satfinite.f16.f32 $0, $1;", "h:F",
       [](const u64* in, u64* out) { out[0] = converted(half, single(in[0]), Mode::nearest, true, false, 0x7fff); }},
      {"cvt.rna.tf32.f32 $0, $1;", "r:F",
       [](const u64* in, u64* out) {
         const u64 code = converted(tf32, single(in[0]), Mode::away, false, false, ~u64{0});
         out[0] = code == ~u64{0} ? 0x7fffffff : code << 13;
       }},
      {"cvt.pack.sat.s8.s32.b32 $0, $1, $2, $3;", "r:rrr",
       [](const u64* in, u64* out) {
         const auto one = [](u64 v) {
           return static_cast<u64>(std::clamp<s64>(static_cast<s32>(v), -128, 127)) & 0xff;
         };
         out[0] = in[2] << 16 | one(in[0]) << 8 | one(in[1]);
       }},
      // Arithmetic.
      {"fma.rn.f16x2 $0, $1, $2, $3;", "r:rrr",
       [](const u64* in, u64* out) {
         out[0] = fused(half, in[0] & 0xffff, in[1] & 0xffff, in[2] & 0xffff) |
                  fused(half, in[0] >> 16 & 0xffff, in[1] >> 16 & 0xffff, in[2] >> 16 & 0xffff) << 16;
       }},
      {"fma.rn.relu.bf16 $0, $1, $2, $3;", "h:HHH",
       [](const u64* in, u64* out) {
         const u64 r = fused(brain, in[0] & 0xffff, in[1] & 0xffff, in[2] & 0xffff);
         out[0] = r >= 0x8000 ? 0 : r;
       }},
      {"min.NaN.xorsign.abs.f32 $0, $1, $2;", "f:ff",
       [](const u64* in, u64* out) {
         out[0] = extreme(false, true, in[0] & 0xffffffff, in[1] & 0xffffffff, 0x80000000, 0x7f800000, 0x7fffffff);
       }},
      {"max.xorsign.abs.f16 $0, $1, $2;", "h:HH",
       [](const u64* in, u64* out) {
         out[0] = extreme(true, false, in[0] & 0xffff, in[1] & 0xffff, 0x8000, 0x7c00, 0x7fff);
       }},
      // Bits.
      {"szext.clamp.s32 $0, $1, $2;", "r:rr",
       [](const u64* in, u64* out) {
         const u64 n = std::min<u64>(in[1] & 0xffffffff, 32);
         out[0] = n == 0 ? 0 : static_cast<u64>(static_cast<s64>(in[0] << (64 - n)) >> (64 - n));
       }},
      {"testp.subnormal.f32 $0, $1;", "p:F",
       [](const u64* in, u64* out) { out[0] = std::fpclassify(single(in[0])) == FP_SUBNORMAL; }},
      {"lop3.and.b32 $0|$1, $2, $3, $4, 0xe8, $5;", "rp:rrrP",
       [](const u64* in, u64* out) {
         out[0] = static_cast<u32>((in[0] & in[1]) | (in[0] & in[2]) | (in[1] & in[2]));
         out[1] = out[0] != 0 && in[3] != 0;
       }},
      // Video.
      {"vabsdiff4.u32.u32.u32.add $0, $1, $2, $3;", "r:rrr",
       [](const u64* in, u64* out) {
         out[0] = in[2];
         for (unsigned n = 0; n < 32; n += 8) {
           const s64 difference = static_cast<s64>(in[0] >> n & 0xff) - static_cast<s64>(in[1] >> n & 0xff);
           out[0] += static_cast<u64>(difference < 0 ? -difference : difference);
         }
       }},
      {"vadd4.s32.s32.s32.sat $0, $1, $2, $3;", "r:rrr",
       [](const u64* in, u64* out) {
         out[0] = in_bytes(in, [](s64 a, s64 b) { return std::clamp<s64>(a + b, -128, 127); });
       }},
      {"vset4.s32.s32.lt $0, $1, $2, $3;", "r:rrr",
       [](const u64* in, u64* out) { out[0] = in_bytes(in, [](s64 a, s64 b) { return s64{a < b}; }); }},
      {"vavrg2.s32.s32.s32 $0.h1, $1, $2, $3;", "r:RRr",
       [](const u64* in, u64* out) {
         const s64 sum = half_of(in[0], 1) + half_of(in[1], 1);
         out[0] = (in[2] & 0xffff) | static_cast<u64>((sum + (sum >= 0 ? 1 : 0)) >> 1) << 16;
       }},
      {"vsub.s32.u32.s32.sat.max $0, $1.b2, $2.h1, $3;", "r:RRr",
       [](const u64* in, u64* out) {
         const s64 difference = static_cast<s64>(in[0] >> 16 & 0xff) - half_of(in[1], 1);
         out[0] = static_cast<u64>(std::max<s64>(difference, static_cast<s32>(in[2])));
       }},
  };
}

}  // namespace regatta::test::differential
