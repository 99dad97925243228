// SPDX-License-Identifier: Apache-2.0
#include "tensor_product.h"

#include <regatta/ir/half.h>

#include <algorithm>
#include <cstring>

namespace regatta::emulator {

namespace {

struct Layout {
  int exponent_bits, fraction;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};
constexpr Layout f32_layout{8, 23}, f16_layout{5, 10};

Layout layout(TensorFormat format) {
  switch (format) {
    case TensorFormat::f16:
      return f16_layout;
    case TensorFormat::bf16:
      return {8, 7};
    case TensorFormat::tf32:
      return {8, 10};
    case TensorFormat::e4m3:
      return {4, 3};
    case TensorFormat::e5m2:
      return {5, 2};
    default:
      return {};
  }
}

TensorElement element(Layout l, std::uint32_t bits) {
  const std::uint32_t all_ones = (1u << l.exponent_bits) - 1, unit = 1u << l.fraction;
  const std::uint32_t exponent = bits >> l.fraction & all_ones, fraction = bits & (unit - 1);
  TensorElement e;
  e.is_negative = (bits >> (l.exponent_bits + l.fraction) & 1) != 0;
  if (exponent == all_ones) {
    e.kind = fraction != 0 ? TensorElement::Kind::nan : TensorElement::Kind::infinite;
  } else {
    e.significand = exponent == 0 ? fraction : fraction | unit;
    e.exponent = static_cast<int>(std::max(exponent, 1u)) - l.bias();
  }
  return e;
}

/// magnitude * 2^exponent, if it is finite.
struct Sum {
  TensorElement::Kind kind = TensorElement::Kind::finite;
  bool is_negative = false;
  std::uint64_t magnitude = 0;
  int exponent = 0;
};

/// Bits that are kept behind the largest exponent.
constexpr int kept = 25;

/// Which k of `operands` take part: those whose bit 1 is `half`; all without one.
enum class Part : std::uint8_t { all, first, second };

bool is_in(Part part, std::size_t k) { return part == Part::all || ((k & 2) == 0) == (part == Part::first); }

Sum special(const TensorOperands& o, Part part, const TensorElement& c) {
  using Kind = TensorElement::Kind;
  bool is_nan = c.kind == Kind::nan;
  bool positive = c.kind == Kind::infinite && !c.is_negative, negative = c.kind == Kind::infinite && c.is_negative;
  for (std::size_t k = 0; k < o.count; ++k) {
    const TensorElement &a = o.a[k], &b = o.b[k];
    if (!is_in(part, k) || (a.kind == Kind::finite && b.kind == Kind::finite)) continue;
    const auto is_zero = [](const TensorElement& e) { return e.kind == Kind::finite && e.significand == 0; };
    if (a.kind == Kind::nan || b.kind == Kind::nan || is_zero(a) || is_zero(b)) {
      is_nan = true;
    } else {
      (a.is_negative != b.is_negative ? negative : positive) = true;
    }
  }
  Sum s;
  if (is_nan || (positive && negative)) {
    s.kind = Kind::nan;
  } else if (positive || negative) {
    s.kind = Kind::infinite;
    s.is_negative = negative;
  }
  return s;
}

Sum sum(const TensorOperands& o, Part part, const TensorElement& c, int c_fraction) {
  const Sum s = special(o, part, c);
  if (s.kind != TensorElement::Kind::finite) return s;
  const int fraction = layout(o.format).fraction + layout(o.b_format).fraction;
  int top = INT32_MIN;
  if (c.significand != 0) top = c.exponent;
  for (std::size_t k = 0; k < o.count; ++k) {
    if (is_in(part, k) && o.a[k].significand != 0 && o.b[k].significand != 0) {
      top = std::max(top, o.a[k].exponent + o.b[k].exponent);
    }
  }
  if (top == INT32_MIN) return s;
  std::int64_t total = 0;
  const auto add = [&](bool is_negative, std::uint64_t significand, int exponent, int bits) {
    const int shift = exponent - bits - (top - kept);
    const std::uint64_t aligned = shift >= 0 ? significand << shift : shift > -64 ? significand >> -shift : 0;
    total += is_negative ? -static_cast<std::int64_t>(aligned) : static_cast<std::int64_t>(aligned);
  };
  for (std::size_t k = 0; k < o.count; ++k) {
    const TensorElement &a = o.a[k], &b = o.b[k];
    const std::uint64_t product = std::uint64_t{a.significand} * b.significand;
    if (is_in(part, k) && product != 0) add(a.is_negative != b.is_negative, product, a.exponent + b.exponent, fraction);
  }
  if (c.significand != 0) add(c.is_negative, c.significand, c.exponent, c_fraction);
  Sum finite;
  finite.is_negative = total < 0;
  finite.magnitude = static_cast<std::uint64_t>(total < 0 ? -total : total);
  finite.exponent = top - kept;
  return finite;
}

/// The sum in a format; `nearest`: to even, else cut off. A sum of zero is +0.
std::uint32_t encode(const Sum& s, Layout l, bool nearest) {
  const std::uint32_t infinity = ((1u << l.exponent_bits) - 1) << l.fraction;
  const std::uint32_t sign = s.is_negative ? 1u << (l.exponent_bits + l.fraction) : 0;
  if (s.kind == TensorElement::Kind::nan) return infinity | ((1u << l.fraction) - 1);
  if (s.kind == TensorElement::Kind::infinite) return sign | infinity;
  if (s.magnitude == 0) return 0;
  const int bits = 64 - __builtin_clzll(s.magnitude);
  const int least = 1 - l.bias() - l.fraction;  // exponent of a subnormal's last bit
  const int shift = std::max(bits - (l.fraction + 1), least - s.exponent);
  std::uint64_t significand = s.magnitude << std::max(-shift, 0);
  if (shift > 0) {
    significand = shift < 64 ? s.magnitude >> shift : 0;
    const std::uint64_t rest = shift < 64 ? s.magnitude - (significand << shift) : s.magnitude;
    const std::uint64_t half = shift <= 64 ? std::uint64_t{1} << (shift - 1) : 0;
    if (nearest && half != 0 && (rest > half || (rest == half && (significand & 1) != 0))) ++significand;
  }
  int exponent = s.exponent + shift + l.fraction;
  if (significand >> (l.fraction + 1) != 0) {
    significand >>= 1;
    ++exponent;
  }
  if (significand >> l.fraction == 0) return sign | static_cast<std::uint32_t>(significand);
  if (exponent > l.bias()) return sign | infinity;
  return sign | (static_cast<std::uint32_t>(exponent + l.bias()) << l.fraction) |
         (static_cast<std::uint32_t>(significand) & ((1u << l.fraction) - 1));
}

bool is_8_bits(TensorFormat f) { return f == TensorFormat::e4m3 || f == TensorFormat::e5m2; }

/// An f32 addition whose NaN is the tensor core's.
std::uint32_t add_f32(std::uint32_t a, std::uint32_t b) {
  constexpr std::uint32_t magnitude = 0x7fffffff, infinity = 0x7f800000;
  float x = 0, y = 0;
  std::memcpy(&x, &a, sizeof x);
  std::memcpy(&y, &b, sizeof y);
  x += y;
  std::uint32_t sum = 0;
  std::memcpy(&sum, &x, sizeof sum);
  return (sum & magnitude) > infinity ? magnitude : sum;
}

/// Of an f32 and an f16, rounded to f16; exact in f64 before.
std::uint32_t add_f16(std::uint32_t a, std::uint32_t b) {
  float x = 0;
  std::memcpy(&x, &a, sizeof x);
  return ir::double_to_small<ir::Binary16>(double{x} + ir::small_to_double<ir::Binary16>(b), ir::Rounding::rn);
}

}  // namespace

TensorElement tensor_element(TensorFormat format, std::uint32_t bits) {
  if (format != TensorFormat::e4m3) return element(layout(format), bits);
  // No infinities: the largest exponent has numbers, and one NaN.
  constexpr std::uint32_t magnitude = 0x7f, exponent = 0x78;
  TensorElement e = element(layout(format), bits);
  if ((bits & magnitude) == magnitude) {
    e.kind = TensorElement::Kind::nan;
  } else if ((bits & exponent) == exponent) {
    e.kind = TensorElement::Kind::finite;
    e.significand = (bits & 7) | 8;
    e.exponent = 8;
  }
  return e;
}

std::uint32_t tensor_dot_f32(const TensorOperands& o, std::uint32_t c) {
  if (!is_8_bits(o.format)) {
    return encode(sum(o, Part::all, element(f32_layout, c), f32_layout.fraction), f32_layout, false);
  }
  const std::uint32_t first = encode(sum(o, Part::first, {}, f32_layout.fraction), f32_layout, false);
  const Sum second = sum(o, Part::second, element(f32_layout, first), f32_layout.fraction);
  return add_f32(encode(second, f32_layout, false), c);
}

std::uint32_t tensor_dot_f16(const TensorOperands& o, std::uint32_t c) {
  if (is_8_bits(o.format)) {
    const std::uint32_t first = encode(sum(o, Part::first, {}, f32_layout.fraction), f32_layout, false);
    const Sum second = sum(o, Part::second, element(f32_layout, first), f32_layout.fraction);
    return add_f16(encode(second, f32_layout, false), c);
  }
  return encode(sum(o, Part::all, element(f16_layout, c), f16_layout.fraction), f16_layout, true);
}

}  // namespace regatta::emulator
