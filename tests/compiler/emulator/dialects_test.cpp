// SPDX-License-Identifier: Apache-2.0
//
// PTX as other compilers than nvcc write it: nvopencc, clang, Triton, translators, people.
#include "harness.h"

#include <regatta/ptx/ptx.h>
#include <regatta/trace/types.h>
#include <catch2/catch.hpp>

namespace regatta::test::dialects {
namespace {

constexpr std::size_t words = 64;

/// What entry `k` of one parameter, the address of 64 words, leaves there. Each word is -1 at first.
std::vector<std::uint32_t> run(const std::string& text, unsigned threads = 1, unsigned warp_size = 32) {
  Machine m(text, warp_size, 255, "k");
  m.request.block = {threads, 1, 1};
  const std::uint64_t data = m.buffer("data", std::vector<std::uint32_t>(words, ~0u));
  if (m.function->parameters.at(0).bytes == 4) {
    m.parameter(static_cast<std::uint32_t>(data));
  } else {
    m.parameter(data);
  }
  m.run();
  return m.read<std::uint32_t>(data, words);
}

std::string refusal(const std::string& text) {
  try {
    ptx::parse_module(text, "k.ptx");
  } catch (const trace::InputError& e) {
    return e.what();
  }
  return "";
}

/// A 64-bit kernel that stores %r0 (and %r1 to %r3 behind it).
std::string stores(const std::string& body, const std::string& head = "", unsigned count = 1) {
  std::string text = ".version 8.0\n.target sm_75\n.address_size 64\n" + head +
                     "\n.visible .entry k(.param .u64 o)\n{\n.reg .b32 %r<10>; .reg .b64 %d<10>, %o; .reg .b16 %h<8>; "
                     ".reg .f32 %f<8>; .reg .f64 %g<8>; .reg .pred %p<4>;\nld.param.u64 %o, [o];\n" +
                     body + "\n";
  for (unsigned i = 0; i < count; ++i)
    text += "st.global.u32 [%o+" + std::to_string(4 * i) + "], %r" + std::to_string(i) + ";\n";
  return text + "ret;\n}\n";
}

std::vector<std::uint32_t> first(const std::vector<std::uint32_t>& all, std::size_t n) {
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n)};
}

using Words = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("public report: gpuocelot: without .address_size an entry's own code says how wide addresses are") {
  const std::string narrow =
      ".version 1.4\n.target sm_13\n.entry k (.param .u32 o) { .reg .u32 %d,%a; ld.param.u32 %d,[o]; "
      "mov.u32 %a,5; st.global.u32 [%d],%a; exit; }\n";
  {
    Machine m(narrow);
    CHECK(ptx::parse_entries(narrow, "k.ptx").address_bits == 32);
    CHECK(m.function->parameters.at(0).bytes == 4);
  }
  const auto wide = [](const std::string& name) {
    return ".entry " + name +
           " (.param .u64 o) { .reg .u64 %d; .reg .u32 %a; ld.param.u64 %d,[o]; mov.u32 %a,5; "
           "st.global.u32 [%d],%a; exit; }\n";
  };
  CHECK(run(".version 2.1\n.target sm_20\n" + wide("k"))[0] == 5);
  // Entries of both kinds in one module.
  const ptx::ModuleResult both = ptx::parse_entries(narrow + wide("w"), "k.ptx");
  REQUIRE(both.entries.size() == 2);
  CHECK(both.entries[0].accepted);
  CHECK(both.entries[1].accepted);
  CHECK(both.address_bits == 32);
  // With the directive it decides, and the message names it.
  const std::string stated =
      ".version 3.0\n.target sm_30\n.address_size 64\n.entry k (.param .u32 o) { .reg .u32 %d; "
      "ld.param.u32 %d,[o]; st.global.u32 [%d],%d; exit; }\n";
  CHECK(refusal(stated) ==
        "k.ptx:4:77: error: '%d' has type .u32, expected a 64-bit address register (.address_size 64)");
  const std::string mixed =
      ".version 3.0\n.target sm_30\n.entry k (.param .u32 o) { .reg .u32 %d; .reg .u64 %e; "
      "cvt.u64.u32 %e,%d; st.global.u32 [%d],%d; st.global.u32 [%e],%d; exit; }\n";
  CHECK(
      refusal(mixed) ==
      "k.ptx:3:89: error: '%d' has type .u32, expected a 64-bit address register (there is no .address_size, and other "
      "addresses of the entry have 64 bits)");
}

