// SPDX-License-Identifier: Apache-2.0
//
// f16, bf16 and pairs of them, rounded once from exact values.
#include "exact.h"

namespace regatta::test::forms {
namespace {

using Operation = std::function<u64(u64, u64, u64)>;

/// What the operations give, on bits.
struct Arithmetic {
  Small f;

  double value(u64 bits) const { return small_value(f, bits); }
  bool number(u64 bits) const { return !std::isnan(value(bits)); }
  u64 fused(u64 a, u64 b, u64 c) const { return small_sum(f, value(a) * value(b), value(c)); }  // the product is exact
  u64 negated(u64 bits) const { return number(bits) ? bits ^ 0x8000u : 0x7fffu; }
  u64 smaller(u64 a, u64 b) const {
    if (!number(a)) return number(b) ? b : 0x7fffu;
    if (!number(b)) return a;
    if (value(a) == value(b)) return (a & 0x8000u) != 0 ? a : b;
    return value(a) < value(b) ? a : b;
  }
  u64 larger(u64 a, u64 b) const {
    const u64 r = smaller(a ^ 0x8000u, b ^ 0x8000u);
    return !number(a) && !number(b) ? 0x7fffu : r ^ 0x8000u;
  }
  u64 saturated(u64 bits) const { return value(bits) > 0 ? (value(bits) < 1 ? bits : f.one()) : 0u; }
  u64 flushed(u64 bits) const { return (bits & f.infinity()) == 0 ? bits & 0x8000u : bits; }
};

/// The rows of one format.
class SmallRows {
 public:
  SmallRows(Rows& rows, const Small& format, std::string name, bool flushes)
      : rows_(rows), m_{format}, name_(std::move(name)), flushes_(flushes) {}

  void add() {
    // add.bf16 and its kin have no other rounding, and neither .ftz nor .sat.
    for (const std::string rounding : {"", ".rn"}) {
      modified(
          "add" + rounding, 2, [m = m_](u64 a, u64 b, u64) { return small_sum(m.f, m.value(a), m.value(b)); }, true);
      modified(
          "sub" + rounding, 2, [m = m_](u64 a, u64 b, u64) { return small_sum(m.f, m.value(a), -m.value(b)); }, true);
      modified(
          "mul" + rounding, 2, [m = m_](u64 a, u64 b, u64) { return round_small(m.f, m.value(a) * m.value(b)); }, true);
    }
    modified(
        "fma.rn", 3, [m = m_](u64 a, u64 b, u64 c) { return m.fused(a, b, c); }, true);
    row("fma.rn.relu", 3, [m = m_](u64 a, u64 b, u64 c) {
      const u64 r = m.fused(a, b, c);
      return (r & 0x8000u) != 0 ? u64{0} : r;
    });
    modified(
        "neg", 1, [m = m_](u64 a, u64, u64) { return m.negated(a); }, false);
    modified(
        "abs", 1, [m = m_](u64 a, u64, u64) { return m.number(a) ? a & 0x7fffu : u64{0x7fff}; }, false);
    modified(
        "min", 2, [m = m_](u64 a, u64 b, u64) { return m.smaller(a, b); }, false);
    modified(
        "max", 2, [m = m_](u64 a, u64 b, u64) { return m.larger(a, b); }, false);
    row("max.NaN", 2,
        [m = m_](u64 a, u64 b, u64) { return m.number(a) && m.number(b) ? m.larger(a, b) : u64{0x7fff}; });
    row(
        "ex2.approx.ftz", 1,
        [m = m_](u64 a, u64, u64) { return m.flushed(round_small(m.f, std::exp2(m.value(m.flushed(a))))); }, 1);
    if (flushes_) {
      row(
          "ex2.approx", 1, [m = m_](u64 a, u64, u64) { return round_small(m.f, std::exp2(m.value(a))); }, 1);
    }
    row(
        "tanh.approx", 1, [m = m_](u64 a, u64, u64) { return round_small(m.f, std::tanh(m.value(a))); }, 1);
    compare("eq", [](double a, double b) { return a == b; });
    compare("ne", [](double a, double b) { return a < b || a > b; });
    compare("lt", [](double a, double b) { return a < b; });
    compare("le", [](double a, double b) { return a <= b; });
    compare("gt", [](double a, double b) { return a > b; });
    compare("ge", [](double a, double b) { return a >= b; });
    compare("neu", [](double a, double b) { return !(a == b); });
    compare("ltu", [](double a, double b) { return !(a >= b); });
    compare("leu", [](double a, double b) { return !(a > b); });
    compare("gtu", [](double a, double b) { return !(a <= b); });
    compare("geu", [](double a, double b) { return !(a < b); });
    compare("equ", [](double a, double b) { return a == b || std::isnan(a) || std::isnan(b); });
    compare("nan", [](double a, double b) { return std::isnan(a) || std::isnan(b); });
  }

