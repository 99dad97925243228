// SPDX-License-Identifier: Apache-2.0
//
// Lanes that never come to a barrier again have left, as far as barriers are concerned: nvcc and clang turn an early
// return into a branch to the end of the kernel, where the lanes wait for those that come to the barrier.
#include "harness.h"

#include <regatta/test/catch.h>

using namespace regatta;
using namespace regatta::test;

namespace {

constexpr unsigned threads = 128, ctas = 3;
constexpr int used = 2 * threads + 83;  // the last CTA: two warps whole, one with 19 lanes, one with none

struct Build {
  std::string ptx;
  unsigned warp_size;
};

std::vector<Build> builds() {
  std::vector<Build> all;
  for (const char* file : {"early_exit.sm75.ptx", "early_exit.sm35.ptx"})
    for (const unsigned warp_size : {32u, 64u}) all.push_back({sample(file), warp_size});
  return all;
}

void launch_one(Machine& m) {
  m.request.grid = {ctas, 1, 1};
  m.request.block = {threads, 1, 1};
}

std::vector<float> numbers() {
  std::vector<float> x;
  for (unsigned i = 0; i < ctas * threads; ++i) x.push_back(static_cast<float>(i * 37 % 64) / 64);
  return x;
}

/// A kernel of one CTA whose threads have %t, and an address %a of their own in `out` (and the two in one).
std::string exit_kernel(const std::string& body) {
  return module_text(".param .u64 out",
                     ".reg .b64 %p, %a, %d<4>; .reg .b32 %t, %r<8>; .reg .pred %q<4>; .shared .align 4 .b8 tile[512];\n"
                     "mov.u32 %t, %tid.x; ld.param.u64 %p, [out]; mul.wide.u32 %a, %t, 4; add.u64 %a, %a, %p;\n"
                     "shl.b32 %r7, %t, 2; mov.u32 %r6, tile; add.u32 %r6, %r6, %r7;\n" +
                         body + "\nret;\n");
}

struct Run {
  explicit Run(const std::string& body, unsigned warp_size = 32, unsigned block = 64)
      : machine(exit_kernel(body), warp_size), out(machine.buffer("out", 4 * 128)) {
    machine.parameter(out);
    machine.request.block = {block, 1, 1};
  }
  Machine machine;
  std::uint64_t out;
};

}  // namespace

TEST_CASE("early exit: threads beyond the end return before the barriers") {
  for (const Build& b : builds()) {
    Machine m(b.ptx, b.warp_size, 255, "early_exit");
    const std::vector<float> x = numbers();
    const std::uint64_t in = m.buffer("x", x), out = m.buffer("y", 4 * ctas * threads);
    launch_one(m);
    m.parameter(used);
    m.parameter(in);
    m.parameter(out);
    m.options.races = emulator::RaceRule::independent;
    CHECK(m.races().empty());
    const auto y = m.read<float>(out, ctas * threads);
    for (int i = 0; i < static_cast<int>(ctas * threads); ++i) {
      const int first = i / static_cast<int>(threads) * static_cast<int>(threads);
      const auto sum = [&](int k) {
        const bool next = k + 1 < used && k + 1 < first + static_cast<int>(threads);
        return x[static_cast<unsigned>(k)] + (next ? x[static_cast<unsigned>(k) + 1] : 0);
      };
      INFO("warp size " << b.warp_size << ", thread " << i);
      REQUIRE(y[static_cast<unsigned>(i)] == (i < used ? sum(i) + sum(first) : 0));
    }
  }
}

TEST_CASE("early exit: threads that leave with work of their own, others count at the barrier") {
  for (const Build& b : builds()) {
    Machine m(b.ptx, b.warp_size, 255, "tail_work");
    const std::vector<float> x = numbers();
    const std::uint64_t in = m.buffer("x", x), out = m.buffer("y", 4 * ctas * threads),
                        left = m.buffer("left", 4 * ctas * threads);
    launch_one(m);
    m.parameter(used);
    m.parameter(in);
    m.parameter(out);
    m.parameter(left);
    m.options.races = emulator::RaceRule::independent;
    CHECK(m.races().empty());
    const auto y = m.read<float>(out, ctas * threads);
    const auto steps = m.read<int>(left, ctas * threads);
    for (unsigned i = 0; i < ctas * threads; ++i) {
      INFO("warp size " << b.warp_size << ", thread " << i);
      const unsigned first = i / threads * threads;
      unsigned above = 0;
      for (unsigned k = first; k < first + threads && k < used; ++k) above += x[k] > 0.5f;
      REQUIRE(y[i] == (i < used ? x[first] + static_cast<float>(above) : 0));
      int expected = 0;
      for (unsigned k = i; i >= used && k != 1 && expected < 64; k = k % 2 == 1 ? 3 * k + 1 : k / 2) ++expected;
      REQUIRE(steps[i] == expected);
    }
  }
}

TEST_CASE("early exit: lanes leave a loop of barriers one after the other") {
  for (const Build& b : builds()) {
    Machine m(b.ptx, b.warp_size, 255, "leave_loop");
    std::vector<int> turns;
    for (unsigned i = 0; i < ctas * threads; ++i) turns.push_back(static_cast<int>(i * 7 % 23));
    const std::uint64_t in = m.buffer("turns", turns), out = m.buffer("y", 4 * ctas * threads);
    launch_one(m);
    m.parameter(in);
    m.parameter(out);
    CHECK(m.error().empty());
    CHECK(m.read<int>(out, ctas * threads) == turns);
  }
}