TEST_CASE("public report: gpuocelot: prototypes end with or without ';'") {
  const std::string callee = "(.param .s32 r) dbl (.param .s32 a)";
  const std::string body = "\n{ .reg .s32 %x; ld.param.s32 %x,[a]; add.s32 %x,%x,%x; st.param.s32 [r],%x; ret; }\n";
  const std::string call =
      "{ .param .s32 p; .param .s32 q; mov.u32 %r1, 21; st.param.s32 [p],%r1; call (q), dbl, (p); "
      "ld.param.s32 %r0,[q]; }";
  for (const std::string end : {"\n", ";\n", "\n.global .u32 between;\n", "\n.const .u32 between = 3;\n",
                                "\n.file 1 \"x.cu\"\n", "\n.extern .func other\n", " .noreturn\n"}) {
    INFO(end);
    const std::string head = ".visible .func " + callee + end + ".visible .func " + callee + body;
    CHECK(run(stores(call, head))[0] == 42);
  }
  CHECK(refusal(".version 2.3\n.target sm_20\n.entry k (.param .u64 o)\n.entry l () { exit; }\n") ==
        "k.ptx:4:1: error: found '.entry', expected a performance directive or '{'");
  CHECK(refusal(".version 2.3\n.target sm_20\n.func f ()\n.maxthreads 3\n") ==
        "k.ptx:4:1: error: found '.maxthreads', expected a performance directive or '{'");
  CHECK(refusal(".version 2.3\n.target sm_20\n.func f () x\n") ==
        "k.ptx:3:12: error: found 'x', expected ';' or a body after a function header");
}

TEST_CASE("public report: ZLUDA: parameters of functions are .param variables or registers, on either side") {
  const std::string by_register = ".func (.reg .u32 r) sq (.reg .u32 n) { mul.lo.u32 r, n, n; ret; }";
  const std::string by_variable =
      ".func (.param .u32 r) sq (.param .u32 n) { .reg .u32 %x; ld.param.u32 %x,[n]; "
      "mul.lo.u32 %x,%x,%x; st.param.u32 [r],%x; ret; }";
  for (const std::string& head : {by_register, by_variable}) {
    INFO(head);
    CHECK(run(stores("mov.u32 %r1, 9; call (%r0), sq, (%r1);", head))[0] == 81);
    CHECK(run(stores("call (%r0), sq, (9);", head))[0] == 81);
    CHECK(run(stores("call (%r0), sq, (WARP_SZ);", head))[0] == 1024);
    CHECK(run(stores("mov.u32 %r0, 7; call (_), sq, (9);", head))[0] == 7);
    CHECK(run(stores(
              "{ .param .u32 p, q; mov.u32 %r1, 9; st.param.u32 [p], %r1; call (q), sq, (p); ld.param.u32 %r0, [q]; }",
              head))[0] == 81);
  }
}

TEST_CASE("register parameters: in lanes that do not call, results stay as they are") {
  const std::string head =
      ".func (.reg .u32 r, .reg .pred even) f (.reg .u32 n) { .reg .pred p; and.b32 r, n, 1; setp.eq.u32 "
      "even, r, 0; @even ret; add.u32 r, n, 100; ret; }";
  const std::string body =
      "mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %o, %o, %d1; mov.u32 %r0, 7; setp.lt.u32 "
      "%p1, %r1, 5; setp.ne.u32 %p2, 0, 0; @%p1 call (%r0, %p2), f, (%r1); @%p2 add.u32 %r0, %r0, 50;";
  const auto got = run(stores(body, head), 8);
  CHECK(first(got, 8) == Words{50, 101, 50, 103, 50, 7, 7, 7});
}

