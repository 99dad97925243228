// SPDX-License-Identifier: Apache-2.0
//
// Approximate instructions of f32 on all lanes, as an H100 computes them: the special function unit, and around it what
// ptxas 13.0 emits for sm_90. Without .ftz, operands that the unit would take for zeros, or whose results it would
// flush, are scaled before and after.
#include "lanes_common.h"
#include "special_function.h"

#include <cmath>

namespace regatta::emulator {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using baseline::cast_bits;

constexpr float smallest_normal = 0x1p-126f, largest_divisor = 0x1p126f;
constexpr float two_to_24 = 0x1p24f, quarter = 0.25f;

float number(u32 bits) { return cast_bits<float>(bits); }
u32 canonical(float v) { return v != v ? 0x7fffffffu : cast_bits<u32>(v); }
float flush(float v) { return std::fabs(v) < smallest_normal ? std::copysign(0.0f, v) : v; }

/// The angle in turns: the product with 1/(2 pi) to 24 bits, truncated, as FMUL.RZ gives it. One too small for a normal
/// number is a zero to the unit.
u32 turns(u32 angle) {
  constexpr float per_radian = 0x1.45f306p-3f;
  if ((angle & 0x7fffffffu) >= 0x7f800000u) return angle;
  // A product of two f32 is exact.
  const double product = static_cast<double>(number(angle)) * static_cast<double>(per_radian);
  if (std::fabs(product) < 0x1p-126) return angle & 0x80000000u;
  const u64 kept = cast_bits<u64>(product) & ~((u64{1} << 29) - 1);
  return cast_bits<u32>(static_cast<float>(cast_bits<double>(kept)));
}

/// A function of the unit alone: `.ftz`.
template <u32 (*Unit)(u32)>
struct Alone {
  static u32 apply(u32 x) { return Unit(x); }
};

struct Reciprocal {
  static u32 apply(u32 x) {
    const float size = std::fabs(number(x));
    const float scale = size < smallest_normal ? two_to_24 : size > largest_divisor ? quarter : 1.0f;
    return canonical(number(h100::rcp(cast_bits<u32>(number(x) * scale))) * scale);
  }
};
/// A root of a subnormal number, from that of 2^24 times it.
template <u32 (*Unit)(u32), int Scale>
struct Root {
  static u32 apply(u32 x) {
    if (!(std::fabs(number(x)) < smallest_normal)) return Unit(x);
    constexpr float after = Scale > 0 ? 0x1p12f : 0x1p-12f;
    return canonical(number(Unit(cast_bits<u32>(number(x) * two_to_24))) * after);
  }
};
struct Logarithm {
  static u32 apply(u32 x) {
    if (!(std::fabs(number(x)) < smallest_normal)) return h100::lg2(x);
    return canonical(number(h100::lg2(cast_bits<u32>(number(x) * two_to_24))) - 24.0f);
  }
};
/// A power whose result may be subnormal: the square of that of half the exponent.
struct Power {
  static u32 apply(u32 x) {
    if (!(number(x) < -126.0f)) return h100::ex2(x);
    const float root = number(h100::ex2(cast_bits<u32>(number(x) * 0.5f)));
    return canonical(root * root);
  }
};
struct Sine {
  static u32 apply(u32 x) { return h100::sin_of_turns(turns(x)); }
};
struct Cosine {
  static u32 apply(u32 x) { return h100::cos_of_turns(turns(x)); }
};
struct HyperbolicTangent {
  static u32 apply(u32 x) {
    return h100::has_tanh(x) ? h100::tanh(x) : canonical(static_cast<float>(std::tanh(static_cast<double>(number(x)))));
  }
};

/// A quotient by the divisor's reciprocal.
float times_reciprocal(float a, float b) { return a * number(h100::rcp(cast_bits<u32>(b))); }
struct Divide {
  static u32 apply(u32 a, u32 b) {
    const float scale = std::fabs(number(b)) < smallest_normal ? two_to_24 : 1.0f;
    return canonical(times_reciprocal(number(a) * scale, number(b) * scale));
  }
};
struct DivideFlushed {
  static u32 apply(u32 a, u32 b) { return canonical(flush(times_reciprocal(flush(number(a)), number(b)))); }
};
struct DivideFull {
  static u32 apply(u32 a, u32 b) {
    const float size = std::fabs(number(b));
    const float scale = size < smallest_normal ? two_to_24 : size > largest_divisor ? quarter : 1.0f;
    return canonical(times_reciprocal(number(a) * scale, number(b) * scale));
  }
};
struct DivideFullFlushed {
  static u32 apply(u32 a, u32 b) {
    const float scale = std::fabs(number(b)) > largest_divisor ? quarter : 1.0f;
    return canonical(flush(times_reciprocal(flush(flush(number(a)) * scale), flush(number(b) * scale))));
  }
};

template <class F>
LaneFunction pick1(unsigned lanes) {
  return baseline::pick1<F, u32, u32>(lanes);
}
template <class F>
LaneFunction pick2(unsigned lanes) {
  return baseline::pick2<F, u32, u32, u32>(lanes);
}

LaneFunction pick_quotient(const LaneKey& k, unsigned lanes) {
  switch (k.quotient) {
    case Quotient::exact:
      return nullptr;
    case Quotient::approximate:
      return k.ftz ? pick2<DivideFlushed>(lanes) : pick2<Divide>(lanes);
    case Quotient::full:
      return k.ftz ? pick2<DivideFullFlushed>(lanes) : pick2<DivideFull>(lanes);
  }
  return nullptr;
}

}  // namespace

bool is_approximate(const ir::Instruction& i) {
  if (i.type != ir::Type::f32) return false;
  switch (i.op) {
    case ir::Opcode::rcp:
    case ir::Opcode::sqrt:
      return i.mod.approximate;
    case ir::Opcode::div:
      return i.mod.approximate || i.mod.full;
    case ir::Opcode::rsqrt:
    case ir::Opcode::ex2:
    case ir::Opcode::lg2:
    case ir::Opcode::sin:
    case ir::Opcode::cos:
    case ir::Opcode::tanh:
      return true;
    default:
      return false;
  }
}

LaneFunction select_approximate(const LaneKey& k, unsigned lanes) {
  if (k.type != ir::Type::f32) return nullptr;
  switch (k.op) {
    case ir::Opcode::rcp:
      return k.ftz ? pick1<Alone<h100::rcp>>(lanes) : pick1<Reciprocal>(lanes);
    case ir::Opcode::rsqrt:
      return k.ftz ? pick1<Alone<h100::rsqrt>>(lanes) : pick1<Root<h100::rsqrt, 12>>(lanes);
    case ir::Opcode::sqrt:
      return k.ftz ? pick1<Alone<h100::sqrt>>(lanes) : pick1<Root<h100::sqrt, -12>>(lanes);
    case ir::Opcode::ex2:
      return k.ftz ? pick1<Alone<h100::ex2>>(lanes) : pick1<Power>(lanes);
    case ir::Opcode::lg2:
      return k.ftz ? pick1<Alone<h100::lg2>>(lanes) : pick1<Logarithm>(lanes);
    case ir::Opcode::sin:
      return pick1<Sine>(lanes);
    case ir::Opcode::cos:
      return pick1<Cosine>(lanes);
    case ir::Opcode::tanh:
      return pick1<HyperbolicTangent>(lanes);
    case ir::Opcode::div:
      return pick_quotient(k, lanes);
    default:
      return nullptr;
  }
}

}  // namespace regatta::emulator
