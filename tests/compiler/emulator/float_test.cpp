// SPDX-License-Identifier: Apache-2.0
#include "operations.h"

#include <cfenv>
#include <cmath>
#include <limits>

using namespace regatta::test;

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

u64 canonical(float v) { return std::isnan(v) ? 0x7fffffffu : bits(v); }
float flush(float v) { return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v; }

void check_single(const std::string& operation, const std::function<float(float, float, float)>& f) {
  check_operation(operation + " mov.b32 %r4, %f1; cvt.u64.u32 %out, %r4;", edge_floats(),
                  [&](u64 a, u64 b, u64 c) { return canonical(f(f32(a), f32(b), f32(c))); });
}
void check_double(const std::string& operation, const std::function<double(double, double, double)>& f) {
  // Which NaN a double operation gives is not part of what is checked.
  const std::string quiet = " setp.nan.f64 %q1, %g1, %g1; mov.b64 %out, %g1; @%q1 mov.u64 %out, 0x7ff8000000000000;";
  check_operation(operation + quiet, edge_doubles(), [&](u64 a, u64 b, u64 c) {
    const double r = f(f64(a), f64(b), f64(c));
    return std::isnan(r) ? 0x7ff8000000000000u : bits(r);
  });
}
/// Runs f under a rounding direction; volatile keeps the compiler from evaluating early.
float rounded(int mode, float a, float b, float (*f)(float, float)) {
  volatile float x = a, y = b;
  std::fesetround(mode);
  volatile float r = f(x, y);
  std::fesetround(FE_TONEAREST);
  return r;
}

}  // namespace

TEST_CASE("f32 add, mul, fma, div and sqrt are IEEE") {
  check_single("add.f32 %f1, %fa, %fb;", [](float a, float b, float) { return a + b; });
  check_single("sub.rn.f32 %f1, %fa, %fb;", [](float a, float b, float) { return a - b; });
  check_single("mul.f32 %f1, %fa, %fb;", [](float a, float b, float) { return a * b; });
  check_single("fma.rn.f32 %f1, %fa, %fb, %fc;", [](float a, float b, float c) { return std::fma(a, b, c); });
  check_single("div.rn.f32 %f1, %fa, %fb;", [](float a, float b, float) { return a / b; });
  check_single("sqrt.rn.f32 %f1, %fa;", [](float a, float, float) { return std::sqrt(a); });
  check_single("rcp.rn.f32 %f1, %fa;", [](float a, float, float) { return 1.0f / a; });
  check_single("neg.f32 %f1, %fa;", [](float a, float, float) { return -a; });
  check_single("abs.f32 %f1, %fa;", [](float a, float, float) { return std::fabs(a); });
}

TEST_CASE("f32 directed rounding") {
  check_single("add.rz.f32 %f1, %fa, %fb;", [](float a, float b, float) {
    return rounded(FE_TOWARDZERO, a, b, [](float x, float y) { return x + y; });
  });
  check_single("mul.rm.f32 %f1, %fa, %fb;", [](float a, float b, float) {
    return rounded(FE_DOWNWARD, a, b, [](float x, float y) { return x * y; });
  });
  check_single("div.rp.f32 %f1, %fa, %fb;", [](float a, float b, float) {
    return rounded(FE_UPWARD, a, b, [](float x, float y) { return x / y; });
  });
  // The direction does not stick.
  check_single("add.rp.f32 %f2, %fa, %fb; add.f32 %f1, %fa, %fb;", [](float a, float b, float) { return a + b; });
}

TEST_CASE("f32 flushing and saturation") {
  check_single("add.ftz.f32 %f1, %fa, %fb;", [](float a, float b, float) { return flush(flush(a) + flush(b)); });
  check_single("mul.ftz.f32 %f1, %fa, %fb;", [](float a, float b, float) { return flush(flush(a) * flush(b)); });
  check_single("add.sat.f32 %f1, %fa, %fb;", [](float a, float b, float) {
    const float r = a + b;
    return r > 0 ? std::min(r, 1.0f) : 0.0f;  // NaN becomes +0
  });
  check_single("fma.rn.ftz.sat.f32 %f1, %fa, %fb, %fc;", [](float a, float b, float c) {
    const float r = flush(std::fma(flush(a), flush(b), flush(c)));
    return r > 0 ? std::min(r, 1.0f) : 0.0f;
  });
}

