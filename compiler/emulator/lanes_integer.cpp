// SPDX-License-Identifier: Apache-2.0
//
// Integer add, multiply, divide, compare and carry chains on all lanes. Wrap-around is modulo 2^n; division by
// zero gives all ones and the remainder the dividend, as the hardware's sequence does.
#include "lanes_common.h"

namespace regatta::emulator {
namespace REGATTA_LANES_ISA {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
template <class T>
using Unsigned = std::make_unsigned_t<T>;
template <class T>
constexpr bool signed_v = std::is_signed_v<T>;

struct Add {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a + b);
  }
};
struct Subtract {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a - b);
  }
};
struct AddSaturated {
  static s32 apply(s32 a, s32 b) {
    const s64 v = static_cast<s64>(a) + b;
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : static_cast<s32>(v);
  }
};
struct SubtractSaturated {
  static s32 apply(s32 a, s32 b) {
    const s64 v = static_cast<s64>(a) - b;
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : static_cast<s32>(v);
  }
};
template <class T>
T low_product(T a, T b) {
  // 16-bit factors would be promoted to a signed int that can overflow.
  if constexpr (sizeof(T) < 4) {
    return static_cast<T>(static_cast<u32>(a) * static_cast<u32>(b));
  } else {
    return static_cast<T>(static_cast<Unsigned<T>>(a) * static_cast<Unsigned<T>>(b));
  }
}
inline u64 high_product(u64 a, u64 b) {
  const u64 al = static_cast<u32>(a), ah = a >> 32, bl = static_cast<u32>(b), bh = b >> 32;
  const u64 low = al * bl, mid1 = ah * bl, mid2 = al * bh;
  const u64 carry = ((low >> 32) + static_cast<u32>(mid1) + static_cast<u32>(mid2)) >> 32;
  return ah * bh + (mid1 >> 32) + (mid2 >> 32) + carry;
}
template <class T>
T high_part(T a, T b) {
  if constexpr (std::is_same_v<T, u64>) {
    return high_product(a, b);
  } else if constexpr (std::is_same_v<T, s64>) {
    u64 high = high_product(static_cast<u64>(a), static_cast<u64>(b));
    high -= a < 0 ? static_cast<u64>(b) : 0;
    high -= b < 0 ? static_cast<u64>(a) : 0;
    return static_cast<s64>(high);
  } else {
    using Wide = std::conditional_t<signed_v<T>, s64, u64>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (8 * sizeof(T)));
  }
}
struct MultiplyLow {
  template <class T>
  static T apply(T a, T b) {
    return low_product(a, b);
  }
};
struct MultiplyHigh {
  template <class T>
  static T apply(T a, T b) {
    return high_part(a, b);
  }
};
template <class R>
struct MultiplyWide {
  template <class T>
  static R apply(T a, T b) {
    return static_cast<R>(static_cast<R>(a) * static_cast<R>(b));
  }
};
struct Add3 {
  template <class T>
  static T apply(T a, T b, T c) {
    return static_cast<T>(a + b + c);
  }
};
struct ShiftAdd {
  template <class T>
  static T apply(T a, T b, u32 shift) {
    return static_cast<T>((a << (shift & 31u)) + b);
  }
};
struct MadLow {
  template <class T>
  static T apply(T a, T b, T c) {
    return static_cast<T>(low_product(a, b) + c);
  }
};
struct MadHigh {
  template <class T>
  static T apply(T a, T b, T c) {
    return static_cast<T>(static_cast<Unsigned<T>>(high_part(a, b)) + static_cast<Unsigned<T>>(c));
  }
};
struct MadHighSaturated {
  static s32 apply(s32 a, s32 b, s32 c) { return AddSaturated::apply(high_part(a, b), c); }
};
template <class R>
struct MadWide {
  template <class T>
  static R apply(T a, T b, R c) {
    const R product = static_cast<R>(static_cast<R>(a) * static_cast<R>(b));
    return static_cast<R>(static_cast<Unsigned<R>>(product) + static_cast<Unsigned<R>>(c));
  }
};
struct Divide {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if (signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(Unsigned<T>{0} - static_cast<Unsigned<T>>(a));
    return static_cast<T>(a / b);
  }
};
struct Remainder {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return a;
    if (signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
struct Negate {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(Unsigned<T>{0} - static_cast<Unsigned<T>>(a));
  }
};
struct Absolute {
  template <class T>
  static T apply(T a) {
    return a < 0 ? Negate::apply(a) : a;
  }
};
struct Minimum {
  template <class T>
  static T apply(T a, T b) {
    return b < a ? b : a;
  }
};
struct Maximum {
  template <class T>
  static T apply(T a, T b) {
    return a < b ? b : a;
  }
};
struct AbsoluteDifference {
  template <class T>
  static T apply(T a, T b, T c) {
    const auto x = static_cast<Unsigned<T>>(a), y = static_cast<Unsigned<T>>(b);
    const auto d = a < b ? static_cast<Unsigned<T>>(y - x) : static_cast<Unsigned<T>>(x - y);
    return static_cast<T>(d + static_cast<Unsigned<T>>(c));
  }
};
/// dp4a: the bytes of a word as A and B have them, signed or not; the sum wraps.
template <class A, class B>
struct DotBytes {
  template <class T>
  static s32 byte(u32 word, u32 n) {
    const u32 v = (word >> (8 * n)) & 0xffu;
    return std::is_signed_v<T> ? static_cast<s32>((v ^ 0x80u) - 0x80u) : static_cast<s32>(v);
  }
  static u32 apply(u32 a, u32 b, u32 c) {
    for (u32 n = 0; n < 4; ++n) c += static_cast<u32>(byte<A>(a, n) * byte<B>(b, n));
    return c;
  }
};
/// dp2a: the halves of a word as A has them, times two of the bytes of another as B has them; the sum wraps.
template <class A, class B, unsigned First>
struct DotHalves {
  static u32 apply(u32 a, u32 b, u32 c) {
    for (u32 n = 0; n < 2; ++n) {
      const u32 v = (a >> (16 * n)) & 0xffffu;
      const s32 half = std::is_signed_v<A> ? static_cast<s32>((v ^ 0x8000u) - 0x8000u) : static_cast<s32>(v);
      c += static_cast<u32>(half * DotBytes<A, B>::template byte<B>(b, First + n));
    }
    return c;
  }
};
/// F on both halves of a word.
template <class F, class T>
struct OnPairs {
  static u32 apply(u32 a, u32 b) {
    const auto half = [](u32 x, u32 y) {
      return u32{static_cast<u16>(F::apply(static_cast<T>(static_cast<u16>(x)), static_cast<T>(static_cast<u16>(y))))};
    };
    return half(a, b) | half(a >> 16, b >> 16) << 16;
  }
};
struct Equal {
  template <class T>
  static bool apply(T a, T b) {
    return a == b;
  }
};
struct Less {
  template <class T>
  static bool apply(T a, T b) {
    return a < b;
  }
};
struct LessEqual {
  template <class T>
  static bool apply(T a, T b) {
    return a <= b;
  }
};

/// a + b + carry in, or a + ~b + carry in, where no carry stands for a borrow; the carry out goes to WarpRegs::carry.
template <unsigned W, class T, bool Subtracts, bool UsesCarry>
void carry_chain(const LaneOp& op, WarpRegs& w) {
  const std::uint32_t* a = source(op, w, 0);
  const std::uint32_t* b = source(op, w, 1);
  std::uint32_t* r = w.bank[0] + op.destination;
  for (unsigned i = 0; i < W; ++i) {
    const T x = load_lane<W, T>(a, i), y = load_lane<W, T>(b, i);
    const T in = UsesCarry ? static_cast<T>(w.carry[i]) : T{Subtracts};
    const T addend = Subtracts ? static_cast<T>(~y) : y;
    const T value = static_cast<T>(x + addend + in);
    const bool out = value < x || (in != 0 && value == x);
    store_lane<W, T>(r, w.mask[i], i, value);
    if (op.carry_out && w.mask[i] != 0) w.carry[i] = out ? 1u : 0u;
  }
}
template <bool Subtracts, bool UsesCarry>
LaneFunction pick_carry(ir::Type type, unsigned lanes) {
  if (ir::Type::b64 == type || ir::Type::u64 == type || ir::Type::s64 == type) {
    return lanes == 32 ? &carry_chain<32, u64, Subtracts, UsesCarry> : &carry_chain<64, u64, Subtracts, UsesCarry>;
  }
  return lanes == 32 ? &carry_chain<32, u32, Subtracts, UsesCarry> : &carry_chain<64, u32, Subtracts, UsesCarry>;
}

// Instantiates a two-source operation for the type of the instruction.
template <class F>
LaneFunction pick_any(ir::Type type, unsigned lanes) {
  switch (type) {
    case ir::Type::u16:
    case ir::Type::b16:
      return pick2<F, u16, u16, u16>(lanes);
    case ir::Type::s16:
      return pick2<F, s16, s16, s16>(lanes);
    case ir::Type::u32:
    case ir::Type::b32:
      return pick2<F, u32, u32, u32>(lanes);
    case ir::Type::s32:
      return pick2<F, s32, s32, s32>(lanes);
    case ir::Type::u64:
    case ir::Type::b64:
      return pick2<F, u64, u64, u64>(lanes);
    case ir::Type::s64:
      return pick2<F, s64, s64, s64>(lanes);
    default:
      return nullptr;
  }
}
template <class F>
LaneFunction pick_any_or_pair(ir::Type type, unsigned lanes) {
  if (type == ir::Type::u16x2) return pick2<OnPairs<F, u16>, u32, u32, u32>(lanes);
  if (type == ir::Type::s16x2) return pick2<OnPairs<F, s16>, u32, u32, u32>(lanes);
  return pick_any<F>(type, lanes);
}
template <template <class, class> class F>
LaneFunction pick_dot(const LaneKey& k, unsigned lanes) {
  if (k.type == ir::Type::s32) {
    return k.source_type == ir::Type::s32 ? pick3<F<s32, s32>, u32, u32, u32, u32>(lanes)
                                          : pick3<F<s32, u32>, u32, u32, u32, u32>(lanes);
  }
  return k.source_type == ir::Type::s32 ? pick3<F<u32, s32>, u32, u32, u32, u32>(lanes)
                                        : pick3<F<u32, u32>, u32, u32, u32, u32>(lanes);
}
template <class A, class B>
using DotLowBytes = DotHalves<A, B, 0>;
template <class A, class B>
using DotHighBytes = DotHalves<A, B, 2>;
template <class F>
LaneFunction pick_any3(ir::Type type, unsigned lanes) {
  switch (type) {
    case ir::Type::u16:
    case ir::Type::b16:
      return pick3<F, u16, u16, u16, u16>(lanes);
    case ir::Type::s16:
      return pick3<F, s16, s16, s16, s16>(lanes);
    case ir::Type::u32:
    case ir::Type::b32:
      return pick3<F, u32, u32, u32, u32>(lanes);
    case ir::Type::s32:
      return pick3<F, s32, s32, s32, s32>(lanes);
    case ir::Type::u64:
    case ir::Type::b64:
      return pick3<F, u64, u64, u64, u64>(lanes);
    case ir::Type::s64:
      return pick3<F, s64, s64, s64, s64>(lanes);
    default:
      return nullptr;
  }
}
// Operations that do not care for the sign share the unsigned code.
ir::Type without_sign(ir::Type type) {
  switch (type) {
    case ir::Type::s16:
    case ir::Type::b16:
      return ir::Type::u16;
    case ir::Type::s32:
    case ir::Type::b32:
      return ir::Type::u32;
    case ir::Type::s64:
    case ir::Type::b64:
      return ir::Type::u64;
    default:
      return type;
  }
}
template <class F>
LaneFunction pick_signed1(ir::Type type, unsigned lanes) {
  switch (type) {
    case ir::Type::s16:
      return pick1<F, s16, s16>(lanes);
    case ir::Type::s32:
      return pick1<F, s32, s32>(lanes);
    case ir::Type::s64:
      return pick1<F, s64, s64>(lanes);
    default:
      return nullptr;
  }
}
template <class F>
LaneFunction pick_any_compare(ir::Type type, unsigned lanes) {
  switch (type) {
    case ir::Type::u8:
    case ir::Type::b8:
      return pick_compare<F, std::uint8_t>(lanes);
    case ir::Type::s8:
      return pick_compare<F, std::int8_t>(lanes);
    case ir::Type::u16:
    case ir::Type::b16:
      return pick_compare<F, u16>(lanes);
    case ir::Type::s16:
      return pick_compare<F, s16>(lanes);
    case ir::Type::u32:
    case ir::Type::b32:
      return pick_compare<F, u32>(lanes);
    case ir::Type::s32:
      return pick_compare<F, s32>(lanes);
    case ir::Type::u64:
    case ir::Type::b64:
      return pick_compare<F, u64>(lanes);
    case ir::Type::s64:
      return pick_compare<F, s64>(lanes);
    default:
      return nullptr;
  }
}
template <template <class> class F>
LaneFunction pick_wide(ir::Type type, unsigned lanes, bool mad) {
  switch (type) {
    case ir::Type::u16:
      return mad ? pick3<MadWide<u32>, u32, u16, u16, u32>(lanes) : pick2<F<u32>, u32, u16, u16>(lanes);
    case ir::Type::s16:
      return mad ? pick3<MadWide<s32>, s32, s16, s16, s32>(lanes) : pick2<F<s32>, s32, s16, s16>(lanes);
    case ir::Type::u32:
      return mad ? pick3<MadWide<u64>, u64, u32, u32, u64>(lanes) : pick2<F<u64>, u64, u32, u32>(lanes);
    case ir::Type::s32:
      return mad ? pick3<MadWide<s64>, s64, s32, s32, s64>(lanes) : pick2<F<s64>, s64, s32, s32>(lanes);
    default:
      return nullptr;
  }
}

}  // namespace

