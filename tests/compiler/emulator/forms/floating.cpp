// SPDX-License-Identifier: Apache-2.0
//
// f32 and f64: correctly rounded operations from exact values, approximations from long double within a bound.
#include "exact.h"

#include <algorithm>

namespace regatta::test::forms {
namespace {

constexpr std::pair<const char*, Direction> directions[] = {
    {"rn", Direction::nearest}, {"rz", Direction::zero}, {"rm", Direction::down}, {"rp", Direction::up}};

/// An exact zero: of equal operands the sign stays, else it is + but for rounding down.
template <class T>
T zero_sum(T a, T b, Direction d) {
  if (a == 0 && b == 0 && std::signbit(a) == std::signbit(b)) return a;
  return d == Direction::down ? T{-0.0} : T{0};
}

template <class T>
T sum(T a, T b, Direction d) {
  if (!std::isfinite(a) || !std::isfinite(b)) return a + b;
  const Compare exact = exact_sum(a, b);
  return exact(0) == 0 ? zero_sum(a, b, d) : round_exact<T>(exact, a + b, d);
}
template <class T>
T product(T a, T b, Direction d) {
  if (!std::isfinite(a) || !std::isfinite(b) || a == 0 || b == 0) return a * b;
  return round_exact<T>(sum_of(static_cast<f128>(a) * b, 0), a * b, d);
}
template <class T>
T fused(T a, T b, T c, Direction d) {
  if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) return std::fma(a, b, c);
  const f128 p = static_cast<f128>(a) * b;
  const Compare exact = exact_sum(p, c);
  if (exact(0) == 0) return zero_sum(a * b == 0 ? a * b : static_cast<T>(sign_of(p)), c, d);
  return round_exact<T>(exact, static_cast<T>(p + c), d);
}
template <class T>
T quotient(T a, T b, Direction d) {
  if (!std::isfinite(a) || !std::isfinite(b) || a == 0 || b == 0) return a / b;
  const Compare exact = [a, b](f128 x) { return sign_of(static_cast<f128>(a) - x * b) * (b > 0 ? 1 : -1); };
  return round_exact<T>(exact, a / b, d);
}
template <class T>
T root(T a, Direction d) {
  if (!(a > 0) || std::isinf(a)) return std::sqrt(a);
  const Compare exact = [a](f128 x) { return x < 0 ? 1 : sign_of(static_cast<f128>(a) - x * x); };
  return round_exact<T>(exact, std::sqrt(a), d);
}
template <class T>
T saturated(T v) {
  return v > 0 ? std::min(v, T{1}) : T{0};
}

template <class T>
struct Maker {
  Rows& rows;
  const char kind = sizeof(T) == 4 ? 'f' : 'g';
  const std::string type = sizeof(T) == 4 ? "f32" : "f64";
  const Values values = sizeof(T) == 4 ? Values::floats : Values::doubles;

