// SPDX-License-Identifier: Apache-2.0
//
// Moves, logic, shifts, selection and bit-field operations on all lanes, as PTX defines them.
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
constexpr u32 bits_of = 8 * sizeof(T);

struct Copy {
  template <class T>
  static T apply(T a) {
    return a;
  }
};
struct And {
  template <class T>
  static T apply(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <class T>
  static T apply(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <class T>
  static T apply(T a, T b) {
    return a ^ b;
  }
};
struct Not {
  template <class T>
  static T apply(T a) {
    return ~a;
  }
};
// Shift amounts clamp at the width. The amount that is shifted by is masked, so that no lane is undefined.
struct ShiftLeft {
  template <class T>
  static T apply(T a, u32 n) {
    return n < bits_of<T> ? static_cast<T>(a << (n & (bits_of<T> - 1))) : T{0};
  }
};
struct ShiftRight {
  template <class T>
  static T apply(T a, u32 n) {
    const u32 last = bits_of<T> - 1;
    if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(a >> (n < last ? n : last));
    } else {
      return n < bits_of<T> ? static_cast<T>(a >> (n & last)) : T{0};
    }
  }
};
inline u32 count_ones(u64 v) {
  v -= (v >> 1) & 0x5555555555555555ull;
  v = (v & 0x3333333333333333ull) + ((v >> 2) & 0x3333333333333333ull);
  v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0full;
  return static_cast<u32>((v * 0x0101010101010101ull) >> 56);
}
template <class T>
u32 leading_zeros(T v) {
  u32 n = 0;
  for (u32 step = bits_of<T> / 2; step != 0; step /= 2) {
    if ((v >> (bits_of<T> - step)) == 0) {
      n += step;
      v = static_cast<T>(v << step);
    }
  }
  return v == 0 ? bits_of<T> : n;
}
struct PopulationCount {
  template <class T>
  static u32 apply(T a) {
    return count_ones(a);
  }
};
struct CountLeadingZeros {
  template <class T>
  static u32 apply(T a) {
    return leading_zeros(a);
  }
};
struct Reverse {
  template <class T>
  static T apply(T a) {
    T r = 0;
    for (u32 i = 0; i < bits_of<T>; ++i) r = static_cast<T>((r << 1) | ((a >> i) & 1u));
    return r;
  }
};
template <bool ShiftAmount>
struct FindMostSignificant {
  template <class T>
  static u32 apply(T a) {
    using U = std::make_unsigned_t<T>;
    U v = static_cast<U>(a);
    if (std::is_signed_v<T> && a < 0) v = static_cast<U>(~v);
    if (v == 0) return 0xffffffffu;
    const u32 zeros = leading_zeros(v);
    return ShiftAmount ? zeros : bits_of<T> - 1 - zeros;
  }
};
struct ExtractField {
  template <class T>
  static T apply(T a, u32 position, u32 length) {
    using U = std::make_unsigned_t<T>;
    const u32 msb = bits_of<T> - 1;
    position &= 0xffu;
    length &= 0xffu;
    const u32 last = position + length - 1 < msb ? position + length - 1 : msb;
    const bool fill = std::is_signed_v<T> && length != 0 && ((static_cast<U>(a) >> last) & 1u) != 0;
    U r = fill ? static_cast<U>(~U{0}) : U{0};
    for (u32 i = 0; i < length && i <= msb && position + i <= msb; ++i) {
      const U bit = static_cast<U>(U{1} << i);
      r = ((static_cast<U>(a) >> (position + i)) & 1u) != 0 ? static_cast<U>(r | bit) : static_cast<U>(r & ~bit);
    }
    return static_cast<T>(r);
  }
};
struct InsertField {
  template <class T>
  static T apply(T a, T b, u32 position, u32 length) {
    position &= 0xffu;
    length &= 0xffu;
    if (position >= bits_of<T> || length == 0) return b;
    const T ones = length >= bits_of<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
    const T field = static_cast<T>(ones << position);
    return static_cast<T>((b & ~field) | ((a << position) & field));
  }
};
/// fns: counts `offset` ones from bit `base` on, upwards or (negative) downwards, the one at the base included; offset
/// 0 asks for the base itself. All ones where there is none.
struct FindNthSet {
  static u32 apply(u32 mask, u32 base, u32 offset) {
    const auto steps = static_cast<s32>(offset);
    u32 count = steps < 0 ? u32{0} - offset : offset == 0 ? 1 : offset;
    for (u32 at = base; at < 32; at = steps < 0 ? at - 1 : at + 1) {
      if ((mask >> at & 1u) != 0 && --count == 0) return at;
      if (steps == 0) break;
    }
    return ~u32{0};
  }
};
struct Permute {
  static u32 apply(u32 a, u32 b, u32 selector) {
    const u64 bytes = static_cast<u64>(a) | (static_cast<u64>(b) << 32);
    u32 r = 0;
    for (u32 i = 0; i < 4; ++i) {
      const u32 pick = (selector >> (4 * i)) & 0xfu;
      u32 byte = static_cast<u32>(bytes >> (8 * (pick & 7u))) & 0xffu;
      if ((pick & 8u) != 0) byte = (byte & 0x80u) != 0 ? 0xffu : 0u;  // replicate the sign
      r |= byte << (8 * i);
    }
    return r;
  }
};
/// One bit of every entry of a truth table at a time: whole words, no branch.
struct TruthTable {
  static u32 apply(u32 a, u32 b, u32 c, u32 table) {
    u32 r = 0;
    for (u32 entry = 0; entry < 8; ++entry) {
      const u32 holds = 0u - ((table >> entry) & 1u);
      r |= holds & ((entry & 4u) != 0 ? a : ~a) & ((entry & 2u) != 0 ? b : ~b) & ((entry & 1u) != 0 ? c : ~c);
    }
    return r;
  }
};
template <bool Left, bool Wrap>
struct Funnel {
  static u32 apply(u32 low, u32 high, u32 amount) {
    const u32 n = Wrap ? amount & 31u : (amount < 32 ? amount : 32u);
    const u64 both = (static_cast<u64>(high) << 32) | low;
    return Left ? static_cast<u32>((both << n) >> 32) : static_cast<u32>(both >> n);
  }
};

/// selp: the predicate was expanded into WarpRegs::select.
template <unsigned W, class T>
void select_lanes(const LaneOp& op, WarpRegs& w) {
  const std::uint32_t* a = source(op, w, 0);
  const std::uint32_t* b = source(op, w, 1);
  std::uint32_t* r = w.bank[0] + op.destination;
  const std::uint32_t* m = w.mask;
  const std::uint32_t* s = w.select;
  REGATTA_LANE_LOOP
  for (unsigned i = 0; i < W * (sizeof(T) / 4); ++i) {
    const unsigned lane = i & (W - 1);
    const u32 v = (a[i] & s[lane]) | (b[i] & ~s[lane]);
    r[i] = (v & m[lane]) | (r[i] & ~m[lane]);
  }
}

template <class F>
LaneFunction pick_words2(bool wide, unsigned lanes) {
  return wide ? pick2<F, u64, u64, u64>(lanes) : pick2<F, u32, u32, u32>(lanes);
}

}  // namespace