 private:
  void row(const std::string& form, unsigned sources, const Operation& f, u64 tolerance = 0) {
    const auto one = [f](u64 a, u64 b, u64 c) { return f(a & 0xffffu, b & 0xffffu, c & 0xffffu); };
    const std::string single = form + "." + name_, pair = single + "x2";
    rows_.push_back({single, 'h', plain(single, 'h', sources), Values::halves, each(one), false, tolerance});
    rows_.push_back({pair, 'r', plain(pair, 'r', sources), Values::halves,
                     each([one](u64 a, u64 b, u64 c) { return one(a, b, c) | (one(a >> 16, b >> 16, c >> 16) << 16); }),
                     false, tolerance});
  }
  void modified(const std::string& form, unsigned sources, const Operation& f, bool saturates) {
    row(form, sources, f);
    if (!flushes_) return;
    const Operation flushing = [m = m_, f](u64 a, u64 b, u64 c) {
      return m.flushed(f(m.flushed(a), m.flushed(b), m.flushed(c)));
    };
    row(form + ".ftz", sources, flushing);
    if (!saturates) return;
    row(form + ".sat", sources, [m = m_, f](u64 a, u64 b, u64 c) { return m.saturated(f(a, b, c)); });
    row(form + ".ftz.sat", sources, [m = m_, flushing](u64 a, u64 b, u64 c) { return m.saturated(flushing(a, b, c)); });
  }

  /// setp and set, of one and of two, alone and with a third predicate: is c odd.
  void compare(const std::string& name, bool (*f)(double, double)) {
    const auto holds = [m = m_, f](u64 a, u64 b) { return f(m.value(a & 0xffffu), m.value(b & 0xffffu)); };
    const std::string odd = "and.b32 %r8, %rc, 1; setp.ne.u32 %q2, %r8, 0; ";
    const std::string scalar = "." + name_, pair = scalar + "x2";
    rows_.push_back({"setp." + name + scalar, 'q', "setp." + name + scalar + " %q9, %ha, %hb;", Values::halves,
                     each([=](u64 a, u64 b, u64) { return u64{holds(a, b)}; })});
    // p is read with weight 1, q with 2.
    const std::string both = "selp.u32 %r9, 1, 0, %q3; selp.u32 %r8, 2, 0, %q4; add.u32 %r9, %r9, %r8;";
    rows_.push_back({"setp." + name + pair, 'r', "setp." + name + pair + " %q3|%q4, %ra, %rb; " + both, Values::halves,
                     each([=](u64 a, u64 b, u64) { return u64{holds(a, b)} | u64{holds(a >> 16, b >> 16)} << 1; })});
    rows_.push_back({"setp." + name + ".or" + pair, 'r',
                     odd + "setp." + name + ".or" + pair + " %q3|%q4, %ra, %rb, !%q2; " + both, Values::halves,
                     each([=](u64 a, u64 b, u64 c) {
                       const bool even = (c & 1u) == 0;
                       return u64{holds(a, b) || even} | u64{holds(a >> 16, b >> 16) || even} << 1;
                     })});
    // s16 is -1, in 16 bits of the register.
    for (const std::string& type : {name_, std::string("u16"), std::string("s16")}) {
      const u64 yes = type == name_ ? m_.f.one() : 0xffffu;
      const std::string form = "set." + name + "." + type + scalar;
      rows_.push_back({form, 'h', form + " %h9, %ha, %hb;", Values::halves,
                       each([=](u64 a, u64 b, u64) { return holds(a, b) ? yes : 0; })});
    }
    for (const std::string& type : {name_ + "x2", std::string("u32"), std::string("s32")}) {
      const u64 yes = type == name_ + "x2" ? m_.f.one() : 0xffffu;
      const std::string form = "set." + name + "." + type + pair;
      rows_.push_back({form, 'r', form + " %r9, %ra, %rb;", Values::halves, each([=](u64 a, u64 b, u64) {
                         return (holds(a, b) ? yes : 0) | (holds(a >> 16, b >> 16) ? yes : 0) << 16;
                       })});
    }
    const std::string form = "set." + name + ".and" + pair + pair;
    rows_.push_back(
        {form, 'r', odd + form + " %r9, %ra, %rb, %q2;", Values::halves, each([m = m_, holds](u64 a, u64 b, u64 c) {
           if ((c & 1u) == 0) return u64{0};
           return (holds(a, b) ? m.f.one() : 0) | (holds(a >> 16, b >> 16) ? m.f.one() : 0) << 16;
         })});
  }

  Rows& rows_;
  Arithmetic m_;
  std::string name_;
  bool flushes_;
};

}  // namespace

Rows half_rows() {
  Rows rows;
  SmallRows(rows, half_format, "f16", true).add();
  SmallRows(rows, brain_format, "bf16", false).add();
  return rows;
}

}  // namespace regatta::test::forms
