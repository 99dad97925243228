// SPDX-License-Identifier: Apache-2.0
//
// cvt: every pair of types in every rounding, with .sat and .ftz.
#include "exact.h"

#include <limits>

namespace regatta::test::forms {
namespace {

bool is_small(const std::string& t) { return t == "f16" || t == "bf16"; }
bool is_float(const std::string& t) { return t[0] == 'f' || is_small(t); }
unsigned bits_of(const std::string& t) { return static_cast<unsigned>(std::stoul(t.substr(t == "bf16" ? 2 : 1))); }
Small format(const std::string& t) { return t == "bf16" ? brain_format : half_format; }

/// Registers: 8-bit values live in 16-bit registers.
char kind_of(const std::string& t) { return is_small(t) || bits_of(t) == 8 ? 'h' : letter(t); }

/// The value of the source as a 113-bit number (NaN stays one).
f128 value_of(const std::string& t, u64 raw) {
  if (is_small(t)) return small_value(format(t), raw & 0xffffu);
  if (t == "f32") return from_bits<float>(raw);
  if (t == "f64") return from_bits<double>(raw);
  const unsigned bits = bits_of(t);
  const u64 low = bits == 64 ? raw : raw & ((u64{1} << bits) - 1);
  if (t[0] == 'u' || (low >> (bits - 1)) == 0) return low;
  return static_cast<f128>(low) - static_cast<f128>(u64{1} << (bits - 1)) * 2;
}

/// Whole numbers around v, which is a double.
double rounded_whole(double v, char mode) {
  const double below = std::floor(v);
  if (mode == 'm') return below;
  if (mode == 'p') return std::ceil(v);
  if (mode == 'z') return v < 0 ? std::ceil(v) : below;
  const double rest = v - below;
  if (rest != 0.5) return rest < 0.5 ? below : below + 1;
  return std::fmod(below, 2) == 0 ? below : below + 1;
}

u64 integer_result(f128 v, const std::string& to) {
  const unsigned bits = bits_of(to);
  const f128 one = 1, top = to[0] == 's' ? one * (u64{1} << (bits - 1)) : one * (u64{1} << (bits - 1)) * 2;
  const f128 lowest = to[0] == 's' ? -top : 0;
  const f128 clamped = v > top - 1 ? top - 1 : v < lowest ? lowest : v;
  return clamped < 0 ? static_cast<u64>(static_cast<s64>(clamped)) : static_cast<u64>(clamped);
}
u64 truncated(u64 v, const std::string& to) {
  // 8-bit results are in a 16-bit register, extended by their sign.
  if (to == "s8") return static_cast<u16>(static_cast<s8>(v));
  if (to == "u8") return static_cast<u8>(v);
  const unsigned bits = bits_of(to);
  return bits == 64 ? v : v & ((u64{1} << bits) - 1);
}

u64 float_result(f128 v, const std::string& to, Direction d, bool negative) {
  if (is_small(to)) return round_small(format(to), sum_of(v, 0), d, negative);
  if (to == "f32") return v == 0 ? to_bits(negative ? -0.0f : 0.0f) : to_bits(round_value<float>(v, d));
  return v == 0 ? to_bits(negative ? -0.0 : 0.0) : to_bits(round_value<double>(v, d));
}
u64 infinity_of(const std::string& to, bool negative) {
  const double v = negative ? -INFINITY : INFINITY;
  return is_small(to) ? round_small(format(to), v) : to == "f32" ? to_bits(static_cast<float>(v)) : to_bits(v);
}
u64 nan_of(const std::string& to) { return is_small(to) ? 0x7fffu : to == "f32" ? 0x7fffffffu : 0u; }
u64 one_of(const std::string& to) {
  return is_small(to) ? format(to).one() : to == "f32" ? 0x3f800000u : 0x3ff0000000000000u;
}

/// What cvt gives. `rounding` is "" or rn, rz, rm, rp, rni, rzi, rmi, rpi.
u64 converted(const std::string& to, const std::string& from, const std::string& rounding, bool sat, bool ftz,
              u64 raw) {
  if (ftz && from == "f32") raw = to_bits(flush(from_bits<float>(raw & 0xffffffffu)));
  const f128 v = value_of(from, raw);
  const bool is_nan = v != v;
  if (!is_float(to)) {
    const u64 whole = !is_float(from) ? v < 0 ? static_cast<u64>(static_cast<s64>(v)) : static_cast<u64>(v) : 0;
    if (!is_float(from)) return truncated(sat ? integer_result(v, to) : whole, to);
    if (is_nan) return truncated(from == "f64" || bits_of(to) == 64 ? u64{1} << (bits_of(to) - 1) : 0, to);
    const auto d = static_cast<double>(v);
    return truncated(integer_result(std::isinf(d) ? v : static_cast<f128>(rounded_whole(d, rounding[1])), to), to);
  }
  if (is_nan) return sat ? 0 : nan_of(to);
  bool negative = v < 0 || (is_float(from) && std::signbit(static_cast<double>(v)));
  f128 exact = v;
  if (is_float(from) && std::isinf(static_cast<double>(v)))
    return sat ? (negative ? 0 : one_of(to)) : infinity_of(to, negative);
  if (rounding.size() == 3) exact = rounded_whole(static_cast<double>(v), rounding[1]);
  if (sat) {
    if (exact >= 1) return one_of(to);
    if (exact <= 0) {
      exact = 0;
      negative = false;
    }
  }
  Direction d = Direction::nearest;
  if (rounding.size() == 2) {
    d = rounding == "rz" ? Direction::zero : rounding == "rm" ? Direction::down : rounding == "rp" ? Direction::up : d;
  }
  u64 result = float_result(exact, to, d, negative);
  if (ftz && to == "f32") result = to_bits(flush(from_bits<float>(result)));
  return result;
}

void row(Rows& rows, const std::string& to, const std::string& from, const std::string& rounding, bool sat, bool ftz) {
  std::string form = "cvt";
  if (!rounding.empty()) form += "." + rounding;
  if (ftz) form += ".ftz";
  if (sat) form += ".sat";
  form += "." + to + "." + from;
  const char source = kind_of(from), result = kind_of(to);
  const Values values = is_small(from)  ? Values::halves
                        : from == "f32" ? Values::floats
                        : from == "f64" ? Values::doubles
                                        : Values::integers;
  // f64 keeps the payload of a NaN that comes from elsewhere: which one is not checked.
  const bool any_nan = to == "f64" && is_float(from);
  std::string body = form + " " + reg(result, '9') + ", " + reg(source, 'a') + ";";
  if (any_nan) body += " setp.nan.f64 %q1, %g9, %g9; @%q1 mov.f64 %g9, 0d0000000000000000;";
  rows.push_back(
      {form, result, body, values, each([=](u64 a, u64, u64) { return converted(to, from, rounding, sat, ftz, a); })});
}

}  // namespace

Rows convert_rows() {
  Rows rows;
  const std::vector<std::string> integers = {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"};
  const std::vector<std::string> floats = {"f16", "bf16", "f32", "f64"};
  for (const std::string& to : integers) {
    for (const std::string& from : integers) {
      row(rows, to, from, "", false, false);
      row(rows, to, from, "", true, false);
    }
    for (const std::string& from : floats)
      for (const char* rounding : {"rni", "rzi", "rmi", "rpi"}) {
        row(rows, to, from, rounding, false, false);
        if (from == "f32") row(rows, to, from, rounding, false, true);
      }
  }
  for (const std::string& to : floats) {
    for (const std::string& from : integers)
      for (const char* rounding : {"rn", "rz", "rm", "rp"}) row(rows, to, from, rounding, false, false);
    for (const std::string& from : floats) {
      const bool narrows = bits_of(to) < bits_of(from) || (is_small(to) && is_small(from) && to != from),
                 single = to == "f32" || from == "f32";
      for (const bool sat : {false, true})
        for (const bool ftz : {false, true}) {
          if (ftz && !single) continue;
          if (narrows)
            for (const char* rounding : {"rn", "rz", "rm", "rp"}) row(rows, to, from, rounding, sat, ftz);
          else
            row(rows, to, from, "", sat, ftz);
          if (to == from)
            for (const char* rounding : {"rni", "rzi", "rmi", "rpi"}) row(rows, to, from, rounding, sat, ftz);
        }
    }
  }
  for (const std::string one : {"f16", "bf16"}) {
    const std::string form = "cvt.rn." + one + "x2.f32";
    rows.push_back({form, 'r', form + " %r9, %fa, %fb;", Values::floats, each([f = format(one)](u64 a, u64 b, u64) {
                      return (round_small(f, from_bits<float>(a)) << 16) | round_small(f, from_bits<float>(b));
                    })});
  }
  // Sources and destinations wider than the type.
  rows.push_back({"cvt.u64.u16", 'd', "cvt.u64.u16 %d9, %ra;", Values::integers,
                  each([](u64 a, u64, u64) { return a & 0xffffu; })});
  rows.push_back({"cvt.s32.s8", 'd', "cvt.s32.s8 %d9, %ra;", Values::integers,
                  each([](u64 a, u64, u64) { return static_cast<u64>(s64{static_cast<s8>(a)}); })});
  return rows;
}

}  // namespace regatta::test::forms
