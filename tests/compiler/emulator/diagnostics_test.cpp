// SPDX-License-Identifier: Apache-2.0
//
// What the emulator says about programs that are wrong, word for word.
#include "harness.h"

#include <regatta/test/catch.h>

#include <cctype>

using namespace regatta::test;

namespace {

/// A kernel whose body begins on line 6; `%t` is tid.x, `%p` the buffer's address plus 4 tid.
std::string kernel(const std::string& body, const std::string& declarations = "") {
  return module_text(".param .u64 data",
                     ".reg .b64 %p, %o, %d<4>; .reg .b32 %t, %r<6>; .reg .pred %q<4>; " + declarations +
                         " mov.u32 %t, %tid.x; ld.param.u64 %p, [data]; mul.wide.u32 %o, %t, 4; add.u64 %p, %p, %o;\n" +
                         body + "\nret;\n");
}

/// R12 becomes R#, P0 becomes P#: which registers the allocator picks is not what is tested.
std::string without_numbers(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    const bool begins = i == 0 || std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0;
    if (!begins || (text[i] != 'R' && text[i] != 'P') || i + 1 == text.size()) continue;
    std::size_t end = i + 1;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    if (end == i + 1) continue;
    out += '#';
    i = end - 1;
  }
  return out;
}

std::string error_of(const std::string& text, unsigned threads = 32, bool initialised = true,
                     std::uint64_t max_instructions = 100000) {
  Machine m(text);
  m.options.max_instructions = max_instructions;
  m.parameter(m.buffer("data", 128, initialised));
  m.request.block = {threads, 1, 1};
  m.request.grid = {2, 1, 1};
  return without_numbers(m.error());
}

constexpr const char* use = " st.global.u32 [%p], %r1;";

}  // namespace

TEST_CASE("out-of-bounds accesses name the thread and the buffer") {
  CHECK(error_of(kernel("ld.global.u32 %r1, [%p+4];" + std::string(use))) ==
        "k.ptx:7:1: error: kernel 'k', CTA (0,0,0), thread (31,0,0): out-of-bounds read of 4 bytes at global address "
        "0x1000000080, just past the end of 'data' (128 bytes)");
  CHECK(error_of(kernel("st.global.u32 [%p+20], %t;")) ==
        "k.ptx:7:1: error: kernel 'k', CTA (0,0,0), thread (27,0,0): out-of-bounds write of 4 bytes at global address "
        "0x1000000080, just past the end of 'data' (128 bytes)");
  CHECK(error_of(kernel("ld.global.u32 %r1, [%p+-8];" + std::string(use))) ==
        "k.ptx:7:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): out-of-bounds read of 4 bytes at global address "
        "0xffffffff8, 8 bytes before the start of 'data' (128 bytes)");
  CHECK(error_of(kernel("mov.u64 %d1, 16; ld.global.u32 %r1, [%d1];" + std::string(use))) ==
        "k.ptx:7:18: error: kernel 'k', CTA (0,0,0), thread (0,0,0): out-of-bounds read of 4 bytes at global address "
        "0x10, in "
        "no buffer");
  CHECK(error_of(kernel("atom.global.add.u32 %r1, [%p+4], 1;")) ==
        "k.ptx:7:1: error: kernel 'k', CTA (0,0,0), thread (31,0,0): out-of-bounds atomic access of 4 bytes at global "
        "address "
        "0x1000000080, just past the end of 'data' (128 bytes)");
  CHECK(error_of(kernel("shl.b32 %r1, %t, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], %t;",
                        ".shared .align 4 .b8 s[64];")) ==
        "k.ptx:7:60: error: kernel 'k', CTA (0,0,0), thread (16,0,0): out-of-bounds write of 4 bytes at shared offset "
        "64, the CTA "
        "has 64 bytes");
}

