// SPDX-License-Identifier: Apache-2.0
//
// What CUDA leaves undefined: an error where something depends on it, or zero (EmulatorOptions::undefined_zero).
#include "harness.h"

#include <catch2/catch.hpp>

#include <random>

namespace regatta::test::undefined_values {
namespace {

constexpr const char* head =
    ".reg .pred %q<4>; .reg .b32 %t, %v, %r<8>; .reg .b64 %p, %a; .shared .align 4 .b8 s[256];\n"
    "ld.param.u64 %p, [data]; mov.u32 %t, %tid.x; add.u32 %v, %t, 100; mul.wide.u32 %a, %t, 4; add.s64 %p, %p, %a;\n";

struct Outcome {
  std::string error;
  std::vector<std::uint32_t> words;
};

Outcome run(const std::string& body, bool zero, unsigned threads = 32, unsigned warp_size = 32) {
  Machine m(module_text(".param .u64 data", head + body + "\nDONE: ret;\n"), warp_size);
  m.options.undefined_zero = zero;
  m.request.block = {threads, 1, 1};
  const std::uint64_t data = m.buffer("data", std::vector<std::uint32_t>(64, 7));
  m.parameter(data);
  Outcome o;
  o.error = m.error();
  o.words = m.read<std::uint32_t>(data, 64);
  return o;
}

/// The error behind its position and thread.
std::string what(const std::string& error) {
  const std::string end = "thread (0,0,0): ";
  const std::size_t at = error.find(end);
  return at == std::string::npos ? error : error.substr(at + end.size());
}

}  // namespace

TEST_CASE("shared memory before it is written: an error, or zero") {
  const std::string body =
      "mov.u32 %r1, s; shl.b32 %r2, %t, 2; add.u32 %r1, %r1, %r2; setp.eq.u32 %q1, %t, 3;\n@%q1 st.shared.u32 [%r1], "
      "%v;\nld.shared.u32 %r3, [%r1]; st.global.u32 [%p], %r3;";
  CHECK(what(run(body, false).error) == "read of shared offset 0, which was never written");
  const Outcome o = run(body, true);
  CHECK(o.error.empty());
  for (unsigned i = 0; i < 32; ++i) CHECK(o.words[i] == (i == 3 ? 103 : 0));
  // An atomic operation, a vector, and the next CTA, which does not see what the one before has left.
  CHECK(run("atom.shared.add.u32 %r3, [s], 1; st.global.u32 [%p], %r3;", true).words[31] == 31);
  CHECK(run("ld.shared.v4.u32 {%r1,%r2,%r3,%r4}, [s+16]; st.global.u32 [%p], %r4;", true).words[0] == 0);
  Machine m(module_text(".param .u64 data", std::string(head) +
                                                "ld.shared.u32 %r3, [s+8]; st.shared.u32 [s+8], 5; st.global.u32 "
                                                "[%p], %r3; ret;\n"));
  m.options.undefined_zero = true;
  m.request.grid = {3, 1, 1};
  const std::uint64_t data = m.buffer("data", std::vector<std::uint32_t>(1, 7));
  m.parameter(data);
  REQUIRE(m.error().empty());
  CHECK(m.read<std::uint32_t>(data, 1)[0] == 0);
}

TEST_CASE("registers, predicates and local memory before they are written: an error, or zero") {
  const std::string reg = "setp.gt.u32 %q1, %t, 40; @%q1 mov.u32 %r1, 9; st.global.u32 [%p], %r1;";
  CHECK(what(run(reg, false).error).find("which this thread never wrote") != std::string::npos);
  CHECK(run(reg, true).words[5] == 0);
  const std::string predicate =
      "setp.gt.u32 %q1, %t, 40; @%q1 setp.gt.u32 %q2, %t, 1;\n@%q2 bra DONE;\nst.global.u32 [%p], 1;";
  CHECK(what(run(predicate, false).error).find("reads predicate") != std::string::npos);
  CHECK(run(predicate, true).words[5] == 1);
  const std::string local =
      ".local .align 4 .b8 frame[16]; .reg .b64 %f; mov.u64 %f, frame; ld.local.u32 %r1, [%f+4]; st.global.u32 [%p], "
      "%r1;";
  CHECK(what(run(local, false).error).find("which this thread never wrote") != std::string::npos);
  CHECK(run(local, true).words[5] == 0);
}

TEST_CASE("a shuffle from a lane that takes no part: an error, zero, or the value of a lane that executes it") {
  const std::string lower = "setp.ge.u32 %q1, %t, 16; @%q1 bra DONE;\n";
  const std::string store = "\nst.global.u32 [%p], %r2;";
  // The partners are elsewhere.
  const std::string outside = lower + "shfl.sync.bfly.b32 %r2|%q2, %v, 16, 0x1f, 0x0000ffff;" + store;
  CHECK(what(run(outside, false).error) ==
        "'st.global.u32 [R0.64], R2;' reads register R2, which 'shfl.sync.bfly.b32 R2, R3, 0x10, 0x1f, 0xffff;' "
        "on line 9 takes from a lane outside its member mask");
  CHECK(run(outside, true).error.empty());
  CHECK(run(outside, true).words[3] == 0);
  // They have left, and were in the mask.
  const std::string gone =
      "setp.ge.u32 %q1, %t, 16; @%q1 exit;\nshfl.sync.bfly.b32 %r2, %v, 16, 0x1f, 0xffffffff;" + store;
  CHECK(what(run(gone, false).error).find("takes from a lane that does not execute it") != std::string::npos);
  CHECK(run(gone, true).words[3] == 0);
  // They execute it, but the mask does not name them, nor the upper lanes themselves.
  const std::string here = "shfl.sync.bfly.b32 %r2, %v, 16, 0x1f, 0x0000ffff;" + store;
  CHECK(run(here, false).error.find("member mask 0xffff does not name lane 16, which executes it") !=
        std::string::npos);
  const Outcome o = run(here, true);
  CHECK(o.error.empty());
  for (unsigned i = 0; i < 32; ++i) CHECK(o.words[i] == 100 + (i ^ 16));
}

TEST_CASE("the sum of part of a warp, whose other lanes give nothing") {
  // As in CUDA's sample reduction: lanes below `n` sum with offsets 16 to 1.
  for (const unsigned warp_size : {32u, 64u}) {
    for (const unsigned n : {1u, 2u, 4u, 8u, 16u, 32u}) {
      std::string body = "setp.lt.u32 %q1, %t, " + std::to_string(n) +
                         "; vote.sync.ballot.b32 %r5, %q1, 0xffffffff; @!%q1 bra DONE;\n";
      for (const unsigned offset : {16u, 8u, 4u, 2u, 1u}) {
        body += "shfl.sync.down.b32 %r2, %v, " + std::to_string(offset) + ", 0x1f, %r5; add.u32 %v, %v, %r2;\n";
      }
      const Outcome o = run(body + "st.global.u32 [%p], %v;", true, 32, warp_size);
      REQUIRE(o.error.empty());
      CHECK(o.words[0] == 100 * n + n * (n - 1) / 2);
    }
  }
}

TEST_CASE("random shuffles with undefined values as zero take what the oracle says") {
  std::mt19937 generator(7);
  const auto random = [&] { return static_cast<std::uint32_t>(generator()); };
  for (unsigned n = 0; n < 200; ++n) {
    const std::uint32_t active = random() | random(), members = n % 2 == 0 ? active : active & random();
    const std::uint32_t distance = random() & 31;
    const bool down = n % 3 == 0;
    if (active == 0) continue;
    const std::string body = "shr.u32 %r5, " + std::to_string(active) +
                             ", %t; and.b32 %r5, %r5, 1; setp.eq.u32 %q1, %r5, 0; @%q1 bra DONE;\nshfl.sync." +
                             (down ? "down" : "bfly") + ".b32 %r2, %v, " + std::to_string(distance) + ", 0x1f, " +
                             std::to_string(members) + ";\nst.global.u32 [%p], %r2;";
    const Outcome o = run(body, true);
    INFO(body);
    REQUIRE(o.error.empty());
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned from = down ? lane + distance : lane ^ distance;
      if (from > 31) from = lane;
      const std::uint32_t expected = (active >> lane & 1u) == 0 ? 7 : (active >> from & 1u) != 0 ? 100 + from : 0;
      REQUIRE(o.words[lane] == expected);
    }
  }
}

}  // namespace regatta::test::undefined_values
