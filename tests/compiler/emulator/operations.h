// SPDX-License-Identifier: Apache-2.0
//
// One operation on every thread's own a, b and c, against a C++ function.
#pragma once

#include "harness.h"

#include <regatta/launch/fill.h>
#include <regatta/test/catch.h>

#include <cstring>
#include <functional>

namespace regatta::test {

template <class To, class From>
To bits_as(From from) {
  static_assert(sizeof(To) <= sizeof(From) || sizeof(To) == 8);
  To to{};
  std::memcpy(&to, &from, sizeof(To) < sizeof(From) ? sizeof(To) : sizeof(From));
  return to;
}
inline float f32(std::uint64_t bits) { return bits_as<float>(bits); }
inline double f64(std::uint64_t bits) { return bits_as<double>(bits); }
inline std::uint64_t bits(float v) { return bits_as<std::uint32_t>(v); }
inline std::uint64_t bits(double v) { return bits_as<std::uint64_t>(v); }

using Reference = std::function<std::uint64_t(std::uint64_t, std::uint64_t, std::uint64_t)>;

/// `body` computes from %ra %rb %rc (b32), %da %db %dc (b64), %fa %fb %fc (f32), %ga %gb %gc (f64), %ha %hb %hc (b16)
/// into %out (b64). `values` are the operands, all triples of neighbours are tried.
inline void check_operation(const std::string& body, const std::vector<std::uint64_t>& values,
                            const Reference& reference) {
  const std::string text = module_text(
      ".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 out",
      ".reg .b64 %da, %db, %dc, %out, %p<8>; .reg .b32 %ra, %rb, %rc, %r<8>; .reg .f32 %fa, %fb, %fc, %f<4>;\n"
      ".reg .f64 %ga, %gb, %gc, %g<4>; .reg .b16 %ha, %hb, %hc, %h<4>; .reg .pred %q<4>;\n"
      "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1;\n"
      "mul.wide.u32 %p1, %r1, 8;\n"
      "ld.param.u64 %p2, [a]; add.u64 %p2, %p2, %p1; ld.global.u64 %da, [%p2];\n"
      "ld.param.u64 %p3, [b]; add.u64 %p3, %p3, %p1; ld.global.u64 %db, [%p3];\n"
      "ld.param.u64 %p4, [c]; add.u64 %p4, %p4, %p1; ld.global.u64 %dc, [%p4];\n"
      "cvt.u32.u64 %ra, %da; cvt.u32.u64 %rb, %db; cvt.u32.u64 %rc, %dc;\n"
      "cvt.u16.u64 %ha, %da; cvt.u16.u64 %hb, %db; cvt.u16.u64 %hc, %dc;\n"
      "mov.b32 %fa, %ra; mov.b32 %fb, %rb; mov.b32 %fc, %rc;\n"
      "mov.b64 %ga, %da; mov.b64 %gb, %db; mov.b64 %gc, %dc;\n" +
          body + "\nld.param.u64 %p5, [out]; add.u64 %p5, %p5, %p1; st.global.u64 [%p5], %out;\nret;\n");
  // Enough neighbours to meet every pair of the edge values.
  std::vector<std::uint64_t> a, b, c;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      a.push_back(values[i]);
      b.push_back(values[k]);
      c.push_back(values[(i + k) % values.size()]);
    }
  }
  while (a.size() % 96 != 0) {
    a.push_back(launch::random_word(1, a.size()));
    b.push_back(launch::random_word(2, a.size()));
    c.push_back(launch::random_word(3, a.size()));
  }
  for (const unsigned warp_size : {32u, 64u}) {
    Machine m(text, warp_size);
    m.parameter(m.buffer("a", a));
    m.parameter(m.buffer("b", b));
    m.parameter(m.buffer("c", c));
    const std::uint64_t out = m.buffer("out", a.size() * 8);
    m.parameter(out);
    m.request.block = {96, 1, 1};
    m.request.grid = {static_cast<std::uint32_t>(a.size() / 96), 1, 1};
    m.run();
    const auto got = m.read<std::uint64_t>(out, a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::uint64_t expected = reference(a[i], b[i], c[i]);
      if (got[i] == expected) continue;
      INFO(body << " of " << std::hex << a[i] << ", " << b[i] << ", " << c[i] << " warp size " << std::dec
                << warp_size);
      REQUIRE(got[i] == expected);
    }
  }
  SUCCEED();
}

/// Integers at the edges of every width, and a few others.
inline std::vector<std::uint64_t> edge_integers() {
  std::vector<std::uint64_t> v{0,
                               1,
                               2,
                               3,
                               5,
                               7,
                               31,
                               32,
                               33,
                               63,
                               64,
                               65,
                               100,
                               255,
                               256,
                               0x7f,
                               0x80,
                               0x7fff,
                               0x8000,
                               0xffff,
                               0x7fffffff,
                               0x80000000,
                               0xffffffff,
                               0x100000000,
                               0x7fffffffffffffff,
                               0x8000000000000000,
                               ~std::uint64_t{0},
                               ~std::uint64_t{6},
                               0x00012345fffffff9};
  for (unsigned i = 0; i < 8; ++i) v.push_back(launch::random_word(9, i));
  return v;
}

inline std::vector<std::uint64_t> edge_floats() {
  std::vector<std::uint64_t> v;
  for (const std::uint32_t x :
       {0x00000000u, 0x80000000u, 0x3f800000u, 0xbf800000u, 0x00000001u, 0x80000001u, 0x007fffffu,
        0x00800000u, 0x7f7fffffu, 0xff7fffffu, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc12345u,
        0x3f000000u, 0x3fc00000u, 0x40200000u, 0xc0200000u, 0x4b000001u, 0x4f000000u, 0xcf000000u,
        0x4f800000u, 0x5f000000u, 0x42f6e979u, 0x3dcccccdu, 0x33333333u}) {
    v.push_back(x);
  }
  for (unsigned i = 0; i < 8; ++i) v.push_back(launch::random_word(10, i) & 0xffffffffu);
  return v;
}

inline std::vector<std::uint64_t> edge_doubles() {
  std::vector<std::uint64_t> v;
  for (const double x : {0.0,    -0.0,    1.0,          -1.0,    0.5,     1.5,          2.5,
                         -2.5,   1e300,   -1e300,       1e-310,  123.456, 2147483648.0, -2147483649.0,
                         9.3e18, -9.3e18, 4294967295.5, 65504.0, 65520.0, 1e-8,         3.14159265358979}) {
    v.push_back(bits(x));
  }
  v.push_back(0x7ff0000000000000);
  v.push_back(0xfff0000000000000);
  v.push_back(0x7ff8000000000000);
  for (unsigned i = 0; i < 4; ++i) v.push_back(launch::random_word(11, i));
  return v;
}

}  // namespace regatta::test