TEST_CASE("early exit: lanes that come to another barrier are refused, with its line") {
  for (const Build& b : builds()) {
    Machine m(b.ptx, b.warp_size, 255, "real_divergence");
    const std::uint64_t out = m.buffer("y", 4 * threads);
    m.request.block = {threads, 1, 1};
    m.parameter(83);
    m.parameter(out);
    const std::string error = m.error();
    INFO(error);
    CHECK(error.find("barrier under divergence: 19 of the warp's " + std::to_string(b.warp_size)) != std::string::npos);
    CHECK(error.find("threads are at it, this one is not and can still come to the barrier on line ") !=
          std::string::npos);
  }
  // The same barrier again, in a loop that some have left for a while.
  Run again(
      "mov.u32 %r1, 0; L: and.b32 %r2, %t, %r1; setp.ne.u32 %q1, %r2, 0; @%q1 bra M;\nbar.sync 0;\n"
      "M: add.u32 %r1, %r1, 1; setp.lt.u32 %q2, %r1, 4; @%q2 bra L;");
  CHECK(again.machine.error() ==
        "k.ptx:10:1: error: kernel 'k', CTA (0,0,0), thread (1,0,0): barrier under divergence: 16 of the warp's 32 "
        "threads are at it, this one is not and can still come to it");
}

TEST_CASE("early exit: a guarded barrier, and one with a count") {
  // Guard off: those lanes go on behind it with the others, and no barrier is there.
  Run guarded(
      "setp.lt.u32 %q1, %t, 40; st.shared.u32 [%r6], %t; @%q1 bar.sync 0;\n"
      "ld.shared.u32 %r1, [%r6]; st.global.u32 [%a], %r1;");
  CHECK(guarded.machine.error().empty());
  CHECK(guarded.machine.read<std::uint32_t>(guarded.out, 64)[63] == 63);
  // A warp counts whole, whichever of its lanes come; of a wavefront of 64 lanes, each of the program's warps. Here the
  // second and the fourth go, the first and 8 lanes of the third meet: the first waits for what the third has stored.
  const std::string counted =
      "and.b32 %r1, %t, 32; setp.ne.u32 %q1, %r1, 0; @%q1 bra L; setp.gt.u32 %q1, %t, 71; @%q1 bra L;\n"
      "mov.u32 %r3, 0; mov.u32 %r4, 1; setp.lt.u32 %q2, %t, 64; @%q2 bra W;\n"
      "S: add.u32 %r3, %r3, 1; setp.lt.u32 %q3, %r3, 600; @%q3 bra S; st.shared.u32 [tile], %r3;\n"
      "W: bar.sync 1, 64; ld.shared.u32 %r4, [tile]; st.global.u32 [%a], %r4; L:";
  for (const unsigned warp_size : {32u, 64u}) {
    Run run(counted, warp_size, 128);
    INFO(warp_size);
    REQUIRE(run.machine.error().empty());
    const auto out = run.machine.read<std::uint32_t>(run.out, 128);
    for (unsigned t = 0; t < 128; ++t) REQUIRE(out[t] == (t < 32 || (t >= 64 && t < 72) ? 600 : 0));
  }
}

TEST_CASE("early exit: lanes on their way to a trap do not hide it behind the barrier") {
  Run run("setp.eq.u32 %q1, %t, 3; @!%q1 bra GOOD;\ntrap;\nGOOD: bar.sync 0;");
  CHECK(run.machine.error() == "k.ptx:10:1: error: kernel 'k', CTA (0,0,0), thread (3,0,0): trap");
}

TEST_CASE("early exit: what a lane does after others of its warp have passed a barrier is not ordered by it") {
  // Lanes from 16 on of the first warp go; the second warp writes before the barrier what they read on their way.
  const std::string reads =
      "st.shared.u32 [%r6], %t; setp.lt.u32 %q2, %t, 32; setp.ge.u32 %q3, %t, 16; and.pred %q1, %q2, %q3;\n"
      "@%q1 bra TAIL; bar.sync 0; ld.shared.u32 %r1, [tile+@]; bra END;\n"
      "TAIL: ld.shared.u32 %r1, [tile+@]; END: st.global.u32 [%a], %r1;";
  const auto with = [&](const std::string& place) {
    std::string text = reads;
    for (std::size_t at; (at = text.find('@', text.find("tile+"))) != std::string::npos;) {
      if (text[at + 1] != ']') break;
      text.replace(at, 1, place);
    }
    return text;
  };
  Run other_warp(with("128"));
  other_warp.machine.options.races = emulator::RaceRule::lockstep;
  const auto races = other_warp.machine.races();
  REQUIRE(races.size() == 1);
  INFO(races[0].message);
  CHECK(races[0].message.find("thread (16,0,0): data race on 4 bytes at shared offset 128") != std::string::npos);
  CHECK(races[0].message.find("by thread (32,0,0) on line 9 are not ordered, for this thread leaves the kernel without "
                              "the barrier that others of its warp passed; expected bar.sync") != std::string::npos);
  CHECK(races[0].times == 16);
  // Of its own warp: ordered where lanes go in lock step, not where they have program counters of their own.
  Run lockstep(with("0"));
  lockstep.machine.options.races = emulator::RaceRule::lockstep;
  CHECK(lockstep.machine.races().empty());
  Run independent(with("0"));
  independent.machine.options.races = emulator::RaceRule::independent;
  REQUIRE(independent.machine.races().size() == 1);
  // A warp barrier with lanes that have passed it hands on what these know.
  Run joined(
      "st.shared.u32 [%r6], %t; setp.lt.u32 %q2, %t, 32; setp.ge.u32 %q3, %t, 16; and.pred %q1, %q2, %q3;\n"
      "@%q1 bra TAIL; bar.sync 0; TAIL: bar.warp.sync 0xffffffff; ld.shared.u32 %r1, [tile+128];");
  joined.machine.options.races = emulator::RaceRule::independent;
  CHECK(joined.machine.races().empty());
}