TEST_CASE("minimum and maximum prefer numbers, and -0 is below +0") {
  const auto smaller = [](float a, float b) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  };
  check_single("min.f32 %f1, %fa, %fb;", [&](float a, float b, float) { return smaller(a, b); });
  check_single("max.f32 %f1, %fa, %fb;", [&](float a, float b, float) {
    if (std::isnan(a) || std::isnan(b)) return smaller(a, b);
    return -smaller(-a, -b);
  });
}

TEST_CASE("f32 compares, ordered and unordered") {
  const auto check = [](const std::string& name, bool (*f)(float, float)) {
    check_operation("setp." + name + ".f32 %q1, %fa, %fb; selp.u64 %out, 1, 0, %q1;", edge_floats(),
                    [f](u64 a, u64 b, u64) { return u64{f(f32(a), f32(b))}; });
  };
  check("eq", [](float a, float b) { return a == b; });
  check("ne", [](float a, float b) { return a < b || a > b; });
  check("lt", [](float a, float b) { return a < b; });
  check("le", [](float a, float b) { return a <= b; });
  check("gt", [](float a, float b) { return a > b; });
  check("ge", [](float a, float b) { return a >= b; });
  check("equ", [](float a, float b) { return !(a < b || a > b); });
  check("neu", [](float a, float b) { return a != b; });
  check("ltu", [](float a, float b) { return !(a >= b); });
  check("leu", [](float a, float b) { return !(a > b); });
  check("gtu", [](float a, float b) { return !(a <= b); });
  check("geu", [](float a, float b) { return !(a < b); });
  check("num", [](float a, float b) { return !std::isnan(a) && !std::isnan(b); });
  check("nan", [](float a, float b) { return std::isnan(a) || std::isnan(b); });
}

TEST_CASE("f64 arithmetic is IEEE") {
  check_double("add.f64 %g1, %ga, %gb;", [](double a, double b, double) { return a + b; });
  check_double("mul.f64 %g1, %ga, %gb;", [](double a, double b, double) { return a * b; });
  check_double("fma.rn.f64 %g1, %ga, %gb, %gc;", [](double a, double b, double c) { return std::fma(a, b, c); });
  check_double("div.rn.f64 %g1, %ga, %gb;", [](double a, double b, double) { return a / b; });
  check_double("sqrt.rn.f64 %g1, %ga;", [](double a, double, double) { return std::sqrt(a); });
}

TEST_CASE("approximate functions are within one unit in the last place of the exact value") {
  const auto check = [](const std::string& operation, double (*f)(double)) {
    check_operation(operation + " mov.b32 %r4, %f1; cvt.u64.u32 %out, %r4;", edge_floats(),
                    [f](u64 a, u64, u64) { return canonical(static_cast<float>(f(static_cast<double>(f32(a))))); });
  };
  check("ex2.approx.f32 %f1, %fa;", [](double a) { return std::exp2(a); });
  check("lg2.approx.f32 %f1, %fa;", [](double a) { return std::log2(a); });
  check("sin.approx.f32 %f1, %fa;", [](double a) { return std::sin(a); });
  check("cos.approx.f32 %f1, %fa;", [](double a) { return std::cos(a); });
  check("tanh.approx.f32 %f1, %fa;", [](double a) { return std::tanh(a); });
  check("rsqrt.approx.f32 %f1, %fa;", [](double a) { return 1.0 / std::sqrt(a); });
  check("sqrt.approx.f32 %f1, %fa;", [](double a) { return std::sqrt(a); });
}