TEST_CASE("misaligned accesses") {
  CHECK(error_of(kernel("ld.global.u32 %r1, [%p+2];" + std::string(use))) ==
        "k.ptx:7:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): misaligned read of 4 bytes at global address "
        "0x1000000002, "
        "expected a multiple of 4");
  CHECK(error_of(kernel("ld.global.v2.u32 {%r1, %r2}, [%p];" + std::string(use))) ==
        "k.ptx:7:1: error: kernel 'k', CTA (0,0,0), thread (1,0,0): misaligned read of 8 bytes at global address "
        "0x1000000004, "
        "expected a multiple of 8");
}

TEST_CASE("reads of what was never written") {
  CHECK(
      error_of(kernel("setp.lt.u32 %q1, %t, 8; @%q1 mov.u32 %r1, 5; add.u32 %r2, %r1, 1; st.global.u32 [%p], %r2;")) ==
      "k.ptx:7:67: error: kernel 'k', CTA (0,0,0), thread (8,0,0): 'st.global.u32 [R#.64], R#;' reads register R#, "
      "which 'add.u32 R#, R#, 0x1;' on line 7 makes of R#, which this thread never wrote");
  CHECK(
      error_of(kernel(
          "setp.lt.u32 %q1, %t, 8; @%q1 setp.eq.u32 %q2, %t, 1; selp.u32 %r2, 1, 0, %q2; st.global.u32 [%p], %r2;")) ==
      "k.ptx:7:79: error: kernel 'k', CTA (0,0,0), thread (8,0,0): 'st.global.u32 [R#.64], R#;' reads register R#, "
      "which 'selp.u32 R#, 0x1, 0x0, P#;' on line 7 makes of P#, which this thread never wrote");
  CHECK(
      error_of(kernel("shl.b32 %r1, %t, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; setp.ne.u32 %q1, %t, 5;\n"
                      "@%q1 st.shared.u32 [%r1], %t; ld.shared.u32 %r3, [%r1]; st.global.u32 [%p], %r3;",
                      ".shared .align 4 .b8 s[128];")) ==
      "k.ptx:8:31: error: kernel 'k', CTA (0,0,0), thread (5,0,0): read of shared offset 20, which was never written");
  CHECK(error_of(
            kernel("setp.ne.u32 %q1, %t, 7; @%q1 st.global.u32 [%p], %t; ld.global.u32 %r1, [%p];" + std::string(use)),
            32, false) ==
        "k.ptx:7:54: error: kernel 'k', CTA (0,0,0), thread (7,0,0): read of global address 0x100000001c, which was "
        "never "
        "written, 28 bytes into 'data' (128 bytes)");
}

TEST_CASE("moving a value never written is no use of it") {
  CHECK(error_of(kernel("setp.lt.u32 %q1, %t, 8; @%q1 mov.u32 %r1, 5; mov.u32 %r2, %r1; @%q1 st.global.u32 [%p], %r2;"))
            .empty());
}

TEST_CASE("what a lane takes from another is written if it is written there") {
  const std::string leader = "setp.eq.u32 %q1, %t, 3; @%q1 mov.u32 %r1, 5;\n";
  CHECK(error_of(kernel(leader + "shfl.sync.idx.b32 %r2, %r1, 3, 31, 0xffffffff; st.global.u32 [%p], %r2;")).empty());
  const std::string unwritten =
      "k.ptx:8:51: error: kernel 'k', CTA (0,0,0), thread (0,0,0): 'st.global.u32 [R#.64], R#;' reads register R#, "
      "which this thread never wrote";
  CHECK(error_of(kernel(leader + "shfl.sync.idx.b32 %r2, %r1, 4, 31, 0xffffffff;    st.global.u32 [%p], %r2;")) ==
        unwritten);
  // Lane 2 alone has its neighbour's; a lane beyond the end keeps its own.
  CHECK(error_of(kernel(leader + "shfl.sync.down.b32 %r2, %r1, 1, 31, 0xffffffff;   st.global.u32 [%p], %r2;")) ==
        unwritten);
  CHECK(error_of(kernel(leader + "shfl.sync.down.b32 %r2, %r1, 1, 31, 0xffffffff; setp.eq.u32 %q2, %t, 2; "
                                 "@%q2 st.global.u32 [%p], %r2;"))
            .empty());
  CHECK(error_of(kernel("setp.eq.u32 %q1, %t, 31; @%q1 mov.u32 %r1, 5; shfl.sync.down.b32 %r2, %r1, 1, 31, 0xffffffff; "
                        "@%q1 st.global.u32 [%p], %r2;"))
            .empty());
  // The lane to take from has to be known by all.
  CHECK(error_of(kernel(leader + "shfl.sync.idx.b32 %r2, %t, %r1, 31, 0xffffffff; st.global.u32 [%p], %r2;")) ==
        "k.ptx:8:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): 'shfl.sync.idx.b32 R#, R#, R#, 0x1f, "
        "0xffffffff;' reads register R#, which this thread never wrote");
}