TEST_CASE("register parameters: of every width, and vectors") {
  CHECK(run(stores("mov.b16 %h1, 0x8001; call (%h2), f, (%h1); cvt.u32.u16 %r0, %h2;",
                   ".func (.reg .b16 r) f (.reg .b16 n) { add.u16 r, n, 1; ret; }"))[0] == 0x8002);
  CHECK(run(stores("mov.u16 %h1, 0x1ff; call (%h2), f, (%h1); cvt.u32.u16 %r0, %h2;",
                   ".func (.reg .u16 r) f (.param .b16 n) { ld.param.u16 r, [n]; ret; }"))[0] == 0x1ff);
  CHECK(first(run(stores("mov.u64 %d1, 0x123456789; call (%d2), f, (%d1); mov.b64 {%r0, %r1}, %d2;",
                         ".func (.reg .u64 r) f (.reg .u64 n) { add.u64 r, n, n; ret; }", 2)),
              2) == Words{0x468acf12, 2});
  CHECK(run(stores("mov.f64 %g1, 1.5; call (%f1), f, (%g1); mov.b32 %r0, %f1;",
                   ".func (.reg .f32 r) f (.reg .f64 n) { cvt.rn.f32.f64 r, n; ret; }"))[0] == 0x3fc00000);
  CHECK(first(run(stores(
                  ".reg .v2 .u32 %v; mov.u32 %v.x, 3; mov.u32 %v.y, 4; call (%v), f, (%v); mov.u32 %r0, %v.r; mov.u32 "
                  "%r1, %v.g;",
                  ".func (.reg .v2 .u32 r) f (.reg .v2 .u32 n) { mov.u32 r.x, n.y; add.u32 r.y, n.x, n.y; ret; }", 2)),
              2) == Words{4, 7});
  const std::string f = ".func (.reg .u32 r) f (.reg .u32 n) { mov.u32 r, n; ret; }";
  CHECK(refusal(stores("call (%d1), f, (%r1);", f)) ==
        "k.ptx:9:7: error: '%d1' has type .b64, expected a 32-bit register");
  CHECK(refusal(stores("call (%r1), f, (%d1);", f)) ==
        "k.ptx:9:17: error: '%d1' has type .b64, expected a 32-bit register");
  CHECK(refusal(stores("call (%r1), f, (%nothing);", f)) ==
        "k.ptx:9:17: error: '%nothing' is neither a declared register nor a supported special register");
  CHECK(refusal(stores("{ .param .u64 p; call (%r1), f, (p); }", f)) ==
        "k.ptx:9:34: error: 'p' has 8 bytes, expected 4");
  CHECK(refusal(stores("call (%r1), f, (%r1, %r2);", f)) ==
        "k.ptx:9:13: error: call of 'f' with 2 arguments, expected 1");
  CHECK(refusal(stores("call f, (%r1);", f)) == "k.ptx:9:6: error: call of 'f' with 0 results, expected 1");
  CHECK(refusal(stores("call g, (%r1);", ".func g (.param .align 4 .b8 n[8]) { ret; }")) ==
        "k.ptx:9:10: error: '%r1' is not a .param variable, as 'n' of 'g' needs");
  CHECK(refusal(stores("call g, (%r1);", ".func g (.reg .v2 .u32 n) { ret; }")) ==
        "k.ptx:9:10: error: '%r1' is not a vector of 2 registers, as 'n' of 'g' is");
  CHECK(refusal(".version 8.0\n.target sm_75\n.address_size 64\n.entry k (.reg .u32 n) { ret; }\n") ==
        "k.ptx:4:21: error: parameter 'n' of an .entry is a register, expected .param");
}

TEST_CASE("variables of a module: local memory, registers; and of functions: global and constant memory") {
  CHECK(run(stores("mov.u32 %r1, 7; st.local.u32 [L+4], %r1; ld.local.u32 %r0, [L+4];",
                   ".local .align 4 .b32 L[4];"))[0] == 7);
  // Each thread has its own, and a called function the same.
  const std::string head =
      ".local .u32 mine; .reg .u32 %seen;\n.func put (.reg .u32 n) { st.local.u32 [mine], n; add.u32 %seen, n, "
      "1; ret; }\n";
  const std::string body =
      "mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 8; add.u64 %o, %o, %d1; call put, (%r1); ld.local.u32 %r0, "
      "[mine]; mov.u32 %r1, %seen;";
  const auto got = run(stores(body, head, 2), 4);
  CHECK(first(got, 8) == Words{0, 1, 1, 2, 2, 3, 3, 4});
  CHECK(
      first(
          run(stores(
              ".global .u32 y = 5; .const .u32 z[2] = {6, 7}; ld.global.u32 %r0, [y]; ld.const.u32 %r1, [z+4]; mov.u64 "
              "%d1, y; ld.u32 %r2, [%d1];",
              ".global .u32 y = 9;", 3)),
          3) == Words{5, 7, 5});
}

