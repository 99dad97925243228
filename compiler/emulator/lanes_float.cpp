// SPDX-License-Identifier: Apache-2.0
//
// Floating point on all lanes. add, sub, mul, fma, div, sqrt and rcp are the IEEE operation rounded once (the caller
// sets the rounding direction); NaN results are canonical (f32 0x7fffffff, f64
// 0xfff8000000000000, f16 and bf16 0x7fff, as CUDA's math_constants.h has them); the approximate functions are
// computed in double and rounded to f32, which is closer than any hardware unit. f16 and bf16 compute in double.
#include "lanes_common.h"

#include <cmath>

namespace regatta::emulator {
namespace REGATTA_LANES_ISA {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct Add {
  template <class T>
  static T apply(T a, T b) {
    return a + b;
  }
};
struct Subtract {
  template <class T>
  static T apply(T a, T b) {
    return a - b;
  }
};
struct Multiply {
  template <class T>
  static T apply(T a, T b) {
    return a * b;
  }
};
struct Divide {
  template <class T>
  static T apply(T a, T b) {
    return a / b;
  }
};
struct FusedMultiplyAdd {
  template <class T>
  static T apply(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};
struct FusedNegatedMultiplyAdd {
  template <class T>
  static T apply(T a, T b, T c) {
    return std::fma(-a, b, c);
  }
};
struct FusedMultiplyAddHalf {
  // The product of two halves is exact in double; the sum is rounded to odd, so that rounding it to half
  // afterwards is as if the exact sum had been rounded.
  static double apply(double a, double b, double c) {
    const double p = a * b;
    const double s = p + c;
    const double t = s - p;
    const double error = (p - (s - t)) + (c - t);
    u64 bits = cast_bits<u64>(s);
    if (error != 0 && (bits & 1u) == 0 && s - s == 0) {
      const bool away = (error > 0) == (s > 0);
      bits = away ? bits + 1 : bits - 1;
    }
    return cast_bits<double>(bits);
  }
};
struct SquareRoot {
  template <class T>
  static T apply(T a) {
    return std::sqrt(a);
  }
};
struct Reciprocal {
  template <class T>
  static T apply(T a) {
    return T{1} / a;
  }
};
struct ReciprocalRoot {
  static float apply(float a) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a))); }
  static double apply(double a) { return 1.0 / std::sqrt(a); }
};
struct Exp2 {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(std::exp2(static_cast<double>(a)));
  }
};
struct Log2 {
  static float apply(float a) { return static_cast<float>(std::log2(static_cast<double>(a))); }
};
struct Sine {
  static float apply(float a) { return static_cast<float>(std::sin(static_cast<double>(a))); }
};
struct Cosine {
  static float apply(float a) { return static_cast<float>(std::cos(static_cast<double>(a))); }
};
struct HyperbolicTangent {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(std::tanh(static_cast<double>(a)));
  }
};
struct Negate {
  template <class T>
  static T apply(T a) {
    return -a;
  }
};
struct Absolute {
  template <class T>
  static T apply(T a) {
    return std::fabs(a);
  }
};
// The number wins over a NaN, and -0 is below +0.
template <class T>
inline bool is_negative(T v) {
  if constexpr (sizeof(T) == 4) {
    return (cast_bits<u32>(v) >> 31) != 0;
  } else {
    return (cast_bits<u64>(v) >> 63) != 0;
  }
}
struct Minimum {
  template <class T>
  static T apply(T a, T b) {
    const T smaller = a < b ? a : b;
    const T chosen = a == b ? (is_negative(a) ? a : b) : smaller;
    return a != a ? b : b != b ? a : chosen;
  }
};
struct Maximum {
  template <class T>
  static T apply(T a, T b) {
    const T larger = a > b ? a : b;
    const T chosen = a == b ? (is_negative(a) ? b : a) : larger;
    return a != a ? b : b != b ? a : chosen;
  }
};
struct MinimumOrNan {
  template <class T>
  static T apply(T a, T b) {
    return a != a ? a : b != b ? b : Minimum::apply(a, b);
  }
};
struct MaximumOrNan {
  template <class T>
  static T apply(T a, T b) {
    return a != a ? a : b != b ? b : Maximum::apply(a, b);
  }
};
struct Equal {
  template <class T>
  static bool apply(T a, T b) {
    return a == b;
  }
};
struct NotEqualOrdered {
  template <class T>
  static bool apply(T a, T b) {
    return a < b || a > b;
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
struct BothNumbers {
  template <class T>
  static bool apply(T a, T b) {
    return a == a && b == b;
  }
};

/// Whether a zero, an infinity, a NaN or a subnormal number takes part in a division, or may do so in its refinement:
/// the product of quotient and divisor has 48 bits, all of which must count.
struct SlowDivision {
  static bool apply(float a, float b) {
    const int exponent_a = static_cast<int>((cast_bits<u32>(a) >> 23) & 0xffu);
    const int exponent_b = static_cast<int>((cast_bits<u32>(b) >> 23) & 0xffu);
    const int quotient = exponent_a - exponent_b;
    return exponent_a < 27 || exponent_a == 255 || exponent_b < 1 || exponent_b > 252 || quotient < -124 ||
           quotient > 125;
  }
};

inline float flush(float v) {
  const u32 bits = cast_bits<u32>(v);
  return cast_bits<float>((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}
inline double flush(double v) { return v; }
inline float canonical(float v) { return v != v ? cast_bits<float>(0x7fffffffu) : v; }
inline double canonical(double v) { return v != v ? cast_bits<double>(u64{0xfff8000000000000u}) : v; }
template <class T>
inline T clamp_to_unit(T v) {
  const T low = v > T{0} ? v : T{0};  // NaN and -0 become +0
  return low < T{1} ? low : T{1};
}

/// An operation on both halves of a word.
template <class F>
struct Pairwise {
  template <class... P>
  static Pair apply(P... v) {
    return {F::apply(v.low...), F::apply(v.high...)};
  }
};

/// rcp and rsqrt .approx.ftz.f64 see and give the upper word only: 20 bits of fraction.
template <class F>
struct UpperWord {
  static double apply(double a) {
    u64 in = cast_bits<u64>(a) & 0xffffffff00000000u;
    if ((in & 0x7ff0000000000000u) == 0) in &= 0x8000000000000000u;
    const u64 out = cast_bits<u64>(canonical(F::apply(cast_bits<double>(in))));
    if ((out & 0x7ff0000000000000u) == 0) return cast_bits<double>(out & 0x8000000000000000u);
    return cast_bits<double>((out + 0x7fffffffu) & 0xffffffff00000000u);
  }
};

/// An operation with its .ftz and .sat around it.
template <class F, bool Ftz, bool Saturate>
struct Modified {
  template <class... T>
  static auto apply(T... v) {
    auto r = F::apply((Ftz ? flush(v) : v)...);
    if (Ftz) r = flush(r);
    r = canonical(r);
    return Saturate ? clamp_to_unit(r) : r;
  }
};
template <class F>
struct Flushed {
  template <class T>
  static bool apply(T a, T b) {
    return F::apply(flush(a), flush(b));
  }
};

/// Halves and pairs of them, with and without flushing; `Pick` is one of Pick1 to Pick3.
template <class F, class Pick>
LaneFunction pick_halves(const LaneKey& k, unsigned lanes) {
  switch (k.type) {
    case ir::Type::f16:
      return k.ftz ? Pick::template pick<F, HalfLane<Binary16, true>>(lanes)
                   : Pick::template pick<F, HalfLane<Binary16, false>>(lanes);
    case ir::Type::f16x2:
      return k.ftz ? Pick::template pick<Pairwise<F>, HalfPairLane<Binary16, true>>(lanes)
                   : Pick::template pick<Pairwise<F>, HalfPairLane<Binary16, false>>(lanes);
    case ir::Type::bf16:
      return k.ftz ? Pick::template pick<F, HalfLane<BFloat16, true>>(lanes)
                   : Pick::template pick<F, HalfLane<BFloat16, false>>(lanes);
    case ir::Type::bf16x2:
      return k.ftz ? Pick::template pick<Pairwise<F>, HalfPairLane<BFloat16, true>>(lanes)
                   : Pick::template pick<Pairwise<F>, HalfPairLane<BFloat16, false>>(lanes);
    default:
      return nullptr;
  }
}
template <class F, class Pick>
LaneFunction pick_halves_or_saturated(const LaneKey& k, unsigned lanes) {
  return k.saturate ? pick_halves<Modified<F, false, true>, Pick>(k, lanes) : pick_halves<F, Pick>(k, lanes);
}
struct Pick1 {
  template <class F, class T>
  static LaneFunction pick(unsigned lanes) {
    return pick1<F, T, T>(lanes);
  }
};
struct Pick2 {
  template <class F, class T>
  static LaneFunction pick(unsigned lanes) {
    return pick2<F, T, T, T>(lanes);
  }
};
struct Pick3 {
  template <class F, class T>
  static LaneFunction pick(unsigned lanes) {
    return pick3<F, T, T, T, T>(lanes);
  }
};

template <class F>
LaneFunction pick_float1(const LaneKey& k, unsigned lanes) {
  switch (k.type) {
    case ir::Type::f32:
      return k.ftz ? pick1<Modified<F, true, false>, float, float>(lanes)
                   : pick1<Modified<F, false, false>, float, float>(lanes);
    case ir::Type::f64:
      return pick1<Modified<F, false, false>, double, double>(lanes);
    default:
      return pick_halves<F, Pick1>(k, lanes);
  }
}
template <class F>
LaneFunction pick_single1(const LaneKey& k, unsigned lanes) {
  if (k.type != ir::Type::f32) return nullptr;
  return k.ftz ? pick1<Modified<F, true, false>, float, float>(lanes)
               : pick1<Modified<F, false, false>, float, float>(lanes);
}
template <class F>
LaneFunction pick_float2(const LaneKey& k, unsigned lanes) {
  switch (k.type) {
    case ir::Type::f32:
      if (k.saturate) {
        return k.ftz ? pick2<Modified<F, true, true>, float, float, float>(lanes)
                     : pick2<Modified<F, false, true>, float, float, float>(lanes);
      }
      return k.ftz ? pick2<Modified<F, true, false>, float, float, float>(lanes)
                   : pick2<Modified<F, false, false>, float, float, float>(lanes);
    case ir::Type::f64:
      return pick2<Modified<F, false, false>, double, double, double>(lanes);
    default:
      return pick_halves_or_saturated<F, Pick2>(k, lanes);
  }
}
LaneFunction pick_fma(const LaneKey& k, unsigned lanes) {
  using F = FusedMultiplyAdd;
  switch (k.type) {
    case ir::Type::f32:
      if (k.saturate) {
        return k.ftz ? pick3<Modified<F, true, true>, float, float, float, float>(lanes)
                     : pick3<Modified<F, false, true>, float, float, float, float>(lanes);
      }
      return k.ftz ? pick3<Modified<F, true, false>, float, float, float, float>(lanes)
                   : pick3<Modified<F, false, false>, float, float, float, float>(lanes);
    case ir::Type::f64:
      return pick3<Modified<F, false, false>, double, double, double, double>(lanes);
    default:
      return pick_halves_or_saturated<FusedMultiplyAddHalf, Pick3>(k, lanes);
  }
}
template <class F>
LaneFunction pick_float_compare(const LaneKey& k, unsigned lanes) {
  switch (k.type) {
    case ir::Type::f32:
      return k.ftz ? pick_compare<Flushed<F>, float>(lanes) : pick_compare<F, float>(lanes);
    case ir::Type::f64:
      return pick_compare<F, double>(lanes);
    case ir::Type::f16:
      return k.ftz ? pick_compare<F, HalfLane<Binary16, true>>(lanes)
                   : pick_compare<F, HalfLane<Binary16, false>>(lanes);
    case ir::Type::bf16:
      return pick_compare<F, HalfLane<BFloat16, false>>(lanes);
    default:
      return nullptr;
  }
}

bool is_half(ir::Type t) { return t >= ir::Type::f16 && t <= ir::Type::bf16x2; }

}  // namespace

LaneFunction select_float(const LaneKey& k, unsigned lanes) {
  switch (k.op) {
    case ir::Opcode::add:
      return pick_float2<Add>(k, lanes);
    case ir::Opcode::sub:
      return pick_float2<Subtract>(k, lanes);
    case ir::Opcode::mul:
      return pick_float2<Multiply>(k, lanes);
    case ir::Opcode::div:
      return is_half(k.type) ? nullptr : pick_float2<Divide>(k, lanes);
    case ir::Opcode::fma:
      return pick_fma(k, lanes);
    case ir::Opcode::fnma:
      if (k.type != ir::Type::f32 || k.saturate) return nullptr;
      return pick3<Modified<FusedNegatedMultiplyAdd, false, false>, float, float, float, float>(lanes);
    case ir::Opcode::min:
      return k.nan ? pick_float2<MinimumOrNan>(k, lanes) : pick_float2<Minimum>(k, lanes);
    case ir::Opcode::max:
      return k.nan ? pick_float2<MaximumOrNan>(k, lanes) : pick_float2<Maximum>(k, lanes);
    case ir::Opcode::neg:
      return pick_float1<Negate>(k, lanes);
    case ir::Opcode::abs:
      return pick_float1<Absolute>(k, lanes);
    case ir::Opcode::sqrt:
      return is_half(k.type) ? nullptr : pick_float1<SquareRoot>(k, lanes);
    case ir::Opcode::rcp:
      if (is_half(k.type)) return nullptr;
      if (k.type == ir::Type::f64 && k.ftz) return pick1<UpperWord<Reciprocal>, double, double>(lanes);
      return pick_float1<Reciprocal>(k, lanes);
    case ir::Opcode::rsqrt:
      if (is_half(k.type)) return nullptr;
      if (k.type == ir::Type::f64 && k.ftz) return pick1<UpperWord<ReciprocalRoot>, double, double>(lanes);
      return pick_float1<ReciprocalRoot>(k, lanes);
    case ir::Opcode::ex2:
      return k.type == ir::Type::f64 ? nullptr : pick_float1<Exp2>(k, lanes);
    case ir::Opcode::tanh:
      return k.type == ir::Type::f64 ? nullptr : pick_float1<HyperbolicTangent>(k, lanes);
    case ir::Opcode::lg2:
      return pick_single1<Log2>(k, lanes);
    case ir::Opcode::sin:
      return pick_single1<Sine>(k, lanes);
    case ir::Opcode::cos:
      return pick_single1<Cosine>(k, lanes);
    case ir::Opcode::setp:
    case ir::Opcode::set:
      switch (k.compare) {
        case ir::Compare::eq:
          return pick_float_compare<Equal>(k, lanes);
        case ir::Compare::ne:
          return pick_float_compare<NotEqualOrdered>(k, lanes);
        case ir::Compare::lt:
          return pick_float_compare<Less>(k, lanes);
        case ir::Compare::le:
          return pick_float_compare<LessEqual>(k, lanes);
        case ir::Compare::num:
          return pick_float_compare<BothNumbers>(k, lanes);
        case ir::Compare::slow_division:
          return k.type == ir::Type::f32 ? pick_compare<SlowDivision, float>(lanes) : nullptr;
        default:
          return nullptr;
      }
    default:
      return nullptr;
  }
}

}  // namespace REGATTA_LANES_ISA
}  // namespace regatta::emulator
