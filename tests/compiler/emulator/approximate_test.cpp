// SPDX-License-Identifier: Apache-2.0
//
// EmulatorOptions::approximations h100: digests over whole binades and samples as an H100 gave them; special values;
// error bounds of the PTX ISA everywhere; operations that refine an approximation stay exact.
#include "harness.h"
#include "lanes.h"

#include <regatta/launch/fill.h>
#include <regatta/test/catch.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

using namespace regatta;
using namespace regatta::test;
using emulator::Approximations;

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

float number(u32 bits) {
  float v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}
u32 bits(float v) {
  u32 b;
  std::memcpy(&b, &v, sizeof b);
  return b;
}

/// One operation on arrays of lanes, without a kernel around it.
class Lanes {
 public:
  Lanes(ir::Opcode op, bool ftz, Approximations approximations = Approximations::h100,
        emulator::Quotient quotient = emulator::Quotient::exact) {
    emulator::LaneKey key;
    key.op = op;
    key.type = ir::Type::f32;
    key.ftz = ftz;
    key.approximations = approximations;
    key.quotient = quotient;
    op_.function = emulator::select_lane_function(key, width);
    REQUIRE(op_.function != nullptr);
    op_.type = ir::Type::f32;
    op_.source[0] = {emulator::Bank::registers, 0};
    op_.source[1] = {emulator::Bank::registers, width};
    op_.destination = 2 * width;
    regs_.bank[0] = registers_;
    regs_.active = ~u64{0};
    for (u32& m : regs_.mask) m = ~0u;
  }
  static constexpr unsigned width = 64;
  u32* a() { return registers_; }
  u32* b() { return registers_ + width; }
  const u32* result() {
    op_.function(op_, regs_);
    return registers_ + 2 * width;
  }
  u32 operator()(u32 x, u32 y = 0) {
    a()[0] = x;
    b()[0] = y;
    return result()[0];
  }
  float operator()(float x, float y = 0) { return number((*this)(bits(x), bits(y))); }

 private:
  alignas(64) u32 registers_[3 * width] = {};
  emulator::LaneOp op_;
  emulator::WarpRegs regs_;
};

struct Binade {
  const char* name;
  ir::Opcode op;
  u32 first, end;
  u64 digest;
};

// Of the results an H100 gave, one by one: h = (h ^ result) * 0x100000001b3, from 0xcbf29ce484222325 on. The first
// 91,328 points of lg2 have no exact measurement.
constexpr Binade binades[] = {
    {"rcp", ir::Opcode::rcp, 0x3f800000u, 0x40000000u, 0xfa72a6c698274964u},
    {"rcp", ir::Opcode::rcp, 0x40000000u, 0x40800000u, 0x24b74bd9ff274964u},
    {"rsqrt", ir::Opcode::rsqrt, 0x3f800000u, 0x40000000u, 0x0c40b0bdf554807cu},
    {"rsqrt", ir::Opcode::rsqrt, 0x40000000u, 0x40800000u, 0xac1e22b0ce75548bu},
    {"sqrt", ir::Opcode::sqrt, 0x3f800000u, 0x40000000u, 0xec162b03dcc39119u},
    {"ex2", ir::Opcode::ex2, 0x3f800000u, 0x40000000u, 0x3f0f3852f2fa7edbu},
    {"lg2", ir::Opcode::lg2, 0x3f8164c0u, 0x40000000u, 0xf43dda08d64e580du},
    {"sin", ir::Opcode::sin, 0x3f000000u, 0x3f800000u, 0x751f616942de2910u},
    {"cos", ir::Opcode::cos, 0x3f000000u, 0x3f800000u, 0xa6f02f9fbaf8b936u},
    {"tanh", ir::Opcode::tanh, 0x3f000000u, 0x3f800000u, 0xecb8e846da554505u},
};