TEST_CASE("registers of several elements") {
  const std::string four = ".reg .v4 .u32 %v; .reg .v2 .b32 %w<3>; ld.global.v4.u32 %v, [t]; ";
  const std::string table = ".global .align 16 .u32 t[4] = {10, 20, 30, 40};";
  CHECK(first(run(stores(four + "add.u32 %r0, %v.x, %v.w; mov.u32 %r1, %v.y; mov.u32 %r2, %v.b;", table, 3)), 3) ==
        Words{50, 20, 30});
  CHECK(
      first(run(stores(
                four + "mov.b64 %d1, 0x500000006; mov.b64 %w2, %d1; mov.b32 %r0, %w2.x; mov.b32 %r1, %w2.y; mov.v2.b32 "
                       "%w1, {%w2.y, %w2.x}; mov.b64 %d2, %w1; mov.b64 {%r2, %r3}, %d2;",
                table, 4)),
            4) == Words{6, 5, 5, 6});
  CHECK(
      first(run(stores(four + "mov.v4.u32 %v, {%v.w, %v.z, %v.y, %v.x}; st.global.v4.u32 [%o], %v; mov.u32 %r0, %v.x;",
                       table)),
            4) == Words{40, 30, 20, 10});
  CHECK(refusal(stores(".reg .v2 .u32 %v; add.u32 %r0, %v, 1;")) ==
        "k.ptx:9:32: error: '%v' is not a register or a number");
  CHECK(refusal(stores(".reg .v2 .u32 %v; mov.u32 %r0, %v.z;")) ==
        "k.ptx:9:32: error: '%v.z' is neither a declared register nor a supported special register");
  CHECK(refusal(stores(".reg .v2 .u32 %v; mov.v4.u32 %v, {%r1, %r2, %r3, %r4};")) ==
        "k.ptx:9:30: error: '%v' in 'mov.v4.u32' is not a vector of 4 registers");
  CHECK(refusal(stores(".reg .v3 .u32 %v;")) == "k.ptx:9:6: error: register type '.v3' is not supported");
}

TEST_CASE("constant expressions, indices and sums as operands") {
  const std::string table =
      ".global .u32 t[40] = {100, WARP_SZ, 2 * WARP_SZ, (1 << 4) | 3};\n.shared .u32 s[WARP_SZ];\n";
  CHECK(
      first(run(stores(
                "mov.u32 %r0, WARP_SZ - 1; mov.u32 %r1, -WARP_SZ; mov.u32 %r2, ~WARP_SZ & 0xff; mov.u32 %r3, !WARP_SZ;",
                "", 4)),
            4) == Words{31, 0xffffffe0u, 0xdf, 0});
  CHECK(first(run(stores(
                  "ld.global.u32 %r0, t[2]; ld.global.u32 %r1, [t+2*4+4]; mov.u64 %d1, t[1]; ld.global.u32 %r2, [%d1]; "
                  "ld.global.u32 %r3, [%d1+-4];",
                  table, 4)),
              4) == Words{64, 19, 32, 100});
  CHECK(first(run(stores("mov.u32 %r5, 40; add.u32 %r0, %r5+2, %r5; mov.u32 %r1, %r5-1; st.global.u32 [%o+8], %r5 + 7; "
                         "ld.global.u32 "
                         "%r2, [%o+8]; add.f32 %f1, 1.5 + 0.25, -0.75; mov.b32 %r3, %f1;",
                         table, 4)),
              4) == Words{82, 39, 47, 0x3f800000});
  CHECK(run(stores(".reg .u32 %q<WARP_SZ>; mov.u32 %q31, 4; mov.u32 %r0, %q31;"))[0] == 4);
  CHECK(run(stores("setp.eq.u32 %p1, 0, 0; @!%p1 mov.u32 %r0, 1; selp.u32 %r0, 1 ? 5 : 6, 3 > 4, %p1;"))[0] == 5);
  CHECK(refusal(stores("mov.u32 %r0, 1/(2-2);")) ==
        "k.ptx:9:15: error: constant expression with '/': division by zero");
  CHECK(refusal(stores("mov.u32 %r0, 1.0 + 2;")) ==
        "k.ptx:9:18: error: constant expression with '+': a whole number and a floating-point number do not mix");
  CHECK(refusal(stores("mov.f32 %f0, 0f3f800000 + 1.0;")) ==
        "k.ptx:9:25: error: constant expression with '+': a number written as 0f... can only stand alone");
  CHECK(refusal(stores("mov.u32 %r0, (1 + 2;")) ==
        "k.ptx:9:20: error: found ';', expected ')' in a constant expression");
  CHECK(refusal(stores("mov.u32 %r0, 1 ? 2;")) ==
        "k.ptx:9:19: error: found ';', expected ':' in a constant expression with '?'");
  CHECK(refusal(stores("ld.global.u32 %r0, [%o+1.5];")) == "k.ptx:9:24: error: '1.5' is not a whole number");
  CHECK(refusal(stores("ld.global.u32 %r0, %r1[2];")) == "k.ptx:9:20: error: '%r1[2]': '%r1' is not a variable");
  CHECK(refusal(stores("mov.u32 %r0, " + std::string(100, '(') + "1" + std::string(100, ')') + ";"))
            .find("a constant expression is nested more than 64 deep") != std::string::npos);
  CHECK(refusal(stores("add.f32 %f0, %f1+2, %f1;")) == "k.ptx:9:14: error: '%f1+2' is not an operand");
}

