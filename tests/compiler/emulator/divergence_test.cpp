// SPDX-License-Identifier: Apache-2.0
//
// Random control flow, structured or not: a warp that diverges must compute what each of its threads computes
// alone. Alone means one thread per CTA, whose warp cannot diverge.
#include "harness.h"
#include "random_ptx.h"

#include <regatta/test/catch.h>

#include <string>

using namespace regatta;
using namespace regatta::test;

namespace {

using random_ptx::Dice;
using random_ptx::number;

constexpr const char* head =
    ".reg .b64 %p<4>; .reg .b32 %r<8>, %acc, %fuel, %id, %v<12>; .reg .pred %q<4>;\n"
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %id, %r2, %r3, %r1;\n"
    "ld.param.u64 %p1, [out]; mul.wide.u32 %p2, %id, 4; add.u64 %p1, %p1, %p2;\n"
    "mul.lo.u32 %acc, %id, 2654435761; mov.u32 %fuel, 60;\n";

/// Any block may branch to any other one; fuel ends the run, and some blocks leave early.
std::string spaghetti(std::uint64_t seed) {
  Dice dice(seed);
  const unsigned blocks = 4 + dice.below(12);
  std::string body = head;
  for (unsigned v = 0; v < 6; ++v) body += "add.u32 %v" + number(v) + ", %id, " + number(v * 7) + ";\n";
  for (unsigned b = 0; b < blocks; ++b) {
    body += "L" + number(b) + ":\n";
    body += "mad.lo.u32 %acc, %acc, 1664525, " + number(b * 2 + 1) + ";\n";
    const std::string v = "%v" + number(dice.below(6)), w = "%v" + number(dice.below(6));
    body += "xor.b32 " + v + ", " + w + ", %acc; add.u32 %acc, %acc, " + w + ";\n";
    body += "sub.u32 %fuel, %fuel, 1; setp.eq.u32 %q1, %fuel, 0; @%q1 bra DONE;\n";
    body += "shr.u32 %r4, %acc, " + number(8 + dice.below(16)) + "; and.b32 %r4, %r4, " + number(1u << dice.below(3)) +
            "; setp.eq.u32 %q2, %r4, 0;\n";
    if (dice.below(4) == 0) {
      body += "@%q2 st.global.u32 [%p1], %acc;\n@%q2 exit;\n";
    } else if (dice.below(5) == 0) {
      body += "@%q2 add.u32 %acc, %acc, 77;\n";
    } else {
      body += std::string(dice.below(2) == 0 ? "@%q2" : "@!%q2") + " bra L" + number(dice.below(blocks)) + ";\n";
    }
  }
  return body + "DONE:\nst.global.u32 [%p1], %acc;\nret;\n";
}

/// Nested ifs and loops whose trip counts differ between threads.
std::string nested(Dice& dice, unsigned depth, unsigned& label) {
  std::string text;
  for (unsigned n = 0; n < 1 + dice.below(3); ++n) {
    const unsigned mine = label++;
    const unsigned kind = depth == 0 ? 0 : dice.below(3);
    if (kind == 0) {
      text += "mad.lo.u32 %acc, %acc, 1103515245, " + number(12345 + mine) + ";\n";
    } else if (kind == 1) {
      text += "shr.u32 %r4, %acc, 13; and.b32 %r4, %r4, 3; setp.lt.u32 %q1, %r4, " + number(1 + dice.below(3)) + ";\n";
      text +=
          "@%q1 bra ELSE" + number(mine) + ";\n" + nested(dice, depth - 1, label) + "bra END" + number(mine) + ";\n";
      text += "ELSE" + number(mine) + ":\n" + nested(dice, depth - 1, label) + "END" + number(mine) + ":\n";
    } else {
      const std::string counter = "%v" + number(depth);
      text += "shr.u32 " + counter + ", %acc, 9; and.b32 " + counter + ", " + counter + ", 3;\n";
      text += "LOOP" + number(mine) + ":\n" + nested(dice, depth - 1, label);
      text += "setp.eq.u32 %q1, " + counter + ", 0; @%q1 bra OUT" + number(mine) + ";\nsub.u32 " + counter + ", " +
              counter + ", 1; bra LOOP" + number(mine) + ";\nOUT" + number(mine) + ":\n";
    }
  }
  return text;
}

std::vector<std::uint32_t> run(const std::string& text, unsigned threads_per_cta, unsigned warp_size,
                               unsigned registers, emulator::RunCounts* counts = nullptr,
                               emulator::Divergence divergence = emulator::Divergence::stack,
                               KeepCtas* trace = nullptr) {
  constexpr unsigned threads = 192;
  Machine m(text, warp_size, registers);
  const std::uint64_t out = m.buffer("out", threads * 4);
  m.parameter(out);
  m.request.block = {threads_per_cta, 1, 1};
  m.request.grid = {threads / threads_per_cta, 1, 1};
  m.options.divergence = divergence;
  const emulator::RunCounts c = m.run(trace);
  CHECK_FALSE(m.left_stack_order);
  if (counts != nullptr) *counts = c;
  return m.read<std::uint32_t>(out, threads);
}

void check(const std::string& body) {
  const std::string text = module_text(".param .u64 out", body);
  const auto alone = run(text, 1, 32, 255);
  emulator::RunCounts counts;
  CHECK(run(text, 96, 32, 255, &counts) == alone);
  CHECK(run(text, 192, 64, 255) == alone);
  CHECK(run(text, 48, 32, 16) == alone);
  // Where no lane waits for another one, barriers are a stack.
  for (const unsigned warp_size : {32u, 64u}) {
    KeepCtas stack, barriers;
    run(text, 192, warp_size, 255, nullptr, emulator::Divergence::stack, &stack);
    CHECK(run(text, 192, warp_size, 255, nullptr, emulator::Divergence::barriers, &barriers) == alone);
    CHECK(same_traces(stack.ctas, barriers.ctas));
  }
}

}  // namespace

