// SPDX-License-Identifier: Apache-2.0
//
// What counts as a race and what does not, and how one is worded.
#include "harness.h"

#include <regatta/test/catch.h>

#include <regex>

using namespace regatta::test;
using regatta::emulator::Race;
using regatta::emulator::RaceRule;

namespace {

/// Stores what a load loads to local memory, under the load's guard: a load whose result nobody uses is no code.
std::string with_uses(const std::string& body) {
  return std::regex_replace(body, std::regex("(@!?%q[0-9] )?(ld[.a-z0-9]* )(%r[0-9])([^;]*;)"),
                            "$& $1st.local.u32 [kept], $3;");
}

/// A kernel whose body begins on line 7: `%t` is tid.x, `%c` ctaid.x, `%p` the buffer's address plus 4 tid, `%b` the
/// buffer's, `%s` the offset in shared memory of the thread's own word.
std::string race_kernel(const std::string& body) {
  return module_text(".param .u64 data",
                     ".reg .b64 %p, %b, %o, %d<4>; .reg .b32 %t, %c, %s, %r<8>; .reg .pred %q<4>; "
                     ".local .align 4 .b8 kept[4]; .shared .align 4 .b8 s[1024]; mov.u32 %t, %tid.x; "
                     "mov.u32 %c, %ctaid.x; ld.param.u64 %b, [data]; mul.wide.u32 %o, %t, 4; add.u64 %p, %b, %o; "
                     "mov.u32 %r7, s; mad.lo.u32 %s, %t, 4, %r7;\n" +
                         with_uses(body) + "\nret;\n");
}

struct Setup {
  unsigned threads = 64;
  unsigned ctas = 1;
  RaceRule rule = RaceRule::independent;
  unsigned warp_size = 32;
};

std::vector<Race> races(const std::string& body, const Setup& setup = {}) {
  Machine m(race_kernel(body), setup.warp_size);
  m.parameter(m.buffer("data", 1024));
  m.request.block = {setup.threads, 1, 1};
  m.request.grid = {setup.ctas, 1, 1};
  m.options.races = setup.rule;
  m.options.max_instructions = 100000;
  return m.races();
}

bool clean(const std::string& body, const Setup& setup = {}) { return races(body, setup).empty(); }

std::string first(const std::string& body, const Setup& setup = {}) {
  const std::vector<Race> found = races(body, setup);
  return found.empty() ? "" : found[0].message;
}

const Setup one_warp{32, 1, RaceRule::independent, 32};
const Setup lockstep{32, 1, RaceRule::lockstep, 32};
const Setup two_ctas{32, 2, RaceRule::independent, 32};

/// Every thread stores to its own word of shared memory, then loads that of thread 63 - tid, which is in the other
/// warp.
const std::string store_own = "st.shared.u32 [%s], %t;\n";
const std::string load_mirrored = "xor.b32 %r1, %t, 63; mad.lo.u32 %r1, %r1, 4, %r7; ld.shared.u32 %r2, [%r1];\n";
/// ... or that of its neighbour in the warp.
const std::string load_neighbour = "xor.b32 %r1, %t, 1; mad.lo.u32 %r1, %r1, 4, %r7; ld.shared.u32 %r2, [%r1];\n";

}  // namespace

TEST_CASE("warps of a CTA are ordered by barriers") {
  CHECK(clean(store_own + "bar.sync 0;\n" + load_mirrored));
  CHECK(first(store_own + load_mirrored) ==
        "k.ptx:7:1: error: kernel 'k', CTA (0,0,0), thread (32,0,0): data race on 4 bytes at shared offset 128, 128 "
        "bytes into 's': write here and the read by thread (31,0,0) on line 8 are not ordered; expected bar.sync "
        "(__syncthreads) between them, or atomics");
  // Each of the 64 words once: warp 0 reads before warp 1 writes, warp 1 reads after warp 0 has written.
  const auto found = races(store_own + load_mirrored);
  REQUIRE(found.size() == 1);
  CHECK(found[0].times == 64);
  // A write after a read needs one as much; the second round overwrites what the first reads.
  CHECK(clean(store_own + "bar.sync 0;\n" + load_mirrored + "bar.sync 0;\n" + store_own));
  CHECK(first(store_own + "bar.sync 0;\n" + load_mirrored + store_own) ==
        "k.ptx:9:51: error: kernel 'k', CTA (0,0,0), thread (32,0,0): data race on 4 bytes at shared offset 124, 124 "
        "bytes into 's': read here and the write by thread (31,0,0) on line 10 are not ordered; expected bar.sync "
        "(__syncthreads) between them, or atomics");
}