TEST_CASE("initialisers that hold an address byte by byte") {
  const std::string table =
      ".global .u32 x[2] = {11, 12};\n.global .align 8 .b8 s[16] = {1, 0, 0, 0, 0, 0, 0, 0, 0xff(x+4), "
      "0xFF00(x+4), 0xff0000(x+4), 0xff000000(x+4), 0xff00000000(generic(x)+4), 0xff0000000000(x+4), "
      "0xff000000000000(x+4), 0xff00000000000000(x+4)};\n";
  CHECK(run(stores("ld.global.u64 %d1, [s+8]; ld.global.u32 %r0, [%d1];", table))[0] == 12);
  CHECK(refusal(stores("", ".global .u32 x; .global .b8 s = 0x1ff(x);")) ==
        "k.ptx:4:33: error: '0x1ff' selects no byte of an address, expected 0xff, 0xff00 ...");
  CHECK(refusal(stores("", ".global .u32 x; .global .u32 s = 0xff(x);")) ==
        "k.ptx:4:34: error: a byte of the address of 'x' does not fit .u32");
}

TEST_CASE("aliases, DWARF lines of old compilers") {
  const std::string head =
      "@@DWARF .section .debug_info\n@@DWARF .byte 0x1f, 2\n.func (.param .u32 r) f () { st.param.u32 [r], 3; ret; }\n"
      ".func (.param .u32 r) g ();\n.alias g, f;\n";
  CHECK(run(stores("call (%r0), g, ();", head))[0] == 3);
  CHECK(refusal(stores("", ".func g ();\n.alias g, f;\n")) ==
        "k.ptx:5:8: error: function 'f', which 'g' is to stand for, is not defined");
}

TEST_CASE("on sm_1x, operations on f32 flush subnormal numbers") {
  const auto text = [](const char* target, const char* operation) {
    return std::string(".version 1.4\n.target ") + target +
           "\n.entry k (.param .u64 o) { .reg .u64 %o; .reg .f32 %f<9>; .reg .f64 %g; .reg .u32 %r<4>; .reg .pred %p; "
           "ld.param.u64 "
           "%o,[o]; mov.f32 %f1, 0f00000007; mov.f32 %f2, 0f80000000; " +
           operation + " st.global.f32 [%o],%f4; exit; }\n";
  };
  struct Row {
    const char* operation;
    std::uint32_t old, recent;
  };
  const Row rows[] = {{"add.f32 %f4,%f1,%f1;", 0, 14},
                      {"mul.f32 %f4,%f1,0f40000000;", 0, 14},
                      {"neg.f32 %f4,%f1;", 0x80000000u, 0x80000007u},
                      {"max.f32 %f4,%f1,%f1;", 0, 7},
                      {"setp.gt.f32 %p,%f1,0f00000000; selp.f32 %f4,0f3f800000,0f00000000,%p;", 0, 0x3f800000},
                      {"set.gt.u32.f32 %r1,%f1,0f00000000; mov.b32 %f4,%r1;", 0, ~0u},
                      {"cvt.sat.f32.f32 %f4,%f1;", 0, 7},
                      {"mov.f32 %f4,%f1;", 7, 7},
                      // Through f64 they survive.
                      {"cvt.f64.f32 %g,%f1; cvt.rn.f32.f64 %f4,%g;", 7, 7}};
  for (const Row& r : rows) {
    INFO(r.operation);
    CHECK(run(text("sm_13", r.operation))[0] == r.old);
    CHECK(run(text("sm_20", r.operation))[0] == r.recent);
  }
}

}  // namespace regatta::test::dialects
