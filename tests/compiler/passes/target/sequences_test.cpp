// SPDX-License-Identifier: Apache-2.0
//
// Each operation that sm_90 has as a sequence, against the operation itself, on millions of operands.
#include <regatta/passes/target.h>
#include <regatta/test/catch.h>

#include "harness.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace regatta;
using test::Machine;

namespace {

using Words = std::vector<std::uint32_t>;

struct Operands {
  Words a, b;
  void add(std::uint32_t x, std::uint32_t y) {
    a.push_back(x);
    b.push_back(y);
  }
};

constexpr unsigned block = 256;

/// What a kernel of one operation on %r1 and %r2, with its result in %r3, gives.
Words results(const std::string& operation, const passes::Target& target, const Operands& operands) {
  Machine m(test::module_text(".param .u64 a, .param .u64 b, .param .u64 c",
                              ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %d<8>;\n"
                              "ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [c];\n"
                              "mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x;\n"
                              "mad.lo.s32 %r7, %r4, %r5, %r6; mul.wide.u32 %d4, %r7, 4;\n"
                              "add.s64 %d1, %d1, %d4; add.s64 %d2, %d2, %d4; add.s64 %d3, %d3, %d4;\n"
                              "ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d2];\n"
                              "mov.b32 %f1, %r1; mov.b32 %f2, %r2;\n" +
                                  operation + "\nst.global.u32 [%d3], %r3;\nret;\n",
                              "", "sm_90"),
            32, 255, "", target);
  Operands padded = operands;
  while (padded.a.size() % block != 0) padded.add(0x3f800000u, 0x3f800000u);
  const auto count = padded.a.size();
  m.parameter(m.buffer("a", padded.a));
  m.parameter(m.buffer("b", padded.b));
  const std::uint64_t out = m.buffer("c", 4 * count);
  m.parameter(out);
  m.request.grid = {static_cast<std::uint32_t>(count / block), 1, 1};
  m.request.block = {block, 1, 1};
  m.run();
  return m.read<std::uint32_t>(out, operands.a.size());
}

float number(std::uint32_t bits) {
  float f = 0;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

/// The first operands for which both targets do not give the same bits; a NaN is as good as another one.
void require_same(const std::string& operation, const Operands& operands) {
  const Words generic = results(operation, passes::Target::generic(), operands),
              sequence = results(operation, passes::Target::named("sm_90"), operands);
  const bool is_float = operation.find("%f") != std::string::npos;
  std::size_t different = 0;
  for (std::size_t n = 0; n < generic.size(); ++n) {
    if (generic[n] == sequence[n]) continue;
    if (is_float && std::isnan(number(generic[n])) && std::isnan(number(sequence[n]))) continue;
    if (++different > 5) break;
    UNSCOPED_INFO(operation << std::hex << ": 0x" << operands.a[n] << ", 0x" << operands.b[n] << ": 0x" << generic[n]
                            << ", the sequence 0x" << sequence[n]);
  }
  CHECK(different == 0);
}

/// Zeros, ends of ranges, infinities and NaN, of either sign.
Words special_floats() {
  Words all;
  for (const std::uint32_t bits :
       {0x0u,        0x1u,        0x2u,        0x007fffffu, 0x00800000u, 0x00800001u, 0x00ffffffu, 0x01000000u,
        0x0cffffffu, 0x0d000000u, 0x0d000001u, 0x0d800000u, 0x3effffffu, 0x3f000000u, 0x3f7fffffu, 0x3f800000u,
        0x3f800001u, 0x3fffffffu, 0x40000000u, 0x40400000u, 0x7e000000u, 0x7e7fffffu, 0x7e800000u, 0x7effffffu,
        0x7f000000u, 0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7fc00000u, 0x7fffffffu}) {
    all.push_back(bits);
    all.push_back(bits | 0x80000000u);
  }
  return all;
}

/// Every pair of exponents, with the fractions that round hardest and with random ones; special numbers; any numbers.
Operands quotients() {
  Operands all;
  std::mt19937 random(2);
  for (const std::uint32_t a : special_floats())
    for (const std::uint32_t b : special_floats()) all.add(a, b);
  constexpr std::uint32_t fractions[] = {0, 1, 0x7fffff, 0x7ffffe, 0x400000};
  for (std::uint32_t a = 0; a < 256; ++a)
    for (std::uint32_t b = 0; b < 256; ++b)
      for (unsigned n = 0; n < 20; ++n) {
        const auto fraction = [&](unsigned which) { return n < 9 ? fractions[which % 5] : random() & 0x7fffffu; };
        all.add(a << 23 | fraction(n) | random() << 31, b << 23 | fraction(n / 2 + n / 5) | random() << 31);
      }
  while (all.a.size() < 2200000) all.add(static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random()));
  return all;
}

/// Every exponent with many fractions, of either sign.
Operands arguments(std::size_t count) {
  Operands all;
  std::mt19937 random(3);
  for (const std::uint32_t a : special_floats()) all.add(a, 0);
  for (std::uint32_t n = 0; n < count; ++n)
    all.add((n & 0xff) << 23 | (random() & 0x7fffffu) | (n % 16 == 15 ? 0x80000000u : 0u), 0);
  for (std::uint32_t exponent = 0; exponent < 256; ++exponent)
    for (std::uint32_t f = 0; f < 64; ++f) {
      all.add(exponent << 23 | f, 0);
      all.add(exponent << 23 | (0x7fffffu - f), 0);
    }
  return all;
}

Operands integers() {
  Operands all;
  std::mt19937 random(4);
  Words ends;
  for (const std::uint32_t anchor : {0u, 0x80000000u, 0xffff0000u, 0x10000u, 0x7fffu, 0xaaaaaaaau, 0x55555555u, 1000u})
    for (std::uint32_t n = 0; n < 9; ++n) ends.push_back(anchor + n - 4);
  for (unsigned bit = 0; bit < 32; ++bit)
    for (const std::uint32_t n : {0xffffffffu, 0u, 1u}) ends.push_back((1u << bit) + n);
  for (const std::uint32_t a : ends)
    for (const std::uint32_t b : ends) all.add(a, b);
  for (unsigned n = 0; n < 1000000; ++n) {
    const auto a = static_cast<std::uint32_t>(random()), b = static_cast<std::uint32_t>(random() >> random() % 32);
    // Multiples and their neighbours are where a quotient is corrected.
    all.add(n % 2 == 0 || b == 0 ? a : a / b * b + n % 3 - 1, b);
  }
  return all;
}

/// Distance of results in units of the last place; NaN and infinities must be the same.
std::uint32_t distance(std::uint32_t a, std::uint32_t b) {
  const float x = number(a), y = number(b);
  if (std::isnan(x) && std::isnan(y)) return 0;
  if (!std::isfinite(x) || !std::isfinite(y)) return a == b ? 0 : 0xffffffffu;
  const auto ordered = [](std::uint32_t v) {
    return (v & 0x80000000u) != 0 ? -static_cast<std::int64_t>(v & 0x7fffffffu) : std::int64_t{v};
  };
  return static_cast<std::uint32_t>(std::abs(ordered(a) - ordered(b)));
}

std::uint32_t largest_distance(const std::string& operation, const Operands& operands) {
  const Words generic = results(operation, passes::Target::generic(), operands),
              sequence = results(operation, passes::Target::named("sm_90"), operands);
  std::uint32_t largest = 0;
  for (std::size_t n = 0; n < generic.size(); ++n) {
    const std::uint32_t d = distance(generic[n], sequence[n]);
    if (d > largest && d > 1)
      UNSCOPED_INFO(operation << std::hex << ": 0x" << operands.a[n] << ": 0x" << generic[n] << ", the sequence 0x"
                              << sequence[n]);
    largest = std::max(largest, d);
  }
  return largest;
}

}  // namespace