TEST_CASE("a barrier orders those who take part in it") {
  const Setup three{96, 1, RaceRule::independent, 32};
  // Warps 0 and 1 meet at barrier 1; warp 2 does not wait for them.
  const std::string pair = "setp.ge.u32 %q1, %t, 64; @%q1 bra A;\nbar.sync 1, 64;\nA:\n";
  const std::string from_first = "mov.u32 %r1, s; setp.ge.u32 %q2, %t, 64; @!%q2 ld.shared.u32 %r2, [%r1];\n";
  const std::string by_third = "mov.u32 %r1, s; setp.ge.u32 %q2, %t, 64; @%q2 ld.shared.u32 %r2, [%r1];\n";
  CHECK(clean(store_own + pair + from_first, three));
  CHECK_FALSE(clean(store_own + pair + by_third, three));
  // One barrier is not another: all pass 1 and 2 in turn.
  CHECK(clean(store_own + "bar.sync 1;\nbar.sync 2;\n" + load_mirrored));
  // Order is handed on: 0 meets 1, then 1 meets 2.
  const std::string chain =
      "setp.ge.u32 %q1, %t, 64; @%q1 bra A;\nbar.sync 1, 64;\nA:\nsetp.lt.u32 %q1, %t, 32; @%q1 bra B;\n"
      "bar.sync 2, 64;\nB:\n";
  CHECK(clean(store_own + chain + by_third, three));
  // A warp that has exited is waited for by barriers without a count.
  CHECK(clean(store_own + "setp.lt.u32 %q1, %t, 32; @%q1 exit;\nbar.sync 0;\n" + load_mirrored));
}

TEST_CASE("who only arrives at a barrier is before those who wait, and not after them") {
  // Warp 0 fills its words and arrives; warp 1 waits for that and reads them.
  const std::string fill = "setp.ge.u32 %q1, %t, 32; @%q1 bra WAIT;\nst.shared.u32 [%s], %t;\nbar.arrive 1, 64;\n";
  const std::string drain = "bra END; WAIT:\nbar.sync 1, 64;\nld.shared.u32 %r2, [%s+-128];\nEND:\n";
  CHECK(clean(fill + drain));
  // What warp 0 does afterwards is not waited for.
  CHECK_FALSE(clean(fill + "st.shared.u32 [%s], %r7;\n" + drain));
  CHECK_FALSE(clean("setp.ge.u32 %q1, %t, 32; @%q1 bra WAIT;\nbar.arrive 1, 64;\nst.shared.u32 [%s], %t;\n" + drain));
  // A reduction over a barrier orders as the barrier does.
  CHECK(clean(store_own + "setp.eq.u32 %q1, %t, 3; bar.red.or.pred %q2, 0, %q1;\n" + load_mirrored));
}

TEST_CASE("lanes of a warp: independent threads need bar.warp.sync, lanes in lockstep do not") {
  CHECK(first(store_own + load_neighbour, one_warp) ==
        "k.ptx:8:50: error: kernel 'k', CTA (0,0,0), thread (0,0,0): data race on 4 bytes at shared offset 4, 4 bytes "
        "into 's': read here and the write by thread (1,0,0) on line 7 are not ordered; expected bar.warp.sync "
        "(__syncwarp) or bar.sync (__syncthreads) between them, or atomics");
  CHECK(clean(store_own + load_neighbour, lockstep));
  CHECK(clean(store_own + "bar.warp.sync -1;\n" + load_neighbour, one_warp));
  CHECK(clean(store_own + "bar.sync 0;\n" + load_neighbour, one_warp));
  // A shuffle, a vote or a match orders no memory.
  CHECK_FALSE(clean(store_own + "shfl.sync.idx.b32 %r3, %t, 0, 31, -1;\n" + load_neighbour, one_warp));
  // Each mask for its lanes: pairs meet under 0x3, 0xc, ...; the neighbour of a pair does not.
  const std::string pairs = "and.b32 %r3, %t, 30; mov.u32 %r4, 3; shl.b32 %r4, %r4, %r3;\nbar.warp.sync %r4;\n";
  CHECK(clean(store_own + pairs + load_neighbour, one_warp));
  CHECK_FALSE(clean(store_own + pairs + "xor.b32 %r1, %t, 2; mad.lo.u32 %r1, %r1, 4, %r7; ld.shared.u32 %r2, [%r1];",
                    one_warp));
  // Both halves of a 64-lane wavefront are warps of their own.
  const Setup wide{64, 1, RaceRule::independent, 64};
  CHECK(clean(store_own + "bar.warp.sync -1;\n" + load_neighbour, wide));
  CHECK_FALSE(clean(store_own + "bar.warp.sync -1;\n" + load_mirrored, wide));
}