TEST_CASE("a diverging warp computes what its threads compute alone: nested") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Dice dice(seed);
    unsigned label = 0;
    INFO("seed " << seed);
    check(head + nested(dice, 4, label) + "st.global.u32 [%p1], %acc;\nret;\n");
  }
}

TEST_CASE("a diverging warp computes what its threads compute alone: any jumps") {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed);
    check(spaghetti(seed));
  }
}

TEST_CASE("threads that leave a loop one by one wait at its end, with one stack entry for all") {
  const std::string text = module_text(
      ".param .u64 out", std::string(head) +
                             "mov.u32 %v1, 0;\nLOOP:\nadd.u32 %v1, %v1, 1; setp.le.u32 %q1, %v1, %r1; @%q1 bra LOOP;\n"
                             "st.global.u32 [%p1], %v1;\nret;\n");
  Machine m(text);
  const std::uint64_t out = m.buffer("out", 128);
  m.parameter(out);
  m.request.block = {32, 1, 1};
  KeepCtas kept;
  const emulator::RunCounts counts = m.run(&kept);
  CHECK(counts.divergent_branches == 31);
  const auto got = m.read<std::uint32_t>(out, 32);
  for (unsigned i = 0; i < 32; ++i) CHECK(got[i] == i + 1);

  trace::WarpCursor cursor(m.kernel, kept.ctas[0].warps[0]);
  std::vector<trace::StackEvent> events;
  unsigned pushes = 0, pops = 0, depth = 0, deepest = 0;
  while (cursor.next()) {
    events.clear();
    cursor.stack_events(events);
    for (const trace::StackEvent& e : events) {
      if (e.push) {
        ++pushes;
        deepest = std::max(deepest, ++depth);
        CHECK(e.mask == 0xffffffffu);
      } else {
        ++pops;
        --depth;
      }
    }
  }
  CHECK(pushes == 1);
  CHECK(pops == 1);
  CHECK(deepest == 1);
}
