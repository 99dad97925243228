// SPDX-License-Identifier: Apache-2.0
//
// Spaces, sizes, atomics, barriers and lane exchange.
#include <unistd.h>

#include "harness.h"

#include <regatta/ir/address_windows.h>
#include <regatta/test/catch.h>

using namespace regatta;
using namespace regatta::test;

namespace {

std::vector<std::uint32_t> run_body(const std::string& body, unsigned threads, unsigned warp_size = 32,
                                    unsigned grid = 1, const std::string& before = "",
                                    std::uint32_t dynamic_shared = 0) {
  Machine m(module_text(".param .u64 out",
                        ".reg .b64 %p, %o, %d<8>; .reg .b32 %t, %c, %n, %g, %v, %r<12>; .reg .b16 %h<4>; .reg .f32 "
                        "%f<4>; .reg .pred %q<4>;\n"
                        "mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %g, %c, %n, %t;\n"
                        "ld.param.u64 %p, [out]; mul.wide.u32 %o, %g, 4; add.u64 %p, %p, %o;\n" +
                            body + "\nst.global.u32 [%p], %v;\nret;\n",
                        before),
            warp_size);
  const std::uint64_t out = m.buffer("out", std::uint64_t{threads} * grid * 4);
  m.parameter(out);
  m.request.block = {threads, 1, 1};
  m.request.grid = {grid, 1, 1};
  m.request.dynamic_shared_bytes = dynamic_shared;
  m.run();
  return m.read<std::uint32_t>(out, std::size_t{threads} * grid);
}

}  // namespace

TEST_CASE("narrow loads extend by their type, narrow stores keep their neighbours") {
  const auto v = run_body(
      ".shared .align 8 .b8 s[64];\n"
      "setp.eq.u32 %q1, %t, 0; @!%q1 bra L;\n"
      "mov.u32 %r1, s; st.shared.u32 [%r1], 0x80ff7f01; st.shared.u8 [%r1+1], 0xfe; st.shared.u16 [%r1+4], 0x8001;\n"
      "ld.shared.s8 %r2, [%r1+1]; ld.shared.u8 %r3, [%r1+3]; ld.shared.s16 %h1, [%r1+4]; cvt.s32.s16 %r4, %h1;\n"
      "add.u32 %v, %r2, %r3; add.u32 %v, %v, %r4; st.global.u32 [%p], %v; exit;\nL: mov.u32 %v, 9;",
      32);
  CHECK(static_cast<std::int32_t>(v[0]) == -2 + 0x80 + (0x8001 - 0x10000));
  CHECK(v[1] == 9);
}

TEST_CASE("vector accesses and generic addresses of shared memory") {
  const auto v = run_body(
      ".shared .align 16 .b8 s[512];\n"
      "mov.u32 %r1, s; shl.b32 %r2, %t, 4; add.u32 %r1, %r1, %r2; add.u32 %r3, %t, 100;\n"
      "st.shared.v4.u32 [%r1], {%t, %r3, %r2, %r1};\n"
      "mov.u64 %d1, s; cvta.shared.u64 %d1, %d1; cvt.u64.u32 %d2, %r2; add.u64 %d1, %d1, %d2;\n"
      "ld.v2.u32 {%r5, %r6}, [%d1]; ld.u32 %r7, [%d1+8];\nadd.u32 %v, %r5, %r6; add.u32 %v, %v, %r7;",
      32);
  for (unsigned i = 0; i < 32; ++i) CHECK(v[i] == 2 * i + 100 + 16 * i);
}

TEST_CASE("local memory belongs to the thread") {
  for (const unsigned warp_size : {32u, 64u}) {
    const auto v = run_body(
        ".local .align 4 .b8 frame[32];\n"
        "mov.u64 %d1, frame; cvta.local.u64 %d2, %d1; st.local.u32 [%d1+4], %t; st.u32 [%d2+8], %g;\n"
        "ld.u32 %r1, [%d2+4]; ld.local.u32 %r2, [%d1+8]; mad.lo.u32 %v, %r1, 1000, %r2;",
        96, warp_size, 2);
    for (unsigned i = 0; i < 192; ++i) CHECK(v[i] == (i % 96) * 1000 + i);
  }
}