u64 digest_of(const Binade& b, bool ftz) {
  Lanes lanes(b.op, ftz);
  u64 digest = 0xcbf29ce484222325u;
  for (u32 x = b.first; x != b.end; x += Lanes::width) {
    for (unsigned i = 0; i < Lanes::width; ++i) lanes.a()[i] = x + i;
    const u32* r = lanes.result();
    for (unsigned i = 0; i < Lanes::width; ++i) digest = (digest ^ r[i]) * 0x100000001b3u;
  }
  return digest;
}

ir::Opcode opcode_named(const std::string& name) {
  for (const Binade& b : binades) {
    if (name == b.name) return b.op;
  }
  FAIL("no operation " << name);
  return ir::Opcode::nop;
}

/// Numbers of all magnitudes, half of them between 2^-16 and 2^16.
std::vector<u32> operands(std::size_t count) {
  std::vector<u32> all;
  for (std::size_t i = 0; i < count; ++i) {
    const u64 word = launch::random_word(7, i);
    const u32 exponent = (word & 1) != 0 ? 111 + (word >> 8) % 32 : (word >> 8) % 256;
    all.push_back(static_cast<u32>(word >> 41) | (exponent << 23) | ((word >> 4 & 1) != 0 ? 0x80000000u : 0u));
  }
  return all;
}

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr u32 nan_bits = 0x7fffffffu;

/// A kernel that applies `body` (%a, %b to %r, all .b32) to two arrays.
std::vector<u32> run(const std::string& body, const std::vector<u32>& a, const std::vector<u32>& b,
                     Approximations approximations, const passes::Target& target = passes::Target::generic()) {
  Machine m(module_text(".param .u64 a, .param .u64 b, .param .u64 r",
                        ".reg .b32 %a, %b, %r, %i; .reg .b64 %p, %q, %o; .reg .f32 %x, %y, %z;\n"
                        "mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 4;\n"
                        "ld.param.u64 %p, [a]; add.u64 %p, %p, %o; ld.global.u32 %a, [%p];\n"
                        "ld.param.u64 %p, [b]; add.u64 %p, %p, %o; ld.global.u32 %b, [%p];\n"
                        "mov.b32 %x, %a; mov.b32 %y, %b;\n" +
                            body + "\nld.param.u64 %q, [r]; add.u64 %q, %q, %o; st.global.u32 [%q], %r; ret;\n",
                        "", "sm_90"),
            32, 255, "", target);
  m.options.approximations = approximations;
  REQUIRE(a.size() <= 1024);
  const u64 at = m.buffer("r", 4 * a.size());
  m.parameter(m.buffer("a", a));
  m.parameter(m.buffer("b", b));
  m.parameter(at);
  m.request.block = {static_cast<u32>(a.size()), 1, 1};
  m.run();
  return m.read<u32>(at, a.size());
}
std::string unary(const std::string& instruction) { return instruction + " %z, %x; mov.b32 %r, %z;"; }
std::string quotient(const std::string& instruction) { return instruction + " %z, %x, %y; mov.b32 %r, %z;"; }

}  // namespace

TEST_CASE("whole binades are what an H100 gave") {
  for (const Binade& b : binades) {
    INFO(b.name << " from " << b.first);
    CHECK(digest_of(b, true) == b.digest);
    // Neither operands nor results are subnormal here.
    CHECK(digest_of(b, false) == b.digest);
  }
}

TEST_CASE("samples are what an H100 gave") {
  std::istringstream lines(sample("approximate.txt"));
  std::string line;
  std::size_t count = 0;
  while (std::getline(lines, line)) {
    if (line[0] == '#') continue;
    std::istringstream words(line);
    std::string name;
    u32 operand = 0, result = 0;
    words >> name >> std::hex >> operand >> result;
    REQUIRE(words);
    INFO(line);
    CHECK(Lanes(opcode_named(name), true)(operand) == result);
    // sin and tanh are odd, cos is even; nothing of that was measured.
    if (name == "sin" || name == "tanh")
      CHECK(Lanes(opcode_named(name), true)(operand ^ 0x80000000u) == (result ^ 0x80000000u));
    if (name == "cos") CHECK(Lanes(opcode_named(name), true)(operand ^ 0x80000000u) == result);
    ++count;
  }
  CHECK(count == 320);
}