TEST_CASE("computing ahead of the question whether there is a value") {
  // Thread 3 has found something, and compares with it; the others need not have anything. Compilers compare first.
  const std::string found = "setp.eq.u32 %q1, %t, 3; @%q1 mov.u32 %r1, 5; not.pred %q2, %q1; mov.u32 %r3, 1;\n";
  const std::string compare = found + "setp.gt.u32 %q3, %t, %r1; ";
  const std::string use = " @%q0 mov.u32 %r3, 2; st.global.u32 [%p], %r3;";
  CHECK(error_of(kernel(compare + "or.pred %q0, %q2, %q3;" + use)).empty());
  CHECK(error_of(kernel(compare + "and.pred %q0, %q1, %q3;" + use)).empty());
  CHECK(error_of(kernel(compare + "and.pred %q0, %q3, %q1; not.pred %q0, %q0;" + use)).empty());
  CHECK(error_of(kernel(found + "setp.gt.and.u32 %q0, %t, %r1, %q1;" + use)).empty());
  CHECK(error_of(kernel(found + "setp.gt.or.u32 %q0|%q3, %t, %r1, %q2;" + use)).empty());
  CHECK(error_of(kernel(found + "set.gt.and.u32.u32 %r3, %t, %r1, %q1; st.global.u32 [%p], %r3;")).empty());
  CHECK(error_of(kernel(compare + "selp.u32 %r2, 1, 2, %q3; @%q1 st.global.u32 [%p], %r2;")).empty());
  CHECK(error_of(kernel(found + "mad.lo.u32 %r2, %r1, 3, %t; selp.u32 %r2, %r2, 0, %q1; st.global.u32 [%p], %r2;"))
            .empty());
  // What decides has to be known ...
  const std::string by_compare =
      ", which 'setp.gt.u32 P#, R#, R#;' on line 8 makes of R#, which this thread never wrote";
  CHECK(error_of(kernel(compare + "@%q3 bra L; st.global.u32 [%p], %r3; L:")) ==
        "k.ptx:8:32: error: kernel 'k', CTA (0,0,0), thread (0,0,0): '@P# exit;' reads predicate P#" + by_compare);
  CHECK(error_of(kernel(compare + "xor.pred %q0, %q3, %q1;" + use)).find("reads predicate P#" + by_compare) !=
        std::string::npos);
  CHECK(error_of(kernel(compare + "and.pred %q0, %q3, %q2;" + use)).find("reads predicate P#" + by_compare) !=
        std::string::npos);
  CHECK(error_of(kernel(compare + "vote.sync.ballot.b32 %r2, %q3, 0xffffffff; st.global.u32 [%p], %r2;"))
            .find("reads predicate P#" + by_compare) != std::string::npos);
  // ... and so has an address; the message names where it began, however far it went.
  CHECK(error_of(kernel(found + "add.u32 %r2, %r1, 1; mul.wide.u32 %d1, %r2, 4; add.u64 %d1, %p, %d1;\n"
                                "st.global.u32 [%d1], %t;")) ==
        "k.ptx:9:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): 'st.global.u32 [R#.64], R#;' reads register R#, "
        "which 'add.u32 R#, R#, 0x1;' on line 8 makes of R#, which this thread never wrote");
  // A register that is written again has a value again.
  CHECK(error_of(kernel(found + "add.u32 %r2, %r1, 1; mov.u32 %r2, 7; st.global.u32 [%p], %r2;")).empty());
}

