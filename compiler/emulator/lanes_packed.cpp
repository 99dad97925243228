// SPDX-License-Identifier: Apache-2.0
//
// Packed and narrow formats: cvt to and from floats of 8 bits, tf32 and pairs, .relu and .satfinite, min and max of
// magnitudes, vabsdiff4.
#include "byte_floats.h"
#include "lanes_common.h"

namespace regatta::emulator {
namespace REGATTA_LANES_ISA {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using ir::Opcode;
using ir::Type;

double single(u32 bits) { return static_cast<double>(cast_bits<float>(bits)); }

/// .satfinite and .relu on the bits of a result whose number of largest magnitude is `largest`. NaN is canonical, and
/// so neither infinite nor negative.
u32 limited(const LaneOp& op, u32 v, u32 sign, u32 infinity, u32 largest) {
  if (op.satfinite && (v & (sign - 1)) == infinity) v = (v & sign) | largest;
  return op.relu && (v & sign) != 0 ? 0u : v;
}
template <class Format>
u32 to_half(const LaneOp& op, double v) {
  constexpr u32 infinity = (2u * Format::top + 1) << Format::fraction;
  return limited(op, ir::double_to_small<Format>(v, op.rounding), 0x8000u, infinity, infinity - 1);
}
template <class Format>
u32 to_byte(const LaneOp& op, double v) {
  const u32 r = double_to_byte<Format>(v);
  return op.relu && r > 0x7fu ? 0u : r;
}

struct ToTf32 {
  static u32 apply(const LaneOp& op, u32 a, u32) {
    return limited(op, single_to_tf32(a, op.rounding), 0x80000000u, 0x7f800000u, 0x7f7fe000u);
  }
};
template <class Format>
struct ToHalf {
  static u32 apply(const LaneOp& op, u32 a, u32) { return to_half<Format>(op, single(a)); }
};
/// The first source goes to the upper half.
template <class Format>
struct ToHalfPair {
  static u32 apply(const LaneOp& op, u32 a, u32 b) {
    return to_half<Format>(op, single(a)) << 16 | to_half<Format>(op, single(b));
  }
};
template <class Format>
struct ToBytePair {
  static u32 apply(const LaneOp& op, u32 a, u32 b) {
    return to_byte<Format>(op, single(a)) << 8 | to_byte<Format>(op, single(b));
  }
};
template <class Format>
struct HalvesToBytes {
  static u32 apply(const LaneOp& op, u32 a, u32) {
    const double low = ir::small_to_double<Binary16>(a & 0xffffu), high = ir::small_to_double<Binary16>(a >> 16);
    return to_byte<Format>(op, high) << 8 | to_byte<Format>(op, low);
  }
};
template <class Format>
struct BytesToHalves {
  static u32 apply(const LaneOp& op, u32 a, u32) {
    const double low = byte_to_double<Format>(a & 0xffu), high = byte_to_double<Format>(a >> 8 & 0xffu);
    return to_half<Binary16>(op, high) << 16 | to_half<Binary16>(op, low);
  }
};

template <unsigned W, class F, bool TwoSources>
void convert(const LaneOp& op, WarpRegs& w) {
  const u32* a = source(op, w, 0);
  const u32* b = TwoSources ? source(op, w, 1) : a;
  u32* r = w.bank[0] + op.destination;
  for (unsigned i = 0; i < W; ++i) {
    const u32 m = w.mask[i];
    r[i] = (F::apply(op, a[i], b[i]) & m) | (r[i] & ~m);
  }
}
template <class F, bool TwoSources = false>
LaneFunction pick(unsigned lanes) {
  return lanes == 32 ? &convert<32, F, TwoSources> : &convert<64, F, TwoSources>;
}

LaneFunction pick_convert(const LaneKey& k, unsigned lanes) {
  if (k.source_type == Type::e4m3x2) return k.type == Type::f16x2 ? pick<BytesToHalves<E4m3>>(lanes) : nullptr;
  if (k.source_type == Type::e5m2x2) return k.type == Type::f16x2 ? pick<BytesToHalves<E5m2>>(lanes) : nullptr;
  if (k.source_type == Type::f16x2) {
    if (k.type == Type::e4m3x2) return pick<HalvesToBytes<E4m3>>(lanes);
    return k.type == Type::e5m2x2 ? pick<HalvesToBytes<E5m2>>(lanes) : nullptr;
  }
  if (k.source_type != Type::f32) return nullptr;
  if (k.type == Type::tf32) return pick<ToTf32>(lanes);
  if (k.sources == 2) {
    switch (k.type) {
      case Type::f16x2:
        return pick<ToHalfPair<Binary16>, true>(lanes);
      case Type::bf16x2:
        return pick<ToHalfPair<BFloat16>, true>(lanes);
      case Type::e4m3x2:
        return pick<ToBytePair<E4m3>, true>(lanes);
      case Type::e5m2x2:
        return pick<ToBytePair<E5m2>, true>(lanes);
      default:
        return nullptr;
    }
  }
  if (!k.relu && !k.satfinite) return nullptr;
  if (k.type == Type::f16) return pick<ToHalf<Binary16>>(lanes);
  return k.type == Type::bf16 ? pick<ToHalf<BFloat16>>(lanes) : nullptr;
}

/// min.xorsign.abs and max.xorsign.abs on bits, whose order is that of the magnitudes. A NaN loses, or wins with
/// .NaN; its sign counts as any other.
template <bool Largest, bool Nan, bool Ftz, u32 Infinity, u32 Sign, u32 Canonical>
u32 extreme(u32 a, u32 b) {
  constexpr u32 least_normal = Infinity & (~Infinity + 1);
  const u32 sign = (a ^ b) & Sign;
  u32 x = a & (Sign - 1), y = b & (Sign - 1);
  if (Ftz && x < least_normal) x = 0;
  if (Ftz && y < least_normal) y = 0;
  const bool no_x = x > Infinity, no_y = y > Infinity;
  if ((no_x && no_y) || (Nan && (no_x || no_y))) return Canonical;
  if (no_x) return sign | y;
  if (no_y) return sign | x;
  const bool first = Largest ? x > y : x < y;
  return sign | (first ? x : y);
}
template <bool Largest, bool Nan, bool Ftz>
struct ExtremeSingle {
  static u32 apply(u32 a, u32 b) { return extreme<Largest, Nan, Ftz, 0x7f800000u, 0x80000000u, 0x7fffffffu>(a, b); }
};
template <bool Largest, bool Nan, bool Ftz, class Format, bool Pair>
struct ExtremeHalves {
  static u32 apply(u32 a, u32 b) {
    constexpr u32 infinity = (2u * Format::top + 1) << Format::fraction;
    const auto half = [](u32 x, u32 y) { return extreme<Largest, Nan, Ftz, infinity, 0x8000u, 0x7fffu>(x, y); };
    const u32 low = half(a & 0xffffu, b & 0xffffu);
    return Pair ? low | half(a >> 16, b >> 16) << 16 : low;
  }
};
template <bool Largest, bool Nan, bool Ftz>
LaneFunction pick_extreme(const LaneKey& k, unsigned lanes) {
  switch (k.type) {
    case Type::f32:
      return pick2<ExtremeSingle<Largest, Nan, Ftz>, u32, u32, u32>(lanes);
    case Type::f16:
      return pick2<ExtremeHalves<Largest, Nan, Ftz, Binary16, false>, u32, u32, u32>(lanes);
    case Type::f16x2:
      return pick2<ExtremeHalves<Largest, Nan, Ftz, Binary16, true>, u32, u32, u32>(lanes);
    case Type::bf16:
      return pick2<ExtremeHalves<Largest, Nan, Ftz, BFloat16, false>, u32, u32, u32>(lanes);
    case Type::bf16x2:
      return pick2<ExtremeHalves<Largest, Nan, Ftz, BFloat16, true>, u32, u32, u32>(lanes);
    default:
      return nullptr;
  }
}
template <bool Largest>
LaneFunction pick_extreme(const LaneKey& k, unsigned lanes) {
  if (k.ftz) return k.nan ? pick_extreme<Largest, true, true>(k, lanes) : pick_extreme<Largest, false, true>(k, lanes);
  return k.nan ? pick_extreme<Largest, true, false>(k, lanes) : pick_extreme<Largest, false, false>(k, lanes);
}

/// |a - b| of the bytes of two words.
template <bool Signed>
struct ByteDifferences {
  static u32 difference(u32 a, u32 b, unsigned n) {
    const u32 flip = Signed ? 0x80u : 0u;  // keeps the order
    const u32 x = (a >> (8 * n) & 0xffu) ^ flip, y = (b >> (8 * n) & 0xffu) ^ flip;
    return x > y ? x - y : y - x;
  }
  static u32 apply(u32 a, u32 b) {
    u32 r = 0;
    for (unsigned n = 0; n < 4; ++n) r |= difference(a, b, n) << (8 * n);
    return r;
  }
  static u32 apply(u32 a, u32 b, u32 c) {
    for (unsigned n = 0; n < 4; ++n) c += difference(a, b, n);
    return c;
  }
};
template <bool Signed>
LaneFunction pick_differences(const LaneKey& k, unsigned lanes) {
  using F = ByteDifferences<Signed>;
  return k.sources > 2 ? pick3<F, u32, u32, u32, u32>(lanes) : pick2<F, u32, u32, u32>(lanes);
}

}  // namespace

LaneFunction select_packed(const LaneKey& k, unsigned lanes) {
  switch (k.op) {
    case Opcode::cvt:
      return pick_convert(k, lanes);
    case Opcode::min:
      return k.xorsign ? pick_extreme<false>(k, lanes) : nullptr;
    case Opcode::max:
      return k.xorsign ? pick_extreme<true>(k, lanes) : nullptr;
    case Opcode::vabsdiff4:
      return k.type == Type::s32 ? pick_differences<true>(k, lanes) : pick_differences<false>(k, lanes);
    default:
      return nullptr;
  }
}

}  // namespace REGATTA_LANES_ISA
}  // namespace regatta::emulator