TEST_CASE("where lg2 was measured to be far off, it is") {
  // The measurement stops at 127 units above the rounded result.
  Lanes lg2(ir::Opcode::lg2, true);
  for (u32 x = 0x3f800001u; x < 0x3f800100u; ++x) {
    const u32 rounded = bits(static_cast<float>(std::log2(static_cast<double>(number(x)))));
    CHECK(lg2(x) - rounded >= 127);
    CHECK(lg2(x) > rounded);
  }
  CHECK(lg2(1.0f) == 0);
}

TEST_CASE("powers are exact where the unit says so") {
  for (int k = -63; k <= 63; ++k) {
    const float x = std::ldexp(1.0f, 2 * k);
    CHECK(Lanes(ir::Opcode::rsqrt, true)(x) == std::ldexp(1.0f, -k));
    CHECK(Lanes(ir::Opcode::sqrt, true)(x) == std::ldexp(1.0f, k));
    CHECK(Lanes(ir::Opcode::rcp, true)(std::ldexp(1.0f, k)) == std::ldexp(1.0f, -k));
    CHECK(Lanes(ir::Opcode::ex2, true)(static_cast<float>(k)) == std::ldexp(1.0f, k));
    // Of 1/2 and smaller powers: the sum is a little too large, and truncated.
    const float logarithm = Lanes(ir::Opcode::lg2, true)(std::ldexp(1.0f, k)), power = static_cast<float>(k);
    CHECK((k >= 0 ? logarithm == power : logarithm > power && logarithm <= power * (1 - 0x1p-22f)));
  }
}

TEST_CASE("special values with and without .ftz") {
  using O = ir::Opcode;
  const float tiny = number(0x00400000u), small = 0x1p-140f, huge = 0x1p127f;  // the first two are subnormal
  struct Case {
    O op;
    float x, with_ftz, without;
  };
  const Case cases[] = {
      {O::rcp, 0.0f, inf, inf},           {O::rcp, -0.0f, -inf, -inf},
      {O::rcp, inf, 0.0f, 0.0f},          {O::rcp, -inf, -0.0f, -0.0f},
      {O::rcp, tiny, inf, 0x1p127f},      {O::rcp, -tiny, -inf, -0x1p127f},
      {O::rcp, small, inf, inf},          {O::rcp, huge, 0.0f, 0x1p-127f},
      {O::rcp, -huge, -0.0f, -0x1p-127f}, {O::rsqrt, 0.0f, inf, inf},
      {O::rsqrt, -0.0f, -inf, -inf},      {O::rsqrt, inf, 0.0f, 0.0f},
      {O::rsqrt, small, inf, 0x1p70f},    {O::sqrt, 0.0f, 0.0f, 0.0f},
      {O::sqrt, -0.0f, -0.0f, -0.0f},     {O::sqrt, inf, inf, inf},
      {O::sqrt, small, 0.0f, 0x1p-70f},   {O::ex2, 0.0f, 1.0f, 1.0f},
      {O::ex2, -0.0f, 1.0f, 1.0f},        {O::ex2, small, 1.0f, 1.0f},
      {O::ex2, -small, 1.0f, 1.0f},       {O::ex2, inf, inf, inf},
      {O::ex2, -inf, 0.0f, 0.0f},         {O::ex2, 128.0f, inf, inf},
      {O::ex2, 1e30f, inf, inf},          {O::ex2, -1e30f, 0.0f, 0.0f},
      {O::ex2, -128.0f, 0.0f, 0x1p-128f}, {O::ex2, -149.0f, 0.0f, 0x1p-149f},
      {O::ex2, -152.0f, 0.0f, 0.0f},      {O::lg2, 0.0f, -inf, -inf},
      {O::lg2, -0.0f, -inf, -inf},        {O::lg2, inf, inf, inf},
      {O::lg2, small, -inf, -140.0f},     {O::lg2, -small, -inf, std::numeric_limits<float>::quiet_NaN()},
      {O::sin, 0.0f, 0.0f, 0.0f},         {O::sin, -0.0f, -0.0f, -0.0f},
      {O::sin, small, 0.0f, 0.0f},        {O::sin, -small, -0.0f, -0.0f},
      {O::cos, small, 1.0f, 1.0f},        {O::tanh, 0.0f, 0.0f, 0.0f},
      {O::tanh, -0.0f, -0.0f, -0.0f},     {O::tanh, inf, 1.0f, 1.0f},
      {O::tanh, -inf, -1.0f, -1.0f},
  };
  for (const Case& c : cases) {
    INFO(ir::to_string(c.op) << " " << c.x);
    const auto same = [](u32 found, float expected) {
      CHECK(found == (std::isnan(expected) ? nan_bits : bits(expected)));
    };
    same(Lanes(c.op, true)(bits(c.x)), c.with_ftz);
    same(Lanes(c.op, false)(bits(c.x)), c.without);
  }
  // cos(0) is the last segment's end, not quite 1.
  CHECK(Lanes(O::cos, true)(0.0f) == Lanes(O::cos, true)(small));
  for (const bool ftz : {true, false}) {
    for (const O op : {O::rcp, O::rsqrt, O::sqrt, O::ex2, O::lg2, O::sin, O::cos, O::tanh}) {
      CHECK(Lanes(op, ftz)(0x7fc00000u) == nan_bits);
      CHECK(Lanes(op, ftz)(0xff800001u) == nan_bits);
    }
    for (const O op : {O::rsqrt, O::sqrt, O::lg2}) {
      CHECK(Lanes(op, ftz)(bits(-1.0f)) == nan_bits);
      CHECK(Lanes(op, ftz)(bits(-inf)) == nan_bits);
    }
    for (const O op : {O::sin, O::cos}) {
      CHECK(Lanes(op, ftz)(bits(inf)) == nan_bits);
      CHECK(Lanes(op, ftz)(bits(-inf)) == nan_bits);
    }
  }
}