TEST_CASE("a NaN that changes its width is the canonical one") {
  check_operation("cvt.f64.f32 %g1, %fa; mov.b64 %out, %g1;", edge_floats(), [](u64 a, u64, u64) {
    const float v = f32(a);
    return std::isnan(v) ? u64{0xfff8000000000000} : bits(static_cast<double>(v));
  });
  check_operation("cvt.sat.f64.f32 %g1, %fa; mov.b64 %out, %g1;", edge_floats(), [](u64 a, u64, u64) {
    const float v = f32(a);
    return bits(v > 0 ? std::min(static_cast<double>(v), 1.0) : 0.0);
  });
  check_operation("cvt.rn.f32.f64 %f1, %ga; mov.b32 %r4, %f1; cvt.u64.u32 %out, %r4;", edge_doubles(),
                  [](u64 a, u64, u64) { return canonical(static_cast<float>(f64(a))); });
}

TEST_CASE("float to integer conversion rounds as asked and saturates") {
  const auto clamp = [](double r, double low, double high) { return r < low ? low : r > high ? high : r; };
  check_operation("cvt.rzi.s32.f32 %r4, %fa; cvt.u64.u32 %out, %r4;", edge_floats(), [&](u64 a, u64, u64) {
    const double v = static_cast<double>(f32(a));
    return std::isnan(v)
               ? u64{0}
               : u64{static_cast<u32>(static_cast<std::int32_t>(clamp(std::trunc(v), -2147483648.0, 2147483647.0)))};
  });
  check_operation("cvt.rni.u32.f32 %r4, %fa; cvt.u64.u32 %out, %r4;", edge_floats(), [&](u64 a, u64, u64) {
    const double v = static_cast<double>(f32(a));
    return std::isnan(v) ? u64{0} : static_cast<u64>(clamp(std::nearbyint(v), 0, 4294967295.0));
  });
  check_operation("cvt.rmi.s32.f64 %r4, %ga; cvt.u64.u32 %out, %r4;", edge_doubles(), [&](u64 a, u64, u64) {
    const double v = f64(a);
    return std::isnan(v)
               ? u64{0x80000000}
               : u64{static_cast<u32>(static_cast<std::int32_t>(clamp(std::floor(v), -2147483648.0, 2147483647.0)))};
  });
  check_operation("cvt.rpi.s64.f64 %out, %ga;", edge_doubles(), [&](u64 a, u64, u64) {
    const double v = std::ceil(f64(a));
    if (std::isnan(v)) return u64{1} << 63;
    if (v >= 9223372036854775808.0) return u64{INT64_MAX};
    return v < -9223372036854775808.0 ? u64{1} << 63 : static_cast<u64>(static_cast<std::int64_t>(v));
  });
  check_operation("cvt.rni.f32.f32 %f1, %fa; mov.b32 %r4, %f1; cvt.u64.u32 %out, %r4;", edge_floats(),
                  [](u64 a, u64, u64) { return canonical(std::nearbyint(f32(a))); });
}