LaneFunction select_integer(const LaneKey& k, unsigned lanes) {
  const ir::Type plain = without_sign(k.type);
  switch (k.op) {
    case ir::Opcode::add:
      if (k.saturate) return k.type == ir::Type::s32 ? pick2<AddSaturated, s32, s32, s32>(lanes) : nullptr;
      return pick_any_or_pair<Add>(plain, lanes);
    case ir::Opcode::sub:
      if (k.saturate) return k.type == ir::Type::s32 ? pick2<SubtractSaturated, s32, s32, s32>(lanes) : nullptr;
      return pick_any<Subtract>(plain, lanes);
    case ir::Opcode::add_cc:
      return pick_carry<false, false>(k.type, lanes);
    case ir::Opcode::addc:
      return pick_carry<false, true>(k.type, lanes);
    case ir::Opcode::sub_cc:
      return pick_carry<true, false>(k.type, lanes);
    case ir::Opcode::subc:
      return pick_carry<true, true>(k.type, lanes);
    case ir::Opcode::mul_lo:
      return pick_any<MultiplyLow>(plain, lanes);
    case ir::Opcode::mul_hi:
      return pick_any<MultiplyHigh>(k.type, lanes);
    case ir::Opcode::mul_wide:
      return pick_wide<MultiplyWide>(k.type, lanes, false);
    case ir::Opcode::add3:
      return pick_any3<Add3>(plain, lanes);
    case ir::Opcode::lea:
      return ir::size_of(k.type) == 4 ? pick3<ShiftAdd, u32, u32, u32, u32>(lanes) : nullptr;
    case ir::Opcode::mad_lo:
      return pick_any3<MadLow>(plain, lanes);
    case ir::Opcode::mad_hi:
      if (k.saturate) return k.type == ir::Type::s32 ? pick3<MadHighSaturated, s32, s32, s32, s32>(lanes) : nullptr;
      return pick_any3<MadHigh>(k.type, lanes);
    case ir::Opcode::mad_wide:
      return pick_wide<MultiplyWide>(k.type, lanes, true);
    case ir::Opcode::div:
      return pick_any<Divide>(k.type, lanes);
    case ir::Opcode::rem:
      return pick_any<Remainder>(k.type, lanes);
    case ir::Opcode::neg:
      return pick_signed1<Negate>(k.type, lanes);
    case ir::Opcode::abs:
      return pick_signed1<Absolute>(k.type, lanes);
    case ir::Opcode::min:
      return pick_any_or_pair<Minimum>(k.type, lanes);
    case ir::Opcode::max:
      return pick_any_or_pair<Maximum>(k.type, lanes);
    case ir::Opcode::sad:
      return pick_any3<AbsoluteDifference>(k.type, lanes);
    case ir::Opcode::dp4a:
      return pick_dot<DotBytes>(k, lanes);
    case ir::Opcode::dp2a_lo:
      return pick_dot<DotLowBytes>(k, lanes);
    case ir::Opcode::dp2a_hi:
      return pick_dot<DotHighBytes>(k, lanes);
    case ir::Opcode::setp:
    case ir::Opcode::set:
      if (k.compare == ir::Compare::eq) return pick_any_compare<Equal>(k.type, lanes);
      if (k.compare == ir::Compare::lt) return pick_any_compare<Less>(k.type, lanes);
      if (k.compare == ir::Compare::le) return pick_any_compare<LessEqual>(k.type, lanes);
      return nullptr;
    default:
      return nullptr;
  }
}

}  // namespace REGATTA_LANES_ISA
}  // namespace regatta::emulator