TEST_CASE("errors stay within what the PTX ISA states") {
  struct Bound {
    ir::Opcode op;
    double low, high;           // of the operand
    double relative, absolute;  // either may hold
    double (*exact)(double);
  };
  using O = ir::Opcode;
  constexpr double pi = 3.14159265358979323846;
  const Bound bounds[] = {
      {O::rcp, 0, 1e39, std::ldexp(1.0, -23), 0, [](double x) { return 1 / x; }},
      {O::sqrt, 0, 1e39, std::ldexp(1.0, -23), 0, [](double x) { return std::sqrt(x); }},
      {O::rsqrt, 0, 1e39, std::pow(2, -22.9), 0, [](double x) { return 1 / std::sqrt(x); }},
      {O::ex2, -126, 128, std::pow(2, -22), 0, [](double x) { return std::exp2(x); }},
      {O::lg2, 0, 1e39, std::pow(2, -22), std::pow(2, -22), [](double x) { return std::log2(x); }},
      {O::sin, -pi, pi, 0, std::pow(2, -20.5), [](double x) { return std::sin(x); }},
      {O::cos, -pi, pi, 0, std::pow(2, -20.5), [](double x) { return std::cos(x); }},
      {O::tanh, -1e39, 1e39, std::pow(2, -11), 0, [](double x) { return std::tanh(x); }},
  };
  const std::vector<u32> all = operands(1 << 19);
  for (const Bound& b : bounds) {
    for (const bool ftz : {true, false}) {
      Lanes lanes(b.op, ftz);
      std::size_t checked = 0, wrong = 0;
      for (const u32 x : all) {
        const double v = number(x);
        if (!(v > b.low && v < b.high)) continue;
        const double exact = b.exact(v), found = number(lanes(x));
        const double smallest = std::ldexp(1.0, -126);
        if (ftz && (std::fabs(v) < smallest || std::fabs(exact) < smallest)) continue;
        if (std::fabs(exact) > std::numeric_limits<float>::max()) continue;
        // A subnormal result has the distance of its neighbours.
        const double allowed = std::max({std::fabs(exact) * b.relative, b.absolute, std::ldexp(1.0, -149)});
        ++checked;
        if (!(std::fabs(found - exact) <= allowed)) {
          if (++wrong < 4) INFO(v << " gives " << found);
        }
      }
      INFO(ir::to_string(b.op) << (ftz ? ".ftz" : ""));
      CHECK(wrong == 0);
      CHECK(checked > 20000);
    }
  }
}