LaneFunction select_bits(const LaneKey& k, unsigned lanes) {
  const bool wide =
      k.type == ir::Type::b64 || k.type == ir::Type::u64 || k.type == ir::Type::s64 || k.type == ir::Type::f64;
  const bool is_signed = k.type == ir::Type::s16 || k.type == ir::Type::s32 || k.type == ir::Type::s64;
  const bool narrow = k.type == ir::Type::b16 || k.type == ir::Type::u16 || k.type == ir::Type::s16;
  switch (k.op) {
    case ir::Opcode::mov:
      return wide ? pick1<Copy, u64, u64>(lanes) : pick1<Copy, u32, u32>(lanes);
    case ir::Opcode::and_:
      return pick_words2<And>(wide, lanes);
    case ir::Opcode::or_:
      return pick_words2<Or>(wide, lanes);
    case ir::Opcode::xor_:
      return pick_words2<Xor>(wide, lanes);
    case ir::Opcode::not_:
      return wide ? pick1<Not, u64, u64>(lanes) : pick1<Not, u32, u32>(lanes);
    case ir::Opcode::shl:
      if (narrow) return pick2<ShiftLeft, u16, u16, u32>(lanes);
      return wide ? pick2<ShiftLeft, u64, u64, u32>(lanes) : pick2<ShiftLeft, u32, u32, u32>(lanes);
    case ir::Opcode::shr:
      if (is_signed) {
        if (narrow) return pick2<ShiftRight, s16, s16, u32>(lanes);
        return wide ? pick2<ShiftRight, s64, s64, u32>(lanes) : pick2<ShiftRight, s32, s32, u32>(lanes);
      }
      if (narrow) return pick2<ShiftRight, u16, u16, u32>(lanes);
      return wide ? pick2<ShiftRight, u64, u64, u32>(lanes) : pick2<ShiftRight, u32, u32, u32>(lanes);
    case ir::Opcode::selp:
      if (wide) return lanes == 32 ? &select_lanes<32, u64> : &select_lanes<64, u64>;
      return lanes == 32 ? &select_lanes<32, u32> : &select_lanes<64, u32>;
    case ir::Opcode::popc:
      return wide ? pick1<PopulationCount, u32, u64>(lanes) : pick1<PopulationCount, u32, u32>(lanes);
    case ir::Opcode::clz:
      return wide ? pick1<CountLeadingZeros, u32, u64>(lanes) : pick1<CountLeadingZeros, u32, u32>(lanes);
    case ir::Opcode::brev:
      return wide ? pick1<Reverse, u64, u64>(lanes) : pick1<Reverse, u32, u32>(lanes);
    case ir::Opcode::bfind:
      if (k.shift_amount) {
        using F = FindMostSignificant<true>;
        if (is_signed) return wide ? pick1<F, u32, s64>(lanes) : pick1<F, u32, s32>(lanes);
        return wide ? pick1<F, u32, u64>(lanes) : pick1<F, u32, u32>(lanes);
      } else {
        using F = FindMostSignificant<false>;
        if (is_signed) return wide ? pick1<F, u32, s64>(lanes) : pick1<F, u32, s32>(lanes);
        return wide ? pick1<F, u32, u64>(lanes) : pick1<F, u32, u32>(lanes);
      }
    case ir::Opcode::bfe:
      if (is_signed) {
        return wide ? pick3<ExtractField, s64, s64, u32, u32>(lanes) : pick3<ExtractField, s32, s32, u32, u32>(lanes);
      }
      return wide ? pick3<ExtractField, u64, u64, u32, u32>(lanes) : pick3<ExtractField, u32, u32, u32, u32>(lanes);
    case ir::Opcode::bfi:
      return wide ? pick4<InsertField, u64, u64, u64, u32, u32>(lanes)
                  : pick4<InsertField, u32, u32, u32, u32, u32>(lanes);
    case ir::Opcode::fns:
      return pick3<FindNthSet, u32, u32, u32, u32>(lanes);
    case ir::Opcode::prmt:
      return pick3<Permute, u32, u32, u32, u32>(lanes);
    case ir::Opcode::lop3:
      return pick4<TruthTable, u32, u32, u32, u32, u32>(lanes);
    case ir::Opcode::shf:
      if (k.left) {
        return k.wrap ? pick3<Funnel<true, true>, u32, u32, u32, u32>(lanes)
                      : pick3<Funnel<true, false>, u32, u32, u32, u32>(lanes);
      }
      return k.wrap ? pick3<Funnel<false, true>, u32, u32, u32, u32>(lanes)
                    : pick3<Funnel<false, false>, u32, u32, u32, u32>(lanes);
    default:
      return nullptr;
  }
}

}  // namespace REGATTA_LANES_ISA
}  // namespace regatta::emulator