TEST_CASE("the sequence of an f32 division gives the same bits") {
  const Operands operands = quotients();
  REQUIRE(operands.a.size() >= 2000000);
  require_same("div.rn.f32 %f3, %f1, %f2; mov.b32 %r3, %f3;", operands);
}

TEST_CASE("the sequence of an f32 division gives the same bits where the result is an operand") {
  Operands operands;
  for (const std::uint32_t a : special_floats())
    for (const std::uint32_t b : special_floats()) operands.add(a, b);
  require_same("div.rn.f32 %f1, %f1, %f2; mov.b32 %r3, %f1;", operands);
  require_same("div.rn.f32 %f2, %f1, %f2; mov.b32 %r3, %f2;", operands);
  require_same("div.rn.f32 %f1, %f1, %f1; mov.b32 %r3, %f1;", operands);
  require_same("div.rn.f32 %f3, 0f3F800000, %f2; mov.b32 %r3, %f3;", operands);
  require_same("div.rn.f32 %f3, %f1, 0f40400000; mov.b32 %r3, %f3;", operands);
  require_same("rcp.rn.f32 %f1, %f1; mov.b32 %r3, %f1;", operands);
  require_same("sqrt.rn.f32 %f1, %f1; mov.b32 %r3, %f1;", operands);
  require_same("setp.lt.u32 %p1, %r1, %r2; @%p1 div.rn.f32 %f1, %f1, %f2; mov.b32 %r3, %f1;", operands);
}