  using Operation = std::function<T(T, T, T)>;
  void row(const std::string& form, unsigned sources, const Operation& f, u64 tolerance = 0) {
    rows.push_back(
        {form + "." + type, kind, plain(form + "." + type, kind, sources), values,
         each([f](u64 a, u64 b, u64 c) { return number_bits(f(from_bits<T>(a), from_bits<T>(b), from_bits<T>(c))); }),
         false, tolerance});
  }
  /// The form, and for f32 the same with .ftz, .sat and both.
  void modified(const std::string& form, unsigned sources, const Operation& f, bool saturates, u64 tolerance = 0) {
    row(form, sources, f, tolerance);
    if (sizeof(T) != 4) return;
    const Operation flushed = [f](T a, T b, T c) { return flush(f(flush(a), flush(b), flush(c))); };
    row(form + ".ftz", sources, flushed, tolerance);
    if (!saturates) return;
    row(form + ".sat", sources, [f](T a, T b, T c) { return saturated(f(a, b, c)); });
    row(form + ".ftz.sat", sources, [flushed](T a, T b, T c) { return saturated(flushed(a, b, c)); });
  }
};

template <class T>
T smaller(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

template <class T>
void rounded(Rows& rows) {
  Maker<T> m{rows};
  const bool single = sizeof(T) == 4;
  const auto with = [&](const std::string& name, unsigned sources, const std::function<T(T, T, T, Direction)>& f,
                        bool saturates, bool plain_too) {
    const auto in = [f](Direction d) { return [f, d](T a, T b, T c) { return f(a, b, c, d); }; };
    if (plain_too) m.modified(name, sources, in(Direction::nearest), saturates);
    for (const auto& [suffix, d] : directions) m.modified(name + "." + suffix, sources, in(d), saturates);
  };
  with(
      "add", 2, [](T a, T b, T, Direction d) { return sum(a, b, d); }, single, true);
  with(
      "sub", 2, [](T a, T b, T, Direction d) { return sum(a, -b, d); }, single, true);
  with(
      "mul", 2, [](T a, T b, T, Direction d) { return product(a, b, d); }, single, true);
  with(
      "fma", 3, [](T a, T b, T c, Direction d) { return fused(a, b, c, d); }, single, false);
  with(
      "mad", 3, [](T a, T b, T c, Direction d) { return fused(a, b, c, d); }, single, false);
  with(
      "div", 2, [](T a, T b, T, Direction d) { return quotient(a, b, d); }, false, false);
  with(
      "rcp", 1, [](T a, T, T, Direction d) { return quotient(T{1}, a, d); }, false, false);
  with(
      "sqrt", 1, [](T a, T, T, Direction d) { return root(a, d); }, false, false);
  m.modified(
      "neg", 1, [](T a, T, T) { return -a; }, false);
  m.modified(
      "abs", 1, [](T a, T, T) { return std::fabs(a); }, false);
  m.modified(
      "min", 2, [](T a, T b, T) { return smaller(a, b); }, false);
  m.modified(
      "max", 2, [](T a, T b, T) { return -smaller(-a, -b); }, false);
  if (single) {
    const auto nan_first = [](T a, T b) { return std::isnan(a) || std::isnan(b); };
    m.row("min.NaN", 2, [=](T a, T b, T) { return nan_first(a, b) ? T{NAN} : smaller(a, b); });
    m.row("max.NaN", 2, [=](T a, T b, T) { return nan_first(a, b) ? T{NAN} : -smaller(-a, -b); });
  }
  rows.push_back(
      {"copysign." + m.type, m.kind, plain("copysign." + m.type, m.kind, 2), m.values, each([](u64 a, u64 b, u64) {
         const u64 sign = u64{1} << (8 * sizeof(T) - 1);
         return ((a & sign) | (b & (sign - 1))) & (sign | (sign - 1));
       })});
}

/// Approximations are within one unit of the exact value rounded.
template <class T>
void approximate(Rows& rows) {
  Maker<T> m{rows};
  const auto row = [&](const std::string& form, unsigned sources, const std::function<T(T, T)>& f,
                       bool flushes = true) {
    const auto operation = [f](T a, T b, T) { return f(a, b); };
    if (flushes)
      m.modified(form, sources, operation, false, 1);
    else
      m.row(form, sources, operation, 1);
  };
  using L = long double;
  row("rsqrt.approx", 1, [](T a, T) { return static_cast<T>(1 / std::sqrt(static_cast<L>(a))); });
  if (sizeof(T) == 8) return;
  row("div.approx", 2, [](T a, T b) { return a / b; });
  row("div.full", 2, [](T a, T b) { return a / b; });
  row("rcp.approx", 1, [](T a, T) { return 1 / a; });
  row("sqrt.approx", 1, [](T a, T) { return std::sqrt(a); });
  row("ex2.approx", 1, [](T a, T) { return static_cast<T>(std::exp2(static_cast<L>(a))); });
  row("lg2.approx", 1, [](T a, T) { return static_cast<T>(std::log2(static_cast<L>(a))); });
  row("sin.approx", 1, [](T a, T) { return static_cast<T>(std::sin(static_cast<L>(a))); });
  row("cos.approx", 1, [](T a, T) { return static_cast<T>(std::cos(static_cast<L>(a))); });
  row(
      "tanh.approx", 1, [](T a, T) { return static_cast<T>(std::tanh(static_cast<L>(a))); }, false);
}

/// The upper word in, the upper word out: 20 bits of fraction.
void upper_words(Rows& rows) {
  for (const bool root_too : {false, true}) {
    const std::string form = root_too ? "rsqrt.approx.ftz.f64" : "rcp.approx.ftz.f64";
    const auto normal_or_zero = [](double v) { return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0, v) : v; };
    rows.push_back({form, 'g', plain(form, 'g', 1), Values::doubles, each([=](u64 a, u64, u64) {
                      double x = normal_or_zero(from_bits<double>(a & ~u64{0xffffffff}));
                      if (root_too) x = std::sqrt(x);
                      return number_bits(normal_or_zero(1 / x));
                    }),
                    false, u64{1} << 32});
    rows.push_back({form, 'r', form + " %g9, %ga; mov.b64 {%r9, %r1}, %g9;", Values::doubles,
                    each([](u64, u64, u64) { return u64{0}; })});
  }
}

template <class T>
void comparisons(Rows& rows) {
  const std::string type = sizeof(T) == 4 ? "f32" : "f64";
  const char kind = sizeof(T) == 4 ? 'f' : 'g';
  struct Relation {
    const char* name;
    bool less, equal, greater, unordered;
  };
  const Relation relations[] = {
      {"eq", false, true, false, false}, {"ne", true, false, true, false},  {"lt", true, false, false, false},
      {"le", true, true, false, false},  {"gt", false, false, true, false}, {"ge", false, true, true, false},
      {"equ", false, true, false, true}, {"neu", true, false, true, true},  {"ltu", true, false, false, true},
      {"leu", true, true, false, true},  {"gtu", false, false, true, true}, {"geu", false, true, true, true},
      {"num", true, true, true, false},  {"nan", false, false, false, true}};
  for (const Relation& r : relations) {
    for (const bool ftz : {false, true}) {
      if (ftz && sizeof(T) == 8) continue;
      const std::string form = std::string("setp.") + r.name + (ftz ? ".ftz." : ".") + type;
      const std::string sources = ", " + reg(kind, 'a') + ", " + reg(kind, 'b');
      const auto holds = [r, ftz](u64 a, u64 b) {
        T x = from_bits<T>(a), y = from_bits<T>(b);
        if (ftz) {
          x = flush(x);
          y = flush(y);
        }
        if (std::isnan(x) || std::isnan(y)) return r.unordered;
        return x < y ? r.less : x > y ? r.greater : r.equal;
      };
      const Values values = sizeof(T) == 4 ? Values::floats : Values::doubles;
      rows.push_back({form, 'q', form + " %q9" + sources + ";", values,
                      each([holds](u64 a, u64 b, u64) { return u64{holds(a, b)}; })});
      const std::string set = std::string("set.") + r.name + (ftz ? ".ftz" : "") + ".u32." + type;
      rows.push_back({set, 'r', set + " %r9" + sources + ";", values,
                      each([holds](u64 a, u64 b, u64) { return holds(a, b) ? u64{0xffffffffu} : u64{0}; })});
    }
  }
}

}  // namespace

Rows float_rows() {
  Rows rows;
  rounded<float>(rows);
  rounded<double>(rows);
  approximate<float>(rows);
  approximate<double>(rows);
  upper_words(rows);
  comparisons<float>(rows);
  comparisons<double>(rows);
  return rows;
}

}  // namespace regatta::test::forms
