// SPDX-License-Identifier: Apache-2.0
//
// Conversions to and from packed and narrow floats, min and max of magnitudes, tests of numbers, cache hints.
#include "exact.h"

#include <algorithm>

namespace regatta::test::forms {
namespace {

/// A float of 8 bits, by the values that its encodings have.
struct Byte {
  int fraction, bias;
  u64 largest;  ///< the encodings above it are infinity or NaN
  bool has_infinity;

  double value(u64 code) const {
    const int exponent = static_cast<int>((code & 0x7fu) >> fraction);
    const double part = static_cast<double>(code & ((u64{1} << fraction) - 1)) / std::ldexp(1.0, fraction);
    const double magnitude = exponent == 0 ? std::ldexp(part, 1 - bias) : std::ldexp(1.0 + part, exponent - bias);
    const double sign = (code & 0x80u) != 0 ? -1.0 : 1.0;
    if ((code & 0x7fu) <= largest) return sign * magnitude;
    return has_infinity && (code & 0x7fu) == largest + 1 ? sign * INFINITY : std::nan("");
  }
  /// The nearest code, the even one of two; .satfinite.
  u64 rounded(double v, bool relu) const {
    if (std::isnan(v)) return 0x7f;
    if (relu && std::signbit(v)) return 0;
    const u64 sign = std::signbit(v) ? 0x80u : 0u;
    const double magnitude = std::min(std::fabs(v), value(largest));
    u64 best = 0;
    for (u64 code = 1; code <= largest; ++code) {
      const double distance = std::fabs(value(code) - magnitude), least = std::fabs(value(best) - magnitude);
      if (distance < least || (distance == least && (code & 1u) == 0)) best = code;
    }
    return sign | best;
  }
};
constexpr Byte e4m3{3, 7, 0x7e, false}, e5m2{2, 15, 0x7b, true};

struct Limits {
  bool relu, satfinite;
};
std::string suffix(const Limits& m) { return std::string(m.relu ? ".relu" : "") + (m.satfinite ? ".satfinite" : ""); }
constexpr Limits all_limits[] = {{false, false}, {true, false}, {false, true}, {true, true}};

u64 to_small(const Small& f, float v, Direction d, const Limits& m) {
  u64 r = round_small(f, v, d);
  if (std::isnan(v)) return r;
  if (m.satfinite && (r & 0x7fffu) == f.infinity()) r -= 1;
  return m.relu && (r & 0x8000u) != 0 ? 0 : r;
}

/// `rounding` is rn, rz or rna.
u64 to_tf32(float v, const std::string& rounding, const Limits& m) {
  if (std::isnan(v)) return 0x7fffffff;
  const u64 sign = std::signbit(v) ? 0x80000000u : 0u;
  const double magnitude = std::fabs(static_cast<double>(v)), largest = std::ldexp(2047.0, 117);
  double r = magnitude;
  if (std::isfinite(v) && v != 0) {
    const double unit = std::ldexp(1.0, std::max(std::ilogb(magnitude), -126) - 10);
    const double whole = std::floor(magnitude / unit), rest = magnitude / unit - whole;
    const bool up =
        rounding != "rz" && (rest > 0.5 || (rest == 0.5 && (rounding == "rna" || std::fmod(whole, 2) == 1)));
    r = (whole + (up ? 1 : 0)) * unit;
  }
  if (r > largest) r = m.satfinite ? largest : INFINITY;
  return m.relu && sign != 0 ? 0 : sign | to_bits(static_cast<float>(r));
}

void conversion_rows(Rows& rows) {
  for (const std::string rounding : {"rn", "rz"}) {
    const Direction d = rounding == "rn" ? Direction::nearest : Direction::zero;
    for (const Limits& m : all_limits) {
      for (const std::string type : {"f16", "bf16"}) {
        const Small f = type == "f16" ? half_format : brain_format;
        const std::string pair = "cvt." + rounding + suffix(m) + "." + type + "x2.f32";
        rows.push_back({pair, 'r', pair + " %r9, %fa, %fb;", Values::narrow_floats, each([=](u64 a, u64 b, u64) {
                          return to_small(f, from_bits<float>(a), d, m) << 16 | to_small(f, from_bits<float>(b), d, m);
                        })});
        const std::string one = "cvt." + rounding + suffix(m) + "." + type + ".f32";
        rows.push_back({one, 'h', one + " %h9, %fa;", Values::narrow_floats,
                        each([=](u64 a, u64, u64) { return to_small(f, from_bits<float>(a), d, m); })});
      }
      const std::string form = "cvt." + rounding + suffix(m) + ".tf32.f32";
      rows.push_back({form, 'r', form + " %r9, %fa;", Values::narrow_floats,
                      each([=](u64 a, u64, u64) { return to_tf32(from_bits<float>(a), rounding, m); })});
    }
  }
  for (const bool finite : {false, true}) {
    const std::string form = std::string("cvt.rna") + (finite ? ".satfinite" : "") + ".tf32.f32";
    rows.push_back({form, 'r', form + " %r9, %fa;", Values::narrow_floats, each([=](u64 a, u64, u64) {
                      return to_tf32(from_bits<float>(a), "rna", {false, finite});
                    })});
  }
  for (const std::string type : {"e4m3x2", "e5m2x2"}) {
    const Byte f = type == "e4m3x2" ? e4m3 : e5m2;
    for (const bool relu : {false, true}) {
      const std::string r = relu ? ".relu" : "";
      const std::string singles = "cvt.rn.satfinite" + r + "." + type + ".f32";
      rows.push_back({singles, 'h', singles + " %h9, %fa, %fb;", Values::narrow_floats, each([=](u64 a, u64 b, u64) {
                        return f.rounded(from_bits<float>(a), relu) << 8 | f.rounded(from_bits<float>(b), relu);
                      })});
      const std::string halves = "cvt.rn.satfinite" + r + "." + type + ".f16x2";
      rows.push_back({halves, 'h', halves + " %h9, %ra;", Values::halves, each([=](u64 a, u64, u64) {
                        return f.rounded(small_value(half_format, a >> 16 & 0xffffu), relu) << 8 |
                               f.rounded(small_value(half_format, a & 0xffffu), relu);
                      })});
      // Every byte in either place.
      const std::string back = "cvt.rn" + r + ".f16x2." + type;
      rows.push_back({back, 'r', "mul.lo.u32 %r8, %t, 40503; cvt.u16.u32 %h1, %r8; " + back + " %r9, %h1;",
                      Values::integers, [=](const Threads&, std::size_t t) {
                        const auto half = [&](u64 code) {
                          const double v = f.value(code);
                          return relu && std::signbit(v) && !std::isnan(v) ? 0 : round_small(half_format, v);
                        };
                        const u64 bytes = t * 40503 & 0xffffu;
                        return half(bytes >> 8) << 16 | half(bytes & 0xffu);
                      }});
    }
  }
}

void pack_rows(Rows& rows) {
  for (const std::string type : {"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"}) {
    const unsigned bits = static_cast<unsigned>(std::stoul(type.substr(1)));
    const bool merges = bits < 16;
    const auto clamp = [=](u64 v) {
      const s64 x = static_cast<s32>(v), span = s64{1} << (type[0] == 's' ? bits - 1 : bits);
      const s64 low = type[0] == 's' ? -span : 0;
      return static_cast<u64>(std::clamp(x, low, span - 1)) & ((u64{1} << bits) - 1);
    };
    const std::string form = "cvt.pack.sat." + type + ".s32" + (merges ? ".b32" : "");
    rows.push_back({form, 'r', form + " %r9, %ra, %rb" + (merges ? ", %rc;" : ";"), Values::integers,
                    each([=](u64 a, u64 b, u64 c) {
                      const u64 low = clamp(a) << bits | clamp(b);
                      return (merges ? c << (2 * bits) | low : low) & 0xffffffffu;
                    })});
  }
}

/// min and max with .xorsign.abs, by values.
u64 extreme(bool largest, bool nan, u64 a, u64 b, u64 sign_bit, double x, double y, u64 canonical) {
  const u64 sign = (a ^ b) & sign_bit;
  if ((std::isnan(x) && std::isnan(y)) || (nan && (std::isnan(x) || std::isnan(y)))) return canonical;
  const bool first =
      std::isnan(y) || (!std::isnan(x) && (largest ? std::fabs(x) > std::fabs(y) : std::fabs(x) < std::fabs(y)));
  return sign | ((first ? a : b) & (sign_bit - 1));
}

void magnitude_rows(Rows& rows) {
  for (const bool largest : {false, true})
    for (const bool nan : {false, true})
      for (const bool ftz : {false, true}) {
        const std::string name =
            std::string(largest ? "max" : "min") + (ftz ? ".ftz" : "") + (nan ? ".NaN" : "") + ".xorsign.abs.";
        const std::string single = name + "f32";
        rows.push_back({single, 'f', plain(single, 'f', 2), Values::floats, each([=](u64 a, u64 b, u64) {
                          const auto given = [&](u64 v) {
                            const auto x = from_bits<float>(v & 0xffffffffu);
                            return ftz ? flush(x) : x;
                          };
                          const float x = given(a), y = given(b);
                          const auto bits = [](float v, u64 raw) {
                            return std::isnan(v) ? raw & 0xffffffffu : to_bits(v);
                          };
                          return extreme(largest, nan, bits(x, a), bits(y, b), 0x80000000u, x, y, 0x7fffffffu);
                        })});
        for (const std::string type : {"f16", "bf16"}) {
          if (ftz && type == "bf16") continue;
          const Small f = type == "f16" ? half_format : brain_format;
          const auto one = [=](u64 a, u64 b) {
            const auto given = [&](u64 v) { return ftz && (v & f.infinity()) == 0 ? v & 0x8000u : v; };
            a = given(a & 0xffffu);
            b = given(b & 0xffffu);
            return extreme(largest, nan, a, b, 0x8000u, small_value(f, a), small_value(f, b), 0x7fffu);
          };
          rows.push_back({name + type, 'h', plain(name + type, 'h', 2), Values::halves,
                          each([=](u64 a, u64 b, u64) { return one(a, b); })});
          rows.push_back({name + type + "x2", 'r', plain(name + type + "x2", 'r', 2), Values::halves,
                          each([=](u64 a, u64 b, u64) { return one(a, b) | one(a >> 16, b >> 16) << 16; })});
        }
      }
}

template <class T>
bool has_property(const std::string& property, T v) {
  if (property == "finite") return std::isfinite(v);
  if (property == "infinite") return std::isinf(v);
  if (property == "number") return !std::isnan(v);
  if (property == "notanumber") return std::isnan(v);
  const bool subnormal = std::fpclassify(v) == FP_SUBNORMAL;
  return property == "subnormal" ? subnormal : std::isfinite(v) && !subnormal;
}

void test_rows(Rows& rows) {
  for (const std::string property : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) {
    const std::string form = "testp." + property;
    rows.push_back({form + ".f32", 'q', form + ".f32 %q9, %fa;", Values::floats,
                    each([=](u64 a, u64, u64) { return u64{has_property(property, from_bits<float>(a))}; })});
    rows.push_back({form + ".f64", 'q', form + ".f64 %q9, %ga;", Values::doubles,
                    each([=](u64 a, u64, u64) { return u64{has_property(property, from_bits<double>(a))}; })});
  }
  for (const bool wrap : {false, true})
    for (const bool is_signed : {false, true}) {
      const std::string form = std::string("szext.") + (wrap ? "wrap." : "clamp.") + (is_signed ? "s32" : "u32");
      rows.push_back({form, 'r', plain(form, 'r', 2), Values::integers, each([=](u64 a, u64 b, u64) {
                        const u64 bits = wrap ? b & 31u : std::min<u64>(b & 0xffffffffu, 32);
                        u64 r = 0;
                        for (u64 i = 0; i < 32 && bits != 0; ++i)
                          if (i < bits || is_signed) r |= (a >> std::min(i, bits - 1) & 1u) << i;
                        return r;
                      })});
    }
  // Bytes of a 16-bit register.
  rows.push_back({"mov.b16", 'h', ".reg .b8 %x, %y; mov.b16 {%x, %y}, %ha; mov.b16 %h9, {%y, %x};", Values::integers,
                  each([](u64 a, u64, u64) { return (a >> 8 & 0xffu) | (a & 0xffu) << 8; })});
  rows.push_back({"mov.b16", 'h', ".reg .b8 %x; cvt.u8.u32 %x, %ra; mov.b16 %h9, {%x, 3};", Values::integers,
                  each([](u64 a, u64, u64) { return (a & 0xffu) | 0x300u; })});
  // q is: c is odd.
  for (const bool both : {false, true}) {
    const std::string form = std::string("lop3.") + (both ? "and" : "or") + ".b32";
    const auto value = [](u64 a, u64 b, u64 c) { return (a ^ b ^ c) & 0xffffffffu; };
    const auto holds = [=](u64 a, u64 b, u64 c) {
      const bool odd = (c & 1u) != 0;
      return u64{both ? value(a, b, c) != 0 && odd : value(a, b, c) != 0 || odd};
    };
    const std::string odd = "and.b32 %r8, %rc, 1; setp.ne.u32 %q2, %r8, 0; ";
    rows.push_back({form, 'q', odd + form + " _|%q9, %ra, %rb, %rc, 0x96, %q2;", Values::integers,
                    each([=](u64 a, u64 b, u64 c) { return holds(a, b, c); })});
    rows.push_back({form, 'r',
                    odd + form + " %r9|%q2, %ra, %rb, %rc, 0x96, %q2; selp.u32 %r7, 1, 0, %q2; xor.b32 %r9, %r9, %r7;",
                    Values::integers, each([=](u64 a, u64 b, u64 c) { return value(a, b, c) ^ holds(a, b, c); })});
  }
}

/// set on f32, as cuda_fp16.h and cuda_bf16.h have it for comparisons of halves in f32.
void set_rows(Rows& rows) {
  struct Comparison {
    const char* name;
    bool (*holds)(float, float);
  };
  static constexpr Comparison comparisons[] = {{"eq", [](float a, float b) { return a == b; }},
                                               {"ne", [](float a, float b) { return a < b || a > b; }},
                                               {"lt", [](float a, float b) { return a < b; }},
                                               {"le", [](float a, float b) { return a <= b; }},
                                               {"gt", [](float a, float b) { return a > b; }},
                                               {"ge", [](float a, float b) { return a >= b; }},
                                               {"equ", [](float a, float b) { return !(a < b || a > b); }},
                                               {"neu", [](float a, float b) { return a != b; }},
                                               {"ltu", [](float a, float b) { return !(a >= b); }},
                                               {"leu", [](float a, float b) { return !(a > b); }},
                                               {"gtu", [](float a, float b) { return !(a <= b); }},
                                               {"geu", [](float a, float b) { return !(a < b); }},
                                               {"num", [](float a, float b) { return a == a && b == b; }},
                                               {"nan", [](float a, float b) { return a != a || b != b; }}};
  for (const Comparison& c : comparisons) {
    const std::string form = std::string("set.") + c.name + ".f32.f32";
    rows.push_back({form, 'f', plain(form, 'f', 2), Values::floats, each([holds = c.holds](u64 a, u64 b, u64) {
                      return holds(from_bits<float>(a), from_bits<float>(b)) ? u64{0x3f800000} : u64{0};
                    })});
  }
}

/// On the thread's own 32 bytes, a, b, c and a ^ b: elements 0 and 1 of a vector are halves of a.
void vector_atomic_rows(Rows& rows) {
  const auto sum = [](u64 a, u64 b) {
    const float x = from_bits<float>(a & 0xffffffffu), y = from_bits<float>(b & 0xffffffffu);
    return number_bits(flush(flush(x) + flush(y)));
  };
  const auto row = [&](const std::string& form, const std::string& body, Expected expected) {
    rows.push_back({form, 'd', body, Values::doubles, std::move(expected), true});
  };
  const std::string policy = "createpolicy.fractional.L2::evict_first.b64 %d3; ";
  // The results cross over, so that each is an operand of the other.
  row("atom.global.add.v2.f32",
      "mov.b64 {%f1, %f2}, %db; atom.global.add.v2.f32 {%f2, %f1}, [%pg], {%f1, %f2}; mov.b64 %d9, {%f2, %f1};",
      each([](u64 a, u64, u64) { return a; }));
  row("atom.global.v2.f32.add.L2::cache_hint",
      policy +
          "mov.b64 {%f1, %f2}, %db; atom.global.v2.f32.add.L2::cache_hint {%f2, %f1}, [%pg], {%f1, %f2}, %d3; "
          "ld.global.b64 %d9, [%pg];",
      each([=](u64 a, u64 b, u64) { return sum(a, b) | sum(a >> 32, b >> 32) << 32; }));
  row("red.global.add.v4.f32",
      "mov.b64 {%f1, %f2}, %db; red.global.add.v4.f32 [%pg], {%f2, %f2, %f1, %f2}; ld.global.b64 %d9, [%pg+8];",
      each([=](u64, u64 b, u64) { return sum(b, b) | sum(b >> 32, b >> 32) << 32; }));
  const auto halves = [](const Small& f, u64 a, u64 b) {
    u64 r = 0;
    for (unsigned n = 0; n < 64; n += 16)
      r |= small_sum(f, small_value(f, a >> n & 0xffffu), small_value(f, b >> n & 0xffffu)) << n;
    return r;
  };
  row("red.global.add.noftz.v8.bf16",
      "mov.b64 {%h1, %h2, %h3, %h4}, %db; red.global.add.noftz.v8.bf16 [%pg], {%h1, %h2, %h3, %h4, %h1, %h2, %h3, "
      "%h4}; "
      "ld.global.b64 %d9, [%pg+8];",
      each([=](u64, u64 b, u64) { return halves(brain_format, b, b); }));
  row("atom.global.add.noftz.v2.f16x2",
      "mov.b64 {%r1, %r2}, %db; atom.global.add.noftz.v2.f16x2 {%r3, %r4}, [%pg], {%r1, %r2}; ld.global.b64 %d9, "
      "[%pg];",
      each([=](u64 a, u64 b, u64) { return halves(half_format, a, b); }));
  row("atom.global.add.noftz.v4.f16",
      "mov.b64 {%h1, %h2, %h3, %h4}, %db; atom.global.add.noftz.v4.f16 {%h1, %h2, %h3, %h4}, [%pg], {%h1, %h2, %h3, "
      "%h4}; "
      "mov.b64 %d9, {%h1, %h2, %h3, %h4};",
      each([](u64 a, u64, u64) { return a; }));
}

void hint_rows(Rows& rows) {
  const auto row = [&](const std::string& form, char result, const std::string& body, Expected expected) {
    rows.push_back({form, result, body, Values::integers, std::move(expected), true});
  };
  const Expected zero = each([](u64, u64, u64) { return u64{0}; });
  const Expected first = each([](u64 a, u64, u64) { return a; });
  const std::string policy = "createpolicy.fractional.L2::evict_last.b64 %d3, 0.25; ";
  row("createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64", 'd',
      "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %d9, 0.5;", zero);
  row("createpolicy.range.global.L2::evict_first.b64", 'd',
      "createpolicy.range.global.L2::evict_first.b64 %d9, [%pg], 128, %ra;", zero);
  row("createpolicy.cvt.L2.b64", 'd', "createpolicy.cvt.L2.b64 %d9, %da;", zero);
  row("ld.global.L2::cache_hint.b64", 'd', policy + "ld.global.L2::cache_hint.b64 %d9, [%pg], %d3;", first);
  row("ld.global.nc.L1::no_allocate.L2::cache_hint.L2::256B.v2.b64", 'd',
      policy + "ld.global.nc.L1::no_allocate.L2::cache_hint.L2::256B.v2.b64 {%d9, %d4}, [%pg], %d3;", first);
  row("st.global.L2::cache_hint.b64", 'd',
      policy + "st.global.L2::cache_hint.b64 [%pg+8], %da, %d3; ld.global.b64 %d9, [%pg+8];", first);
  row("atom.global.L2::cache_hint.exch.b64", 'd', policy + "atom.global.L2::cache_hint.exch.b64 %d9, [%pg], %db, %d3;",
      first);
  row("atom.global.cas.L2::cache_hint.b64", 'd',
      policy + "atom.global.cas.L2::cache_hint.b64 %d9, [%pg], %db, %dc, %d3;", first);
  row("atom.cas.b16", 'h', "atom.cas.b16 %h9, [%pg], %ha, %hb;", each([](u64 a, u64, u64) { return a & 0xffffu; }));
  row("atom.cas.b32", 'r', "atom.cas.b32 %r8, [%pg], %ra, %rb; ld.global.b32 %r9, [%pg];",
      each([](u64, u64 b, u64) { return b & 0xffffffffu; }));
  row("red.global.add.L2::cache_hint.u64", 'd',
      policy + "red.global.add.L2::cache_hint.u64 [%pg], %db, %d3; ld.global.b64 %d9, [%pg];",
      each([](u64 a, u64 b, u64) { return a + b; }));
  for (const std::string advice : {"applypriority.global.L2::evict_normal [%pg], 128;", "discard.global.L2 [%pg], 128;",
                                   "prefetch.global.L2::evict_last [%pg];", "prefetch.global.L2::evict_normal [%pg];",
                                   "prefetch.tensormap [%pg];", "pmevent 7;"})
    row(advice.substr(0, advice.find(' ')), 'd', advice + " mov.b64 %d9, %da;", first);
}

}  // namespace

Rows packed_rows() {
  Rows rows;
  conversion_rows(rows);
  pack_rows(rows);
  magnitude_rows(rows);
  test_rows(rows);
  set_rows(rows);
  vector_atomic_rows(rows);
  hint_rows(rows);
  return rows;
}

}  // namespace regatta::test::forms