TEST_CASE("paths of a divergent branch are not ordered, in lockstep neither, until they meet") {
  const std::string split =
      "mov.u32 %r1, s; setp.lt.u32 %q1, %t, 16; @%q1 bra A;\nst.shared.u32 [%r1+128], %r7;\n"
      "bra B;\nA:\nld.shared.u32 %r2, [%r1+128];\nB:\n";
  const std::string write_first = "mov.u32 %r1, s; st.shared.u32 [%r1+128], %r7;\n";
  CHECK_FALSE(clean(write_first + split, lockstep));
  const std::string meet =
      "mov.u32 %r1, s; setp.lt.u32 %q1, %t, 16; @%q1 bra A;\nst.shared.u32 [%r1+128], %r7;\nA:\n"
      "add.u32 %r3, %t, 1;\nsetp.ge.u32 %q1, %r3, 17; @%q1 bra B;\n"
      "ld.shared.u32 %r2, [%r1+128];\nB:\n";
  CHECK(clean(meet, lockstep));
  CHECK_FALSE(clean(meet, one_warp));
}

TEST_CASE("writes of the same value are no race, of different ones they are") {
  CHECK(clean("mov.u32 %r1, 5; st.global.u32 [%b], %r1;", {64, 3, RaceRule::independent, 32}));
  CHECK(first("st.global.u32 [%b], %t;", one_warp) ==
        "k.ptx:7:1: error: kernel 'k', CTA (0,0,0), thread (1,0,0): data race on 4 bytes at global address "
        "0x1000000000, 0 bytes into 'data' (1024 bytes): write here and the write by thread (0,0,0) on line 7 are one "
        "instruction that writes different values; expected an atomic, or one lane per address");
  CHECK_FALSE(clean("shr.u32 %r1, %t, 5; st.global.u32 [%b], %r1;"));
  // Who reads it has to be ordered still.
  CHECK_FALSE(clean("mov.u32 %r1, 5; st.global.u32 [%b], %r1; ld.global.u32 %r2, [%b];"));
}

TEST_CASE("bytes of one word are locations of their own") {
  const std::string own_byte = "add.u32 %r1, %r7, %t; st.shared.u8 [%r1], %t;\n";
  CHECK(clean(own_byte));
  CHECK(clean("shl.b32 %r1, %t, 1; add.u32 %r1, %r1, %r7; st.shared.u16 [%r1], %t;"));
  CHECK_FALSE(clean(own_byte + "ld.shared.u32 %r2, [s];"));
  CHECK(clean(own_byte + "bar.sync 0;\nld.shared.u32 %r2, [s];"));
  // Elements of vectors and halves of 64-bit values likewise.
  CHECK(clean("mul.wide.u32 %d1, %t, 16; add.u64 %d1, %b, %d1; st.global.v4.u32 [%d1], {%t, %t, %t, %t};"));
  CHECK_FALSE(
      clean("mul.wide.u32 %d1, %t, 4; and.b64 %d1, %d1, -8; add.u64 %d1, %b, %d1; cvt.u64.u32 %d2, %t; "
            "st.global.u64 [%d1], %d2;"));
}

TEST_CASE("CTAs are not ordered") {
  CHECK(first("mov.u32 %r1, %c; st.global.u32 [%p], %r1;", two_ctas) ==
        "k.ptx:7:18: error: kernel 'k', CTA (1,0,0), thread (0,0,0): data race on 4 bytes at global address "
        "0x1000000000, 0 bytes into 'data' (1024 bytes): write here and the write by thread (0,0,0) of CTA (0,0,0) on "
        "line 7 are not ordered, for CTAs run in any order; expected atomics, another launch, or a flag behind a fence "
        "(__threadfence)");
  CHECK_FALSE(clean("setp.eq.u32 %q1, %c, 0; @%q1 st.global.u32 [%p], %t; @!%q1 ld.global.u32 %r1, [%p];", two_ctas));
  CHECK(clean("ld.global.u32 %r1, [%p];", two_ctas));
  // Shared memory is a CTA's own.
  CHECK(clean(store_own, two_ctas));
}