TEST_CASE("selecting, packing and widening a value never written is no use of it") {
  const std::string part = "setp.eq.u32 %q1, %t, 3; @%q1 mov.u32 %r1, 5; not.pred %q2, %q1;\n";
  CHECK(error_of(kernel(part + "selp.u32 %r2, %r1, 7, %q1; st.global.u32 [%p], %r2;")).empty());
  CHECK(error_of(kernel(part + "selp.u32 %r2, 7, %r1, %q2; st.global.u32 [%p], %r2;")).empty());
  CHECK(error_of(kernel(part + "selp.u32 %r2, 7, %r1, %q1; @%q1 st.global.u32 [%p], %r2;")).empty());
  CHECK(error_of(kernel(part + "selp.u32 %r2, 7, %r1, %q1; st.global.u32 [%p], %r2;")) ==
        "k.ptx:8:28: error: kernel 'k', CTA (0,0,0), thread (0,0,0): 'st.global.u32 [R#.64], R#;' reads register R#, "
        "which this thread never wrote");
  const std::string there_and_back =
      "mov.b64 %d1, {%r1, %r1}; mov.b64 {%r2, %r3}, %d1; cvt.u64.u32 %d2, %r3; "
      "cvt.u32.u64 %r4, %d2;\n";
  CHECK(error_of(kernel(part + there_and_back + "@%q1 st.global.u32 [%p], %r4;")).empty());
  CHECK(error_of(kernel(part + there_and_back + "st.global.u32 [%p], %r4;")) ==
        "k.ptx:9:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): 'st.global.u32 [R#.64], R#;' reads register R#, "
        "which this thread never wrote");
}

TEST_CASE("local memory carries the state of what was stored") {
  const std::string frame = ".local .align 4 .b8 f[16];";
  // Half of the threads store; the load of the others is no error until somebody uses it.
  const std::string half = "setp.lt.u32 %q1, %t, 8; @%q1 st.local.u32 [f], %t; ld.local.u32 %r1, [f];\n";
  CHECK(error_of(kernel(half + "add.u32 %r2, %r1, 1; st.global.u32 [%p], %r2;", frame)) ==
        "k.ptx:8:22: error: kernel 'k', CTA (0,0,0), thread (8,0,0): 'st.global.u32 [R#.64], R#;' reads register R#, "
        "which 'add.u32 R#, R#, 0x1;' on line 8 makes of R#, which this thread never wrote");
  CHECK(error_of(kernel(half + "@%q1 st.global.u32 [%p], %r1;", frame)).empty());
  // A byte that is missing is none to compute with.
  CHECK(error_of(kernel("mov.u32 %r1, 1; st.local.u8 [f], %r1; st.local.u8 [f+1], %r1; st.local.u8 [f+3], %r1;\n"
                        "ld.local.u32 %r1, [f]; add.u32 %r1, %r1, 1; st.global.u32 [%p], %r1;",
                        frame)) ==
        "k.ptx:8:45: error: kernel 'k', CTA (0,0,0), thread (0,0,0): 'st.global.u32 [R#.64], R#;' reads register R#, "
        "which 'add.u32 R#, R#, 0x1;' on line 8 makes of R#, of which this thread never wrote byte 2");
  // A spill of what was never written, and its way back, are no use.
  CHECK(
      error_of(kernel("setp.lt.u32 %q1, %t, 8; @%q1 mov.u32 %r1, 5; st.local.u32 [f+4], %r1; ld.local.u32 %r2, [f+4];\n"
                      "@%q1 st.global.u32 [%p], %r2;",
                      frame))
          .empty());
}