TEST_CASE("quotients are products with the unit's reciprocal") {
  using Q = emulator::Quotient;
  Lanes rcp(ir::Opcode::rcp, true);
  Lanes approximate(ir::Opcode::div, false, Approximations::h100, Q::approximate),
      flushed(ir::Opcode::div, true, Approximations::h100, Q::approximate),
      full(ir::Opcode::div, false, Approximations::h100, Q::full),
      full_flushed(ir::Opcode::div, true, Approximations::h100, Q::full);
  for (unsigned i = 0; i < 10000; ++i) {
    const float a = 1 + number(0x3f800000u | static_cast<u32>(launch::random_word(1, i) >> 41));
    const float b = number(0x3f800000u | static_cast<u32>(launch::random_word(2, i) >> 41));
    const float expected = a * rcp(b);
    CHECK(approximate(a, b) == expected);
    CHECK(flushed(a, b) == expected);
    CHECK(full(a, b) == expected);
    CHECK(full_flushed(a, b) == expected);
  }
  // The ISA: for divisors above 2^126, div.approx gives 0, of an infinity NaN; div.full is right there.
  const float large = 0x1.8p126f;
  CHECK(approximate(large, large) == 0);
  CHECK(flushed(large, large) == 0);
  CHECK(std::isnan(approximate(inf, large)));
  CHECK(full(large, large) == 1);
  CHECK(full_flushed(large, large) == 1);
  CHECK(full(inf, large) == inf);
  const float subnormal = 0x1p-130f;
  CHECK(approximate(subnormal, subnormal) == 1);
  CHECK(full(subnormal, subnormal) == 1);
  CHECK(std::isnan(flushed(subnormal, subnormal)));
  CHECK(std::isnan(full_flushed(subnormal, subnormal)));
  CHECK(approximate(1.0f, 0.0f) == inf);
  CHECK(approximate(-1.0f, 0.0f) == -inf);
  CHECK(std::isnan(approximate(0.0f, 0.0f)));
  CHECK(std::isnan(approximate(inf, inf)));
  CHECK(bits(approximate(-1.0f, inf)) == bits(-0.0f));
  // Each word of the sum counts in the error: at most 2 units.
  for (const u32 x : operands(100000)) {
    const float b = number(x);
    if (!(std::fabs(b) > 0x1p-126f && std::fabs(b) < 0x1p126f)) continue;
    const double exact = 1.5 / static_cast<double>(b);
    CHECK(std::fabs(static_cast<double>(full(1.5f, b)) - exact) <= std::max(std::fabs(exact) * 0x1p-22, 0x1p-149));
  }
}