TEST_CASE("the sequences of f32 reciprocals and square roots give the same bits") {
  const Operands operands = arguments(2000000);
  require_same("rcp.rn.f32 %f3, %f1; mov.b32 %r3, %f3;", operands);
  require_same("sqrt.rn.f32 %f3, %f1; mov.b32 %r3, %f3;", operands);
}

TEST_CASE("the sequences of integer division and remainder give the same bits, by zero too") {
  const Operands operands = integers();
  for (const char* operation : {"div.s32", "div.u32", "rem.s32", "rem.u32"})
    require_same(operation + std::string(" %r3, %r1, %r2;"), operands);
}

TEST_CASE("integer division gives the same bits where the result is an operand, and by numbers") {
  const Operands operands = integers();
  require_same("div.s32 %r1, %r1, %r2; mov.b32 %r3, %r1;", operands);
  require_same("rem.u32 %r2, %r1, %r2; mov.b32 %r3, %r2;", operands);
  require_same("div.u32 %r3, %r1, 7;", operands);
  require_same("rem.s32 %r3, %r1, -7;", operands);
  require_same("div.s32 %r3, -2147483648, %r2;", operands);
  require_same("div.s32 %r3, %r1, %r1;", operands);
}

TEST_CASE("scaled approximations are as near as their unit is") {
  const Operands operands = arguments(1000000);
  CHECK(largest_distance("rsqrt.approx.f32 %f3, %f1; mov.b32 %r3, %f3;", operands) <= 1);
  CHECK(largest_distance("ex2.approx.f32 %f3, %f1; mov.b32 %r3, %f3;", operands) <= 2);
  CHECK(largest_distance("lg2.approx.f32 %f3, %f1; mov.b32 %r3, %f3;", operands) <= 1);
  CHECK(largest_distance("sqrt.approx.f32 %f3, %f1; mov.b32 %r3, %f3;", operands) <= 1);
  CHECK(largest_distance("sin.approx.f32 %f3, %f1; mov.b32 %r3, %f3;", operands) == 0);
  CHECK(largest_distance("cos.approx.f32 %f3, %f1; mov.b32 %r3, %f3;", operands) == 0);
  CHECK(largest_distance("clz.b32 %r3, %r1;", operands) == 0);
}

TEST_CASE("sequences in loops and branches give the same bits") {
  Operands operands = arguments(20000);
  std::mt19937 random(5);
  for (std::uint32_t& b : operands.b) b = static_cast<std::uint32_t>(random());
  require_same(
      "mov.u32 %r3, 0; mov.f32 %f3, %f2;\n"
      "TOP: setp.lt.f32 %p1, %f1, 0f3F800000; @%p1 bra SMALL;\n"
      "div.rn.f32 %f3, %f3, %f1; sqrt.rn.f32 %f4, %f3; bra NEXT;\n"
      "SMALL: rcp.rn.f32 %f4, %f3; rem.u32 %r2, %r2, 977; cvt.rn.f32.u32 %f3, %r2;\n"
      "NEXT: mov.b32 %r4, %f4; xor.b32 %r2, %r2, %r4; div.s32 %r4, %r2, %r5; add.u32 %r2, %r2, %r4;\n"
      "add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 5; @%p2 bra TOP;\n"
      "setp.nan.f32 %p3, %f4, %f4; selp.b32 %r3, 0, %r2, %p3;",
      operands);
}