TEST_CASE("structures are copied with the bytes between their members") {
  // A byte and a word at offset 4; the word between them is whole, so there are three bytes that nobody has.
  const std::string local = ".local .align 8 .b8 f[16];";
  const std::string fill = "mov.u32 %r1, 7; st.local.u8 [f], %r1; st.local.u32 [f+4], %t;\n";
  const std::string shared = ".shared .align 8 .b8 s[256];";
  const std::string place = "shl.b32 %r4, %t, 3; mov.u32 %r5, s; add.u32 %r4, %r4, %r5;\n";
  const std::string to_shared = fill + place + "ld.local.v2.u32 {%r2, %r3}, [f]; st.shared.v2.u32 [%r4], {%r2, %r3};\n";
  const std::string both = local + shared;
  // Registers, local, shared and global memory: none of them minds.
  CHECK(error_of(kernel(fill + "ld.local.u32 %r2, [f]; st.global.u32 [%p], %r2;", local)).empty());
  CHECK(error_of(kernel(to_shared + "ld.shared.v2.u32 {%r2, %r3}, [%r4]; st.global.u32 [%p], %r2;", both)).empty());
  // Its members are there at the end of the way ...
  CHECK(error_of(kernel(to_shared + "ld.shared.v2.u32 {%r2, %r3}, [%r4]; add.u32 %r3, %r3, 1; ld.shared.u8 %r2, [%r4]; "
                                    "add.u32 %r2, %r2, %r3; st.global.u32 [%p], %r2;",
                        both))
            .empty());
  // ... and nothing else is.
  CHECK(error_of(kernel(to_shared + "ld.shared.v2.u32 {%r2, %r3}, [%r4]; add.u32 %r2, %r2, 1; st.global.u32 [%p], %r2;",
                        both)) ==
        "k.ptx:10:58: error: kernel 'k', CTA (0,0,0), thread (0,0,0): 'st.global.u32 [R#.64], R#;' reads register R#, "
        "which 'add.u32 R#, R#, 0x1;' on line 10 makes of R#, of which this thread never wrote byte 1");
  CHECK(error_of(kernel(to_shared + "ld.shared.u16 %r2, [%r4+2]; st.global.u32 [%p], %r2;", both)) ==
        "k.ptx:10:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): read of shared offset 2, which was never written");
  // A value of which nothing was written is no part of anything.
  CHECK(error_of(kernel(fill + "ld.local.u32 %r2, [f+8]; st.global.u32 [%p], %r2;", local)) ==
        "k.ptx:8:26: error: kernel 'k', CTA (0,0,0), thread (0,0,0): 'st.global.u32 [R#.64], R#;' reads register R#, "
        "which this thread never wrote");
  // A generic address may mean local memory, which keeps what it is given.
  CHECK(
      error_of(kernel(fill + "ld.local.u32 %r2, [f+8]; mov.u64 %d1, f; cvta.local.u64 %d1, %d1; st.u32 [%d1+12], %r2;",
                      local))
          .empty());
  // Halves of a word, each for itself, and the way through a shuffle.
  const std::string half =
      "mov.u32 %r1, 7; st.local.u16 [f+2], %r1; ld.local.u32 %r2, [f]; "
      "shfl.sync.idx.b32 %r2, %r2, 3, 31, 0xffffffff; .reg .b16 %h<3>; mov.b32 {%h1, %h2}, %r2;\n";
  CHECK(error_of(kernel(half + "st.global.u16 [%p], %h2;", local)).empty());
  CHECK(error_of(kernel(half + "st.global.u16 [%p], %h1;", local)) ==
        "k.ptx:8:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): 'st.global.u16 [R#.64], R#;' reads register R#, "
        "which this thread never wrote");
}

