// SPDX-License-Identifier: Apache-2.0
//
// What kernels say: vprintf and failed assertions.
#include "harness.h"

#include <regatta/test/catch.h>

using namespace regatta::test;

namespace {

const char* declarations =
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);\n";

/// A .global string.
std::string string_variable(const std::string& name, const std::string& text) {
  std::string line = ".global .align 1 .b8 " + name + "[" + std::to_string(text.size() + 1) + "] = {";
  for (const char c : text) line += std::to_string(static_cast<unsigned char>(c)) + ", ";
  return line + "0};\n";
}

/// A kernel whose threads print `format` with the arguments that `fill` stores at [%SPL], and return the result in
/// `out`.
std::string printing(const std::string& format, const std::string& fill) {
  return module_text(".param .u64 out",
                     ".local .align 8 .b8 depot[64]; .reg .b64 %SP, %SPL, %d<9>; .reg .b32 %r<9>; .reg .b16 %h<3>;\n"
                     "mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n" +
                         fill +
                         "\nmov.u64 %d1, format; cvta.global.u64 %d2, %d1;\n"
                         "{ .param .b64 p0; st.param.b64 [p0], %d2; .param .b64 p1; st.param.b64 [p1], %SP;\n"
                         ".param .b32 q; call.uni (q), vprintf, (p0, p1); ld.param.b32 %r8, [q]; }\n"
                         "ld.param.u64 %d3, [out]; st.global.u32 [%d3], %r8; ret;\n",
                     declarations + string_variable("format", format) + string_variable("word", "owl"));
}

std::string printed(const std::string& text, unsigned threads, unsigned ctas, unsigned warp_size = 32,
                    std::uint32_t* count = nullptr) {
  Machine m(text, warp_size, 32);
  const std::uint64_t out = m.buffer("out", 4);
  m.parameter(out);
  m.request.block = {threads, 1, 1};
  m.request.grid = {ctas, 1, 1};
  std::string all;
  m.options.print = [&](const std::string& s) { all += s; };
  m.run();
  if (count != nullptr) *count = m.read<std::uint32_t>(out, 1)[0];
  return all;
}

}  // namespace

TEST_CASE("vprintf prints thread after thread, CTA after CTA") {
  const std::string text = printing("%d.%d ", "st.local.u32 [%SPL], %r2; st.local.u32 [%SPL+4], %r1;");
  for (const unsigned warp_size : {32u, 64u}) {
    std::string expected;
    for (unsigned cta = 0; cta < 3; ++cta)
      for (unsigned t = 0; t < 70; ++t) expected += std::to_string(cta) + "." + std::to_string(t) + " ";
    std::uint32_t count = 0;
    CHECK(printed(text, 70, 3, warp_size, &count) == expected);
    CHECK(count == 2);
  }
}

TEST_CASE("vprintf takes C's conversions") {
  const auto one = [](const std::string& format, const std::string& fill) {
    return printed(printing(format, fill), 1, 1);
  };
  CHECK(one("100%% plain\n", "") == "100% plain\n");
  CHECK(one("[%5d|%-5d|%05d|%+d]",
            "st.local.u32 [%SPL], 42; st.local.u32 [%SPL+4], 42; st.local.u32 [%SPL+8], -42; st.local.u32 [%SPL+12], "
            "42;") == "[   42|42   |-0042|+42]");
  CHECK(one("%u %x %X %#o",
            "st.local.u32 [%SPL], -1; st.local.u32 [%SPL+4], 0xbeef; st.local.u32 [%SPL+8], 0xbeef;"
            "st.local.u32 [%SPL+12], 8;") == "4294967295 beef BEEF 010");
  // 64-bit arguments are aligned.
  CHECK(one("%d %lld %lu",
            "st.local.u32 [%SPL], 1; mov.u64 %d4, -5000000000; st.local.u64 [%SPL+8], %d4;"
            "st.local.u64 [%SPL+16], 7;") == "1 -5000000000 7");
  CHECK(one("%f %.2f %g %e",
            "mov.b64 %d4, 0d3FF8000000000000; st.local.u64 [%SPL], %d4; st.local.u64 [%SPL+8], %d4;"
            "st.local.u64 [%SPL+16], %d4; st.local.u64 [%SPL+24], %d4;") == "1.500000 1.50 1.5 1.500000e+00");
  CHECK(one("%c%s|%5s|%.1s",
            "st.local.u32 [%SPL], 65; mov.u64 %d4, word; cvta.global.u64 %d4, %d4;"
            "st.local.u64 [%SPL+8], %d4; st.local.u64 [%SPL+16], %d4; st.local.u64 [%SPL+24], %d4;") == "Aowl|  owl|o");
  CHECK(one("%*d %.*f",
            "st.local.u32 [%SPL], 4; st.local.u32 [%SPL+4], 7; st.local.u32 [%SPL+8], 1;"
            "mov.b64 %d4, 0d3FF8000000000000; st.local.u64 [%SPL+16], %d4;") == "   7 1.5");
  CHECK(one("%hhd %hu %p", "st.local.u32 [%SPL], 0x1ff; st.local.u32 [%SPL+4], 0x1ffff; st.local.u64 [%SPL+8], 255;") ==
        "-1 65535 0xff");
  // What is no conversion is printed as it stands.
  CHECK(one("%y %", "") == "%y %");
}

TEST_CASE("a format or string outside of memory is an error") {
  CHECK_THROWS_WITH(
      printed(printing("%s", "st.local.u64 [%SPL], 0;"), 1, 1),
      "k.ptx:15:16: error: kernel 'k', CTA (0,0,0), thread (0,0,0): out-of-bounds read of 1 byte at global "
      "address 0x0, in no buffer");
}

TEST_CASE("a failed assertion tells the condition, the file and the line") {
  const std::string text = module_text(
      "",
      ".reg .b64 %d<9>; .reg .b32 %r<3>; .reg .pred %q<2>;\nmov.u32 %r1, %tid.x; setp.ne.u32 %q1, %r1, 5;\n@%q1 bra "
      "OK;\n"
      "mov.u64 %d1, m; cvta.global.u64 %d1, %d1; mov.u64 %d2, f; cvta.global.u64 %d2, %d2;\n"
      "mov.u64 %d3, n; cvta.global.u64 %d3, %d3;\n"
      "{ .param .b64 p0; st.param.b64 [p0], %d1; .param .b64 p1; st.param.b64 [p1], %d2; .param .b32 p2;\n"
      "st.param.b32 [p2], 17; .param .b64 p3; st.param.b64 [p3], %d3; .param .b64 p4; st.param.b64 [p4], 1;\n"
      "call.uni __assertfail, (p0, p1, p2, p3, p4); }\nOK: ret;\n",
      declarations + string_variable("m", "x > 0") + string_variable("f", "k.cu") + string_variable("n", "void k()"));
  Machine m(text);
  m.request.block = {32, 1, 1};
  m.request.grid = {2, 1, 1};
  CHECK(m.error() == "k.ptx:18:1: error: kernel 'k', CTA (0,0,0), thread (5,0,0): assertion 'x > 0' failed at k.cu:17");
}
