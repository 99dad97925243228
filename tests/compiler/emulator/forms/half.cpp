// SPDX-License-Identifier: Apache-2.0
//
// f16 and f16x2, rounded once from exact values.
#include "exact.h"

namespace regatta::test::forms {
namespace {

u64 flush_half(u64 h) { return (h & 0x7c00u) == 0 ? h & 0x8000u : h; }

bool special(double v) { return !std::isfinite(v); }

u64 half_sum(double a, double b) {
  if (special(a) || special(b)) return round_half(a + b);
  return round_half(exact_sum(a, b), Direction::nearest, std::signbit(a) && std::signbit(b));
}
u64 half_product(double a, double b) { return round_half(a * b); }
u64 half_fused(double a, double b, double c) {
  // A product of halves is exact in double.
  return special(a * b) || special(c) ? round_half(a * b + c) : half_sum(a * b, c);
}
u64 saturated(u64 h) {
  const double v = half_value(h);
  return v > 0 ? (v < 1 ? h : 0x3c00u) : 0u;
}
u64 smaller(u64 a, u64 b) {
  const double x = half_value(a), y = half_value(b);
  if (std::isnan(x)) return std::isnan(y) ? 0x7fffu : b;
  if (std::isnan(y)) return a;
  if (x == y) return (a & 0x8000u) != 0 ? a : b;
  return x < y ? a : b;
}
u64 negated(u64 h) { return std::isnan(half_value(h)) ? 0x7fffu : h ^ 0x8000u; }

using Operation = std::function<u64(u64, u64, u64)>;

void row(Rows& rows, const std::string& form, unsigned sources, const Operation& f, u64 tolerance = 0) {
  const auto one = [f](u64 a, u64 b, u64 c) { return f(a & 0xffffu, b & 0xffffu, c & 0xffffu); };
  rows.push_back({form + ".f16", 'h', plain(form + ".f16", 'h', sources), Values::halves, each(one), false, tolerance});
  rows.push_back({form + ".f16x2", 'r', plain(form + ".f16x2", 'r', sources), Values::halves,
                  each([one](u64 a, u64 b, u64 c) { return one(a, b, c) | (one(a >> 16, b >> 16, c >> 16) << 16); }),
                  false, tolerance});
}

void modified(Rows& rows, const std::string& form, unsigned sources, const Operation& f, bool saturates) {
  row(rows, form, sources, f);
  const Operation flushed = [f](u64 a, u64 b, u64 c) {
    return flush_half(f(flush_half(a), flush_half(b), flush_half(c)));
  };
  row(rows, form + ".ftz", sources, flushed);
  if (!saturates) return;
  row(rows, form + ".sat", sources, [f](u64 a, u64 b, u64 c) { return saturated(f(a, b, c)); });
  row(rows, form + ".ftz.sat", sources, [flushed](u64 a, u64 b, u64 c) { return saturated(flushed(a, b, c)); });
}

}  // namespace

Rows half_rows() {
  Rows rows;
  for (const char* rounding : {"", ".rn"}) {
    const auto name = [rounding](const char* mnemonic) { return std::string(mnemonic) + rounding; };
    modified(
        rows, name("add"), 2, [](u64 a, u64 b, u64) { return half_sum(half_value(a), half_value(b)); }, true);
    modified(
        rows, name("sub"), 2, [](u64 a, u64 b, u64) { return half_sum(half_value(a), -half_value(b)); }, true);
    modified(
        rows, name("mul"), 2, [](u64 a, u64 b, u64) { return half_product(half_value(a), half_value(b)); }, true);
  }
  modified(
      rows, "fma.rn", 3, [](u64 a, u64 b, u64 c) { return half_fused(half_value(a), half_value(b), half_value(c)); },
      true);
  modified(
      rows, "neg", 1, [](u64 a, u64, u64) { return negated(a); }, false);
  modified(
      rows, "abs", 1,
      [](u64 a, u64, u64) { return (a & 0x8000u) != 0          ? negated(a)
                                   : std::isnan(half_value(a)) ? 0x7fffu
                                                               : a; }, false);
  modified(
      rows, "min", 2, [](u64 a, u64 b, u64) { return smaller(a, b); }, false);
  modified(
      rows, "max", 2,
      [](u64 a, u64 b, u64) {
        const u64 r = smaller(a ^ 0x8000u, b ^ 0x8000u);
        return r == 0x7fffu && std::isnan(half_value(a)) && std::isnan(half_value(b)) ? r : r ^ 0x8000u;
      },
      false);
  row(
      rows, "ex2.approx", 1, [](u64 a, u64, u64) { return round_half(std::exp2(half_value(a))); }, 1);
  row(
      rows, "tanh.approx", 1, [](u64 a, u64, u64) { return round_half(std::tanh(half_value(a))); }, 1);
  const auto compare = [&](const std::string& name, bool (*f)(double, double)) {
    const std::string form = "setp." + name + ".f16";
    rows.push_back({form, 'q', form + " %q9, %ha, %hb;", Values::halves,
                    each([f](u64 a, u64 b, u64) { return u64{f(half_value(a), half_value(b))}; })});
  };
  compare("lt", [](double a, double b) { return a < b; });
  compare("geu", [](double a, double b) { return !(a < b); });
  compare("equ", [](double a, double b) { return a == b || std::isnan(a) || std::isnan(b); });
  compare("nan", [](double a, double b) { return std::isnan(a) || std::isnan(b); });
  return rows;
}

}  // namespace regatta::test::forms