TEST_CASE("barriers under divergence and deadlocks") {
  CHECK(error_of(kernel("setp.lt.u32 %q1, %t, 8; @%q1 bra L; bar.sync 0; L: bar.sync 1;")) ==
        "k.ptx:7:37: error: kernel 'k', CTA (0,0,0), thread (0,0,0): barrier under divergence: 24 of the warp's 32 "
        "threads are at it, this one is not and can still come to the barrier on line 7");
  CHECK(error_of(kernel("setp.lt.u32 %q1, %t, 32; @%q1 bra L;\nbar.sync 1; bra M; L:\nbar.sync 2; M:"), 96) ==
        "k.ptx:9:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): barrier deadlock: warps 1,2 wait at barrier 1 on "
        "line 8; warp 0 "
        "waits at "
        "barrier 2 on line 9");
  CHECK(error_of(kernel("setp.lt.u32 %q1, %t, 32; @%q1 exit;\nbar.sync 3, 96;"), 96) ==
        "k.ptx:8:1: error: kernel 'k', CTA (0,0,0), thread (32,0,0): barrier deadlock: warps 1,2 wait at barrier 3 on "
        "line 8 for 96 "
        "threads; 1 warp "
        "has exited");
  CHECK(error_of(kernel("bar.sync 3, 40;")) ==
        "k.ptx:7:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): barrier for 40 threads, expected a multiple of the "
        "warp size 32");
}

TEST_CASE("endless loops and traps") {
  CHECK(error_of(kernel("L: bra L;"), 32, true, 1000) ==
        "k.ptx:7:4: error: kernel 'k', CTA (0,0,0), thread (0,0,0): warp 0 has executed 1000 instructions and goes on: "
        "an endless "
        "loop? (raise "
        "--max-instructions if not)");
  CHECK(error_of(kernel("setp.eq.u32 %q1, %t, 3; @%q1 trap;")) ==
        "k.ptx:7:30: error: kernel 'k', CTA (0,0,0), thread (3,0,0): trap");
}

TEST_CASE("a .sync instruction whose members are on other paths") {
  CHECK(error_of(kernel("setp.lt.u32 %q1, %t, 8; @%q1 bra L; shfl.sync.idx.b32 %r1, %t, 0, 31, 0xffffffff; "
                        "st.global.u32 [%p], %r1; L: st.global.u32 [%p], %t;")) ==
        "k.ptx:7:37: error: kernel 'k', CTA (0,0,0), thread (8,0,0): member mask 0xffffffff names lane 0, which is on "
        "another path");
  // Lanes that have returned are no members.
  CHECK(error_of(kernel("setp.lt.u32 %q1, %t, 8; @%q1 bra L; vote.sync.ballot.b32 %r1, 1, 0xffffffff; "
                        "st.global.u32 [%p], %r1; L:"))
            .empty());
}

TEST_CASE("messages carry the source line when the PTX has it") {
  const std::string text =
      ".version 9.0\n.target sm_75\n.address_size 64\n.file 1 \"k.cu\"\n.visible .entry k(.param .u64 data)\n{\n"
      ".reg .b64 %p; .reg .b32 %r1;\n.loc 1 42 3\nld.param.u64 %p, [data];\nld.global.u32 %r1, "
      "[%p+128];\nst.global.u32 [%p], %r1;\nret;\n}\n";
  CHECK(error_of(text) ==
        "k.ptx:10:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): out-of-bounds read of 4 bytes at global address "
        "0x1000000080, "
        "just past the end of 'data' (128 bytes) (k.cu:42)");
}

TEST_CASE("messages name the line of an inlined function, and that of the kernel which calls it") {
  const auto message = [](const std::string& locations) {
    const std::string error = error_of(
        ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 data)\n{\n"
        ".reg .b64 %p; .reg .b32 %r1;\n.loc 1 42 3\nld.param.u64 %p, [data];\n" +
        locations +
        "atom.global.add.u32 %r1, [%p+128], 1;\nst.global.u32 [%p], %r1;\nret;\n}\n.file 1 \"k.cu\"\n"
        ".file 2 \"/usr/local/cuda/bin/../targets/x86_64-linux/include/device_atomic_functions.hpp\"\n");
    return error.substr(error.rfind(" bytes) ") + 8);
  };
  CHECK(message(".loc 2 112 3, function_name $L__info_string0, inlined_at 1 42 3\n") == "(k.cu:42)");
  CHECK(message(".loc 1 7 3, function_name $L__info_string0, inlined_at 1 42 3\n"
                ".loc 2 112 3, function_name $L__info_string1, inlined_at 1 7 3\n") == "(k.cu:7, inlined in k.cu:42)");
}