TEST_CASE("atomics do not race with each other, with other accesses they do") {
  CHECK(clean("atom.global.add.u32 %r1, [%b], 1; red.global.max.u32 [%b], %t;", {64, 2, RaceRule::independent, 32}));
  CHECK_FALSE(clean("atom.global.add.u32 %r1, [%b], 1; ld.global.u32 %r2, [%b];"));
  CHECK_FALSE(clean("st.global.u32 [%b], 0; atom.global.add.u32 %r1, [%b], 1;"));
  CHECK(
      clean("setp.eq.u32 %q1, %t, 0; @%q1 st.shared.u32 [s], 0; bar.sync 0;\natom.shared.add.u32 %r1, [s], 1; "
            "bar.sync 0;\nld.shared.u32 %r2, [s];"));
  CHECK_FALSE(
      clean("setp.eq.u32 %q1, %t, 0; @%q1 st.shared.u32 [s], 0; bar.sync 0;\natom.shared.add.u32 %r1, [s], 1; "
            "ld.shared.u32 %r2, [s];"));
  // Polling a flag is what .volatile and .relaxed are for in global memory.
  CHECK(clean("ld.volatile.global.u32 %r1, [%b]; atom.global.add.u32 %r1, [%b], 1;", two_ctas));
  // A scope of one CTA does not reach another.
  CHECK(clean("atom.relaxed.cta.global.add.u32 %r1, [%b], 1;"));
  CHECK(first("atom.relaxed.cta.global.add.u32 %r1, [%b], 1;", two_ctas) ==
        "k.ptx:7:1: error: kernel 'k', CTA (1,0,0), thread (0,0,0): data race on 4 bytes at global address "
        "0x1000000000, 0 bytes into 'data' (1024 bytes): atomic here and the atomic by thread (0,0,0) of CTA (0,0,0) "
        "on line 7 have a scope of one CTA; expected .gpu scope");
}

TEST_CASE("a fence and a counter hand data from CTA to CTA") {
  // Each CTA stores its word and counts itself; the last one reads all of them.
  const auto last_cta = [](const std::string& fence, const std::string& scope = ".gpu") {
    return "setp.ne.u32 %q1, %t, 0; @%q1 bra A;\nmul.wide.u32 %d1, %c, 4; add.u64 %d1, %b, %d1;\n"
           "st.global.u32 [%d1+64], %c;\n" +
           fence + "\natom.relaxed" + scope +
           ".global.add.u32 %r1, [%b], 1;\nsetp.ne.u32 %q2, %r1, 3; @%q2 bra A;\nld.global.u32 %r2, [%b+64]; "
           "ld.global.u32 %r3, [%b+68];\nA:\n";
  };
  const Setup four{32, 4, RaceRule::independent, 32};
  CHECK(clean(last_cta("membar.gl;"), four));
  CHECK(clean(last_cta("fence.acq_rel.sys;"), four));
  CHECK_FALSE(clean(last_cta(""), four));
  CHECK_FALSE(clean(last_cta("membar.cta;"), four));
  CHECK_FALSE(clean(last_cta("membar.gl;", ".cta"), four));
  // Release and acquire on the flag itself are as good.
  CHECK(
      clean("setp.eq.u32 %q1, %c, 0; @%q1 bra A;\nld.acquire.gpu.global.u32 %r1, [%b+128]; ld.global.u32 %r2, [%p];\n"
            "bra B; A:\nst.global.u32 [%p], %t;\nbar.sync 0;\nst.release.gpu.global.u32 [%b+128], 1; B:",
            two_ctas));
}

TEST_CASE("a read before the write it races with is a race, not a read of nothing") {
  CHECK(first("setp.ge.u32 %q1, %t, 32; @%q1 st.shared.u32 [s], %t; setp.eq.u32 %q1, %t, 0; @%q1 ld.shared.u32 %r1, "
              "[s]; setp.eq.u32 %q1, %t, 32; @%q1 st.shared.u32 [s], 7;")
            .find("data race on 4 bytes at shared offset 0") != std::string::npos);
  Machine m(race_kernel("ld.shared.u32 %r1, [s];"));
  m.parameter(m.buffer("data", 1024));
  m.request.block = {32, 1, 1};
  m.options.races = RaceRule::independent;
  CHECK(m.error() ==
        "k.ptx:7:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): read of shared offset 0, which was never written");
}

TEST_CASE("races of another launch are not looked for, and one pair of source lines is one race") {
  Machine m(race_kernel("st.global.u32 [%p], %t; st.global.u32 [%p+4], %t;"));
  m.parameter(m.buffer("data", 1024));
  m.request.block = {32, 1, 1};
  m.options.races = RaceRule::independent;
  CHECK(m.races().size() == 1);
  Machine ordered(race_kernel("st.global.u32 [%p], %r7;"));
  ordered.parameter(ordered.buffer("data", 1024));
  ordered.options.races = RaceRule::independent;
  regatta::emulator::Emulator e(*ordered.function, ordered.reconvergence, ordered.memory, *ordered.image,
                                ordered.options);
  e.run(ordered.request);
  ordered.request.grid = {1, 1, 1};
  e.run(ordered.request);
  CHECK(e.races().empty());
}

TEST_CASE("the rule follows the target") {
  CHECK(regatta::emulator::race_rule_of(75) == RaceRule::independent);
  CHECK(regatta::emulator::race_rule_of(70) == RaceRule::independent);
  CHECK(regatta::emulator::race_rule_of(35) == RaceRule::lockstep);
  CHECK(regatta::emulator::race_rule_of(0) == RaceRule::independent);
  CHECK(Machine(race_kernel("")).function->target == 75);
}