TEST_CASE("module variables: global with a pointer in its initialiser, and constants") {
  const auto v = run_body(
      "mov.u64 %d1, pointer; ld.global.u64 %d2, [%d1]; ld.global.u32 %r1, [%d2];\n"
      "rem.u32 %r2, %t, 3; shl.b32 %r2, %r2, 2; mov.u32 %r3, table; add.u32 %r3, %r3, %r2; ld.const.u32 %r4, [%r3];\n"
      "add.u32 %v, %r1, %r4;",
      32, 32, 1,
      ".global .align 4 .u32 values[4] = {10, 20, 30, 40};\n.global .align 8 .u64 pointer = values+8;\n"
      ".const .align 4 .u32 table[3] = {1, 2, 3};\n");
  for (unsigned i = 0; i < 32; ++i) CHECK(v[i] == 30 + 1 + i % 3);
}

TEST_CASE("atomics on shared and global memory") {
  const auto v = run_body(
      ".shared .align 4 .b8 s[16];\n"
      "setp.eq.u32 %q1, %t, 0; mov.u32 %r1, s; @%q1 st.shared.u32 [%r1], 0; @%q1 st.shared.u32 [%r1+4], 1000; "
      "bar.sync 0;\n"
      "atom.shared.add.u32 %r2, [%r1], %t; red.shared.min.u32 [%r1+4], %t; bar.sync 0;\n"
      "ld.shared.u32 %v, [%r1]; ld.shared.u32 %r3, [%r1+4]; mad.lo.u32 %v, %v, 2, %r3;",
      128, 32, 2);
  for (const std::uint32_t x : v) CHECK(x == 2 * (127 * 128 / 2));
  const auto w = run_body(
      ".shared .align 4 .b8 s[4];\n"
      "setp.eq.u32 %q1, %t, 0; mov.u32 %r1, s; @%q1 st.shared.u32 [%r1], 3; bar.sync 0;\n"
      "atom.shared.inc.u32 %r2, [%r1], 5; atom.shared.cas.b32 %r3, [%r1], 100, 7; bar.sync 0; ld.shared.u32 %v, [%r1];",
      32);
  // 32 steps modulo 6 from 3.
  for (const std::uint32_t x : w) CHECK(x == (3 + 32) % 6);
}

TEST_CASE("a spin lock between warps makes progress") {
  const auto v = run_body(
      ".shared .align 4 .b8 s[8];\n"
      "setp.eq.u32 %q1, %t, 0; mov.u32 %r1, s; @%q1 st.shared.u32 [%r1], 0; @%q1 st.shared.u32 [%r1+4], 0; "
      "bar.sync 0;\n"
      "and.b32 %r2, %t, 31; setp.ne.u32 %q2, %r2, 0; @%q2 bra OUT;\n"
      "SPIN: atom.shared.cas.b32 %r3, [%r1], 0, 1; setp.ne.u32 %q3, %r3, 0; @%q3 bra SPIN;\n"
      "ld.shared.u32 %r4, [%r1+4]; add.u32 %r4, %r4, 1; st.shared.u32 [%r1+4], %r4; atom.shared.exch.b32 %r5, "
      "[%r1], 0;\n"
      "OUT: bar.sync 0; ld.shared.u32 %v, [%r1+4];",
      256);
  for (const std::uint32_t x : v) CHECK(x == 8);
}

TEST_CASE("barriers with numbers and counts let producers and consumers meet") {
  // Warp 0 and 1 meet at barrier 1, then all at barrier 0.
  const auto v = run_body(
      ".shared .align 4 .b8 s[8];\n"
      "mov.u32 %r1, s; setp.ge.u32 %q1, %t, 64; @%q1 bra ALL; setp.eq.u32 %q2, %t, 0; @%q2 st.shared.u32 [%r1], "
      "42; bar.sync 1, 64;\n"
      "setp.eq.u32 %q2, %t, 32; ld.shared.u32 %r2, [%r1]; add.u32 %r2, %r2, 1; @%q2 st.shared.u32 [%r1+4], %r2;\n"
      "ALL: bar.sync 0; ld.shared.u32 %v, [%r1+4];",
      160);
  for (const std::uint32_t x : v) CHECK(x == 43);
}

TEST_CASE("warps that have left are not waited for") {
  const auto v = run_body("setp.lt.u32 %q1, %t, 32; mov.u32 %v, 5; @%q1 bra L; bar.sync 0; mov.u32 %v, 6; L:", 96);
  CHECK(v[0] == 5);
  CHECK(v[95] == 6);
}

TEST_CASE("dynamic shared memory") {
  const auto v = run_body(
      "mov.u32 %r1, s; shl.b32 %r2, %t, 2; add.u32 %r2, %r1, %r2; st.shared.u32 [%r2], %t; bar.sync 0;\n"
      "sub.u32 %r3, 63, %t; shl.b32 %r3, %r3, 2; add.u32 %r3, %r1, %r3; ld.shared.u32 %v, [%r3];",
      64, 32, 1, ".extern .shared .align 4 .b8 s[];\n", 256);
  for (unsigned i = 0; i < 64; ++i) CHECK(v[i] == 63 - i);
}