TEST_CASE("integer to float conversion and between widths") {
  check_operation("cvt.rn.f32.s32 %f1, %ra; mov.b32 %r4, %f1; cvt.u64.u32 %out, %r4;", edge_integers(),
                  [](u64 a, u64, u64) { return bits(static_cast<float>(static_cast<std::int32_t>(a))); });
  check_operation("cvt.rn.f32.u32 %f1, %ra; mov.b32 %r4, %f1; cvt.u64.u32 %out, %r4;", edge_integers(),
                  [](u64 a, u64, u64) { return bits(static_cast<float>(static_cast<u32>(a))); });
  check_operation("cvt.rn.f32.u64 %f1, %da; mov.b32 %r4, %f1; cvt.u64.u32 %out, %r4;", edge_integers(),
                  [](u64 a, u64, u64) { return bits(static_cast<float>(a)); });
  check_operation("cvt.rn.f64.s64 %g1, %da; mov.b64 %out, %g1;", edge_integers(),
                  [](u64 a, u64, u64) { return bits(static_cast<double>(static_cast<std::int64_t>(a))); });
  check_operation("cvt.f64.f32 %g1, %fa; setp.nan.f64 %q1, %g1, %g1; mov.b64 %out, %g1; @%q1 mov.u64 %out, 0;",
                  edge_floats(),
                  [](u64 a, u64, u64) { return std::isnan(f32(a)) ? u64{0} : bits(static_cast<double>(f32(a))); });
  check_operation("cvt.rn.f32.f64 %f1, %ga; mov.b32 %r4, %f1; cvt.u64.u32 %out, %r4;", edge_doubles(),
                  [](u64 a, u64, u64) { return canonical(static_cast<float>(f64(a))); });
  check_operation("cvt.rz.f32.f64 %f1, %ga; mov.b32 %r4, %f1; cvt.u64.u32 %out, %r4;", edge_doubles(),
                  [](u64 a, u64, u64) {
                    const double v = f64(a);
                    if (std::isnan(v)) return u64{0x7fffffff};
                    float r = static_cast<float>(v);
                    if (std::fabs(static_cast<double>(r)) > std::fabs(v)) r = std::nextafter(r, 0.0f);
                    return bits(r);
                  });
  check_operation("cvt.s64.s32 %out, %ra;", edge_integers(), [](u64 a, u64, u64) {
    return static_cast<u64>(static_cast<std::int64_t>(static_cast<std::int32_t>(a)));
  });
  check_operation("cvt.sat.u8.s32 %r4, %ra; cvt.u64.u32 %out, %r4;", edge_integers(), [](u64 a, u64, u64) {
    const auto v = static_cast<std::int32_t>(a);
    return u64{v < 0 ? 0u : v > 255 ? 255u : static_cast<u32>(v)};
  });
  check_operation("cvt.s32.s8 %r4, %ra; cvt.u64.u32 %out, %r4;", edge_integers(), [](u64 a, u64, u64) {
    return u64{static_cast<u32>(static_cast<std::int32_t>(static_cast<std::int8_t>(a)))};
  });
}

TEST_CASE("every half survives the way to f32 and back") {
  std::vector<u64> halves;
  for (u32 h = 0; h < 0x10000; h += 257) halves.push_back(h);
  check_operation("cvt.f32.f16 %f1, %ha; cvt.rn.f16.f32 %h1, %f1; cvt.u64.u16 %out, %h1;", halves, [](u64 a, u64, u64) {
    const bool nan = (a & 0x7c00) == 0x7c00 && (a & 0x3ff) != 0;
    return nan ? u64{0x7fff} : a & 0xffff;
  });
}

TEST_CASE("f32 to f16 rounds to nearest even") {
  const std::vector<std::pair<float, u32>> known{
      {1.0f, 0x3c00},       {1.00048828125f, 0x3c00}, {1.00146484375f, 0x3c02}, {65519.0f, 0x7bff},
      {65520.0f, 0x7c00},   {5.9604645e-8f, 0x0001},  {2.98023224e-8f, 0x0000}, {2.9802326e-8f, 0x0001},
      {6.1005e-5f, 0x03ff}, {-2.0f, 0xc000}};
  std::vector<u64> inputs;
  for (const auto& k : known) inputs.push_back(bits(k.first));
  check_operation("cvt.rn.f16.f32 %h1, %fa; cvt.u64.u16 %out, %h1;", inputs, [&](u64 a, u64, u64) -> u64 {
    for (const auto& k : known) {
      if (bits(k.first) == (a & 0xffffffff)) return k.second;
    }
    // Filler of the harness: the same rounding, by search over all halves.
    const double v = static_cast<double>(f32(a));
    if (std::isnan(v)) return 0x7fff;
    const u64 sign = std::signbit(v) ? 0x8000 : 0;
    if (std::fabs(v) >= 65520.0) return sign | 0x7c00;
    u64 best = 0;
    double best_distance = std::numeric_limits<double>::infinity();
    for (u64 h = 0; h < 0x7c00; ++h) {
      const double value = h < 0x400
                               ? std::ldexp(static_cast<double>(h), -24)
                               : std::ldexp(static_cast<double>(0x400 + (h & 0x3ff)), static_cast<int>(h >> 10) - 25);
      const double distance = std::fabs(std::fabs(v) - value);
      if (distance < best_distance || (distance == best_distance && (h & 1) == 0)) {
        best = h;
        best_distance = distance;
      }
    }
    return sign | best;
  });
}