TEST_CASE("kernels compute approximations on request only, in both machine codes") {
  std::vector<u32> a, b;
  for (unsigned i = 0; i < 1024; ++i) {
    a.push_back(0x3f000000u | static_cast<u32>(launch::random_word(3, i) >> 41));
    b.push_back(0x3f800000u | static_cast<u32>(launch::random_word(4, i) >> 41));
  }
  struct Case {
    const char* instruction;
    ir::Opcode op;
    bool ftz;
  };
  using O = ir::Opcode;
  const Case cases[] = {{"rcp.approx.f32", O::rcp, false},     {"rcp.approx.ftz.f32", O::rcp, true},
                        {"rsqrt.approx.f32", O::rsqrt, false}, {"rsqrt.approx.ftz.f32", O::rsqrt, true},
                        {"sqrt.approx.f32", O::sqrt, false},   {"sqrt.approx.ftz.f32", O::sqrt, true},
                        {"ex2.approx.f32", O::ex2, false},     {"ex2.approx.ftz.f32", O::ex2, true},
                        {"lg2.approx.f32", O::lg2, false},     {"lg2.approx.ftz.f32", O::lg2, true},
                        {"sin.approx.f32", O::sin, false},     {"sin.approx.ftz.f32", O::sin, true},
                        {"cos.approx.f32", O::cos, false},     {"cos.approx.ftz.f32", O::cos, true},
                        {"tanh.approx.f32", O::tanh, false}};
  for (const Case& c : cases) {
    INFO(c.instruction);
    Lanes unit(c.op, c.ftz), exact(c.op, c.ftz, Approximations::rounded);
    std::vector<u32> approximated, rounded;
    for (const u32 x : a) {
      approximated.push_back(unit(x));
      rounded.push_back(exact(x));
    }
    REQUIRE(approximated != rounded);
    for (const passes::Target& target : {passes::Target::generic(), passes::Target::named("sm_90")}) {
      CHECK(run(unary(c.instruction), a, b, Approximations::h100, target) == approximated);
      CHECK(run(unary(c.instruction), a, b, Approximations::rounded, target) == rounded);
    }
  }
  for (const char* instruction : {"div.approx.f32", "div.approx.ftz.f32", "div.full.f32", "div.full.ftz.f32"}) {
    INFO(instruction);
    Lanes rcp(O::rcp, true);
    std::vector<u32> products, quotients;
    for (std::size_t i = 0; i < a.size(); ++i) {
      products.push_back(bits(number(a[i]) * rcp(number(b[i]))));
      quotients.push_back(bits(number(a[i]) / number(b[i])));
    }
    REQUIRE(products != quotients);
    CHECK(run(quotient(instruction), a, b, Approximations::h100) == products);
    CHECK(run(quotient(instruction), a, b, Approximations::rounded) == quotients);
  }
}

TEST_CASE("halves and doubles keep their rounded results") {
  const std::vector<u32> a = operands(1024);
  for (const std::string& body :
       {std::string(
            ".reg .b16 %h, %k; mov.b32 {%h, %k}, %a; ex2.approx.f16 %h, %h; tanh.approx.f16 %k, %k; mov.b32 %r, "
            "{%h, %k};"),
        std::string(".reg .f64 %d; cvt.f64.f32 %d, %x; rcp.approx.ftz.f64 %d, %d; mov.b64 {%i, %r}, %d;")}) {
    CHECK(run(body, a, a, Approximations::h100) == run(body, a, a, Approximations::rounded));
  }
}

TEST_CASE("what refines an approximation stays exact") {
  std::vector<u32> all = {0u,          0x80000000u, 1u,          0x007fffffu, 0x00800000u, 0x7f7fffffu,
                          0x7f800000u, 0x7fc00000u, 0x3f800000u, 0x3fffffffu, 0x40000000u, 0xffffffffu,
                          3u,          7u,          10u,         641u};
  const std::vector<u32> others = operands(6128);
  all.insert(all.end(), others.begin(), others.end());
  const passes::Target hopper = passes::Target::named("sm_90");
  for (std::size_t at = 0; at + 1024 <= all.size(); at += 512) {
    const std::vector<u32> a(all.begin() + static_cast<std::ptrdiff_t>(at),
                             all.begin() + static_cast<std::ptrdiff_t>(at + 1024));
    std::vector<u32> b(a.rbegin(), a.rend());
    for (const std::string& body :
         {quotient("div.rn.f32"), quotient("div.rn.ftz.f32"), unary("rcp.rn.f32"), unary("rcp.rn.ftz.f32"),
          unary("sqrt.rn.f32"), unary("sqrt.rn.ftz.f32"), std::string("div.u32 %r, %a, %b;"),
          std::string("rem.u32 %r, %a, %b;"), std::string("div.s32 %r, %a, %b;"), std::string("rem.s32 %r, %a, %b;")}) {
      INFO(body);
      CHECK(run(body, a, b, Approximations::h100, hopper) == run(body, a, b, Approximations::rounded));
    }
  }
}
