// SPDX-License-Identifier: Apache-2.0
//
// cvt: every pair of types, rounding and saturation. The pairs that address and index arithmetic is made of have
// vector code; the rest goes lane by lane through one general conversion.
#include "lanes_common.h"

#include <cmath>

namespace regatta::emulator {
namespace REGATTA_LANES_ISA {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using ir::Rounding;
using ir::Type;

bool floating(Type t) { return ir::is_small_float(t) || t == Type::f32 || t == Type::f64; }
bool signed_type(Type t) { return t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64; }
unsigned bits_of(Type t) {
  switch (t) {
    case Type::b8:
    case Type::u8:
    case Type::s8:
      return 8;
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::f16:
    case Type::bf16:
      return 16;
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64:
      return 64;
    default:
      return 32;
  }
}

u32 flush_bits(u32 bits) { return (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits; }

double round_to_integer(double v, Rounding r) {
  switch (r) {
    case Rounding::rni:
    case Rounding::rn:
      return std::nearbyint(v);
    case Rounding::rmi:
    case Rounding::rm:
      return std::floor(v);
    case Rounding::rpi:
    case Rounding::rp:
      return std::ceil(v);
    default:
      return std::trunc(v);
  }
}

/// A float value to the integer type `to`, saturating; the result is in the low bits.
u64 float_to_integer(double v, Type to, Type from, Rounding rounding) {
  const unsigned bits = bits_of(to);
  if (v != v) {
    const bool zero = from != Type::f64 && bits != 64;
    return zero ? 0 : u64{1} << (bits - 1);
  }
  const double r = round_to_integer(v, rounding);
  if (signed_type(to)) {
    const double limit = std::ldexp(1.0, static_cast<int>(bits) - 1);
    if (r >= limit) return (u64{1} << (bits - 1)) - 1;
    if (r < -limit) return ~((u64{1} << (bits - 1)) - 1);
    return static_cast<u64>(static_cast<s64>(r));
  }
  const double limit = std::ldexp(1.0, static_cast<int>(bits));
  if (r >= limit) return bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
  return r <= 0 ? 0 : static_cast<u64>(r);
}

/// An integer (sign-extended if `from` is signed) clamped to the range of `to`.
u64 clamp_integer(u64 v, Type to, Type from) {
  const bool negative = signed_type(from) && static_cast<s64>(v) < 0;
  const unsigned bits = bits_of(to);
  if (!signed_type(to)) {
    if (negative) return 0;
    const u64 highest = bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
    return v < highest ? v : highest;
  }
  const u64 highest = (u64{1} << (bits - 1)) - 1;
  if (!negative) return v < highest ? v : highest;
  const s64 lowest = -static_cast<s64>(highest) - 1;
  return static_cast<s64>(v) < lowest ? static_cast<u64>(lowest) : v;
}

u64 extend(u64 v, Type t) {
  const unsigned bits = bits_of(t);
  if (bits == 64) return v;
  const u64 low = v & ((u64{1} << bits) - 1);
  if (!signed_type(t) || (low >> (bits - 1)) == 0) return low;
  return low | ~((u64{1} << bits) - 1);
}

/// The conversion of one lane, raw bits to raw bits.
u64 convert(u64 raw, const LaneOp& op) {
  const Type from = op.source_type, to = op.type;
  if (!floating(from)) {
    const u64 v = extend(raw, from);
    if (!floating(to)) return extend(op.saturate ? clamp_integer(v, to, from) : v, to);
    const bool negative = signed_type(from) && static_cast<s64>(v) < 0;
    if (to == Type::f64) {
      double r = signed_type(from) ? static_cast<double>(static_cast<s64>(v)) : static_cast<double>(v);
      if (op.saturate) r = negative || v == 0 ? 0.0 : 1.0;
      return cast_bits<u64>(r);
    }
    if (ir::is_small_float(to)) {
      // Round to odd: bits of the integer that a double cannot hold are kept in its last bit, so that the value is
      // rounded only once.
      const u64 magnitude = negative ? u64{0} - v : v;
      const u64 odd = magnitude >> 53 == 0 ? magnitude : (magnitude & ~u64{0xfff}) | ((magnitude & 0xfff) != 0) << 12;
      double r = negative ? -static_cast<double>(odd) : static_cast<double>(odd);
      if (op.saturate) r = negative || v == 0 ? 0.0 : 1.0;
      return ir::double_to_small(to, r, op.rounding);
    }
    float r = signed_type(from) ? static_cast<float>(static_cast<s64>(v)) : static_cast<float>(v);
    if (op.saturate) r = negative || v == 0 ? 0.0f : 1.0f;
    return cast_bits<u32>(r);
  }
  double v = 0;
  if (from == Type::f64) {
    v = cast_bits<double>(raw);
  } else if (ir::is_small_float(from)) {
    v = ir::small_to_double(from, static_cast<u32>(raw));
  } else {
    const u32 bits = static_cast<u32>(raw);
    v = static_cast<double>(cast_bits<float>(op.ftz ? flush_bits(bits) : bits));
  }
  if (!floating(to)) return extend(float_to_integer(v, to, from, op.rounding), to);
  if (op.rounding >= Rounding::rni) v = round_to_integer(v, op.rounding);
  if (op.saturate) v = v > 0 ? (v < 1 ? v : 1.0) : 0.0;
  if (to == Type::f64) return v != v ? 0xfff8000000000000u : cast_bits<u64>(v);
  if (ir::is_small_float(to)) {
    return ir::double_to_small(to, v, op.rounding >= Rounding::rni ? Rounding::rn : op.rounding);
  }
  if (v != v) return 0x7fffffffu;
  const u32 bits = cast_bits<u32>(static_cast<float>(v));
  return op.ftz ? flush_bits(bits) : bits;
}

template <unsigned W, bool WideSource, bool WideResult>
void convert_lanes(const LaneOp& op, WarpRegs& w) {
  const u32* a = source(op, w, 0);
  u32* r = w.bank[0] + op.destination;
  for (unsigned i = 0; i < W; ++i) {
    u64 raw = a[i];
    if constexpr (WideSource) raw |= static_cast<u64>(a[W + i]) << 32;
    const u64 v = convert(raw, op);
    const u32 m = w.mask[i];
    r[i] = (static_cast<u32>(v) & m) | (r[i] & ~m);
    if constexpr (WideResult) r[W + i] = (static_cast<u32>(v >> 32) & m) | (r[W + i] & ~m);
  }
}
template <bool WideSource, bool WideResult>
LaneFunction pick_general(unsigned lanes) {
  return lanes == 32 ? &convert_lanes<32, WideSource, WideResult> : &convert_lanes<64, WideSource, WideResult>;
}

template <class R>
struct Cast {
  template <class T>
  static R apply(T v) {
    return static_cast<R>(v);
  }
};
struct WidenSingle {
  static double apply(float v) { return v != v ? cast_bits<double>(u64{0xfff8000000000000}) : static_cast<double>(v); }
};
struct NarrowSingle {
  static float apply(double v) { return v != v ? cast_bits<float>(0x7fffffffu) : static_cast<float>(v); }
};
struct TruncateSingle {
  static s32 apply(float v) {
    // The clamp keeps the conversion defined; the comparison below restores the upper limit.
    const float low = v > -2147483648.0f ? v : -2147483648.0f;
    const float clamped = low < 2147483520.0f ? low : 2147483520.0f;
    const s32 r = static_cast<s32>(clamped);
    return v != v ? 0 : v >= 2147483648.0f ? INT32_MAX : r;
  }
};

/// The frequent pairs, without saturation or flushing.
LaneFunction pick_frequent(const LaneKey& k, unsigned lanes) {
  const bool from_signed = signed_type(k.source_type);
  const unsigned from = bits_of(k.source_type), to = bits_of(k.type);
  if (!floating(k.type) && !floating(k.source_type)) {
    if (from == 32 && to == 64)
      return from_signed ? pick1<Cast<s64>, s64, s32>(lanes) : pick1<Cast<u64>, u64, u32>(lanes);
    if (from == 64 && to == 32) return pick1<Cast<u32>, u32, u64>(lanes);
    if (from == 32 && to == 32) return pick1<Cast<u32>, u32, u32>(lanes);
    if (from == 64 && to == 64) return pick1<Cast<u64>, u64, u64>(lanes);
    if (from == 16 && to == 32) {
      return from_signed ? pick1<Cast<s32>, s32, std::int16_t>(lanes) : pick1<Cast<u32>, u32, std::uint16_t>(lanes);
    }
    if (from == 8 && to == 32) {
      return from_signed ? pick1<Cast<s32>, s32, std::int8_t>(lanes) : pick1<Cast<u32>, u32, std::uint8_t>(lanes);
    }
    return nullptr;
  }
  if (k.type == Type::f32 && k.source_type == Type::s32) return pick1<Cast<float>, float, s32>(lanes);
  if (k.type == Type::f32 && k.source_type == Type::u32) return pick1<Cast<float>, float, u32>(lanes);
  if (k.type == Type::f64 && k.source_type == Type::s32) return pick1<Cast<double>, double, s32>(lanes);
  if (k.type == Type::f64 && k.source_type == Type::u32) return pick1<Cast<double>, double, u32>(lanes);
  if (k.type == Type::f64 && k.source_type == Type::f32 && k.rounding < Rounding::rni) {
    return pick1<WidenSingle, double, float>(lanes);
  }
  if (k.type == Type::f32 && k.source_type == Type::f64 && k.rounding < Rounding::rni) {
    return pick1<NarrowSingle, float, double>(lanes);
  }
  if (k.type == Type::s32 && k.source_type == Type::f32 &&
      (k.rounding == Rounding::rzi || k.rounding == Rounding::rz || k.rounding == Rounding::none)) {
    return pick1<TruncateSingle, s32, float>(lanes);
  }
  return nullptr;
}

}  // namespace

LaneFunction select_convert(const LaneKey& k, unsigned lanes) {
  if (k.op != ir::Opcode::cvt) return nullptr;
  if (!k.saturate && !k.ftz) {
    if (LaneFunction f = pick_frequent(k, lanes)) return f;
  }
  const bool wide_source = bits_of(k.source_type) == 64, wide_result = bits_of(k.type) == 64;
  if (wide_source) return wide_result ? pick_general<true, true>(lanes) : pick_general<true, false>(lanes);
  return wide_result ? pick_general<false, true>(lanes) : pick_general<false, false>(lanes);
}

}  // namespace REGATTA_LANES_ISA
}  // namespace regatta::emulator