TEST_CASE("shuffles, within warps of 32 on both widths") {
  for (const unsigned warp_size : {32u, 64u}) {
    const auto up =
        run_body("shfl.sync.up.b32 %v|%q1, %t, 3, 0, 0xffffffff; @!%q1 add.u32 %v, %v, 1000;", 64, warp_size);
    const auto down = run_body("shfl.sync.down.b32 %v, %t, 5, 31, 0xffffffff;", 64, warp_size);
    const auto bfly = run_body("shfl.sync.bfly.b32 %v, %t, 7, 31, 0xffffffff;", 64, warp_size);
    const auto idx = run_body("shfl.sync.idx.b32 %v, %t, 2, 0x181f, 0xffffffff;", 64, warp_size);  // segments of 8
    for (unsigned i = 0; i < 64; ++i) {
      const unsigned lane = i % 32;
      CHECK(up[i] == (lane >= 3 ? i - 3 : i + 1000));
      CHECK(down[i] == (lane + 5 < 32 ? i + 5 : i));
      CHECK(bfly[i] == (i ^ 7));
      CHECK(idx[i] == (i / 8) * 8 + 2);
    }
  }
}

TEST_CASE("votes and matches") {
  for (const unsigned warp_size : {32u, 64u}) {
    const auto ballot = run_body("setp.gt.u32 %q1, %t, 40; vote.sync.ballot.b32 %v, %q1, 0xffffffff;", 64, warp_size);
    const auto any = run_body(
        "setp.gt.u32 %q1, %t, 40; vote.sync.any.pred %q2, %q1, 0xffffffff; selp.u32 %v, 1, 0, %q2;", 64, warp_size);
    const auto all = run_body(
        "setp.ge.u32 %q1, %t, 32; vote.sync.all.pred %q2, %q1, 0xffffffff; selp.u32 %v, 1, 0, %q2;", 64, warp_size);
    const auto match = run_body("and.b32 %r1, %t, 3; match.any.sync.b32 %v, %r1, 0xffffffff;", 64, warp_size);
    for (unsigned i = 0; i < 64; ++i) {
      CHECK(ballot[i] == (i < 32 ? 0u : 0xfffffe00u));
      CHECK(any[i] == i / 32);
      CHECK(all[i] == i / 32);
      CHECK(match[i] == 0x11111111u << (i % 4));
    }
  }
}

TEST_CASE("a last warp that is not full counts among the warps of its CTA") {
  for (const unsigned threads : {32u, 48u, 64u, 65u}) {
    Machine m(module_text(".param .u64 out",
                          ".reg .b64 %p, %o; .reg .b32 %r1, %r2;\n"
                          "mov.u32 %r1, %tid.x; mov.u32 %r2, %nwarpid; ld.param.u64 %p, [out];\n"
                          "mul.wide.u32 %o, %r1, 4; add.u64 %p, %p, %o; st.global.u32 [%p], %r2;\nret;\n"));
    m.request.block = {threads, 1, 1};
    const std::uint64_t out = m.buffer("out", threads * 4);
    m.parameter(out);
    m.run();
    for (const std::uint32_t warps : m.read<std::uint32_t>(out, threads)) CHECK(warps == (threads + 31) / 32);
  }
}

TEST_CASE("special registers of a three-dimensional launch") {
  Machine m(module_text(
      ".param .u64 out",
      ".reg .b64 %p, %o; .reg .b32 %r<20>;\n"
      "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y;\n"
      "mov.u32 %r6, %ntid.z; mov.u32 %r7, %ctaid.x; mov.u32 %r8, %ctaid.y; mov.u32 %r9, %ctaid.z;\n"
      "mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y;\n"
      "mad.lo.u32 %r12, %r3, %r5, %r2; mad.lo.u32 %r12, %r12, %r4, %r1;\n"
      "mad.lo.u32 %r13, %r9, %r11, %r8; mad.lo.u32 %r13, %r13, %r10, %r7;\n"
      "mul.lo.u32 %r14, %r4, %r5; mul.lo.u32 %r14, %r14, %r6; mad.lo.u32 %r15, %r13, %r14, %r12;\n"
      "mov.u32 %r16, %laneid; mov.u32 %r17, %lanemask_lt; add.u32 %r17, %r17, %r16;\n"
      "ld.param.u64 %p, [out]; mul.wide.u32 %o, %r15, 4; add.u64 %p, %p, %o; st.global.u32 [%p], %r17;\nret;\n"));
  m.request.block = {3, 5, 7};
  m.request.grid = {2, 3, 4};
  const std::size_t count = 105 * 24;
  const std::uint64_t out = m.buffer("out", count * 4);
  m.parameter(out);
  m.run();
  const auto v = m.read<std::uint32_t>(out, count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto lane = static_cast<std::uint32_t>(i % 105 % 32);
    CHECK(v[i] == (1u << lane) - 1 + lane);
  }
}

TEST_CASE("spilled registers come back") {
  // Thirty values live at once in any order, since all are used twice, in sixteen registers.
  std::string body;
  for (int i = 0; i < 30; ++i)
    body +=
        "mad.lo.u32 %x" + std::to_string(i) + ", %t, " + std::to_string(i * 3 + 1) + ", " + std::to_string(i) + ";\n";
  body += "bar.sync 0; mov.u32 %v, 0;\n";
  for (int i = 59; i >= 0; --i) body += "xor.b32 %v, %v, %x" + std::to_string(i % 30) + "; mul.lo.u32 %v, %v, 3;\n";
  Machine m(
      module_text(
          ".param .u64 out",
          ".reg .b64 %p, %o; .reg .b32 %t, %v, %x<30>; mov.u32 %t, %tid.x;\n" + body +
              "ld.param.u64 %p, [out]; mul.wide.u32 %o, %t, 4; add.u64 %p, %p, %o; st.global.u32 [%p], %v; ret;\n"),
      32, 16);
  CHECK(m.function->spilled_registers > 0);
  const std::uint64_t out = m.buffer("out", 256);
  m.parameter(out);
  m.request.block = {64, 1, 1};
  m.run();
  const auto v = m.read<std::uint32_t>(out, 64);
  for (std::uint32_t t = 0; t < 64; ++t) {
    std::uint32_t expected = 0;
    for (std::uint32_t i = 60; i-- > 0;) expected = (expected ^ (t * (i % 30 * 3 + 1) + i % 30)) * 3;
    CHECK(v[t] == expected);
  }
}

TEST_CASE("parameters are operands of the instructions that use them") {
  Machine m(module_text(".param .u64 out, .param .u32 scale, .param .u64 wide, .param .u16 narrow",
                        ".reg .b64 %p, %a, %o, %w, %e, %r; .reg .b32 %t, %s, %v, %n; .reg .b16 %h;\n"
                        "ld.param.u64 %p, [out]; ld.param.u32 %s, [scale]; ld.param.u64 %w, [wide]; ld.param.u16 %h, "
                        "[narrow]; mov.u32 %t, %tid.x;\n"
                        "mul.wide.u32 %o, %t, 8; add.u64 %a, %p, %o; mad.lo.u32 %v, %t, %s, 5; cvt.u32.u16 %n, %h;\n"
                        "add.u32 %v, %v, %n; cvt.u64.u32 %e, %v; add.u64 %r, %e, %w; st.global.u64 [%a], %r; ret;\n"));
  std::size_t operands = 0;
  for (const auto& i : m.function->blocks[0].instructions)
    for (const auto& o : i.sources) operands += o.kind == ir::Operand::Kind::parameter;
  CHECK(operands == 3);
  const std::uint64_t out = m.buffer("out", 256);
  m.parameter(out);
  m.parameter(std::uint32_t{0x80000001});
  m.parameter(std::uint64_t{0x1234567800000000});
  m.parameter(std::uint16_t{0xfff0});
  m.request.block = {32, 1, 1};
  m.run();
  const auto v = m.read<std::uint64_t>(out, 32);
  for (std::uint32_t t = 0; t < 32; ++t)
    CHECK(v[t] == 0x1234567800000000 + std::uint64_t{t * 0x80000001u + 5 + 0xfff0});
}

TEST_CASE("more memory than the machine has is refused before it is taken") {
  const std::uint64_t all =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  emulator::DeviceMemory memory;
  memory.allocate("a", 4096, true);
  CHECK_THROWS_WITH(memory.allocate("b", all - 4095, true),
                    "buffer 'b' of " + std::to_string(all - 4095) + " bytes does not fit");
  CHECK_THROWS_WITH(memory.allocate("c", all + 1, false),
                    "buffer 'c' of " + std::to_string(all + 1) + " bytes does not fit");
  CHECK(memory.allocations().size() == 1);
}
