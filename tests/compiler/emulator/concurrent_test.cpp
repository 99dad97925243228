// SPDX-License-Identifier: Apache-2.0
//
// CTAs that advance together: who waits for a CTA that comes later gets on, the trace is in order, and a run is the
// same each time.
#include "harness.h"

#include <regatta/test/catch.h>

#include <string>

using namespace regatta;
using namespace regatta::test;

namespace concurrent_ctas {
namespace {

/// %p holds the address of a buffer of words, %t the thread, %w the CTA, %n the number of CTAs.
std::string kernel(const std::string& body) {
  return module_text(".param .u64 out",
                     ".reg .b64 %p, %d<4>; .reg .b32 %t, %w, %n, %r<8>; .reg .pred %q<4>; .shared .b32 word;\n"
                     "mov.u32 %t, %tid.x; mov.u32 %w, %ctaid.x; mov.u32 %n, %nctaid.x; ld.param.u64 %p, [out];\n" +
                         body + "\nret;\n");
}

/// Thread 0 of a CTA waits until word `index` (a register) of the buffer has a value that is not 0, in %r5.
std::string wait_for(const std::string& index) {
  return "mul.wide.u32 %d1, " + index +
         ", 4; add.u64 %d1, %p, %d1;\nWAIT: ld.acquire.gpu.global.u32 %r5, [%d1]; setp.eq.u32 %q1, %r5, 0; "
         "@%q1 bra WAIT;\n";
}

const std::string publish =
    "mul.wide.u32 %d2, %w, 4; add.u64 %d2, %p, %d2; add.u32 %r6, %r5, 1; st.release.gpu.global.u32 [%d2], %r6;\n";

/// From the last CTA to the first: each takes what the one behind it has published.
const std::string backward_chain = kernel(
    "mov.u32 %r5, 0; add.u32 %r1, %w, 1; setp.ne.u32 %q2, %t, 0; @%q2 ret;\n"
    "setp.eq.u32 %q3, %r1, %n; @%q3 bra LAST;\n" +
    wait_for("%r1") + "LAST: " + publish);

struct Setup {
  Setup(const std::string& text, unsigned ctas, unsigned threads, std::uint64_t together, unsigned warp_size = 32)
      : machine(text, warp_size), out(machine.buffer("out", 4096)) {
    machine.parameter(out);
    machine.request.grid = {ctas, 1, 1};
    machine.request.block = {threads, 1, 1};
    machine.options.concurrent_ctas = together;
    machine.options.max_instructions = 1u << 22;
  }
  Machine machine;
  std::uint64_t out;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// nvcc's code of samples/grid_sync.cu on `ctas` CTAs of 96 threads.
struct GridSync {
  explicit GridSync(unsigned ctas, unsigned warp_size = 32)
      : machine(sample("grid_sync.sm75.ptx"), warp_size), threads(96 * ctas) {
    a = machine.buffer("a", std::uint64_t{threads} * 4, false);
    b = machine.buffer("b", std::uint64_t{threads} * 4, false);
    machine.parameter(a);
    machine.parameter(b);
    machine.parameter(threads);
    machine.request.grid = {ctas, 1, 1};
    machine.request.block = {96, 1, 1};
    machine.request.cooperative = true;
  }
  Machine machine;
  std::uint32_t threads;
  std::uint64_t a, b;
};

}  // namespace

TEST_CASE("a CTA may wait for one that comes later") {
  for (const std::uint64_t together : {0u, 40u, 100u}) {
    for (const unsigned warp_size : {32u, 64u}) {
      Setup s(backward_chain, 40, 64, together, warp_size);
      s.machine.run();
      const auto found = s.machine.read<std::uint32_t>(s.out, 40);
      for (std::uint32_t c = 0; c < 40; ++c) CHECK(found[c] == 40 - c);
    }
  }
}

TEST_CASE("those who wait for a CTA that has no place are told so") {
  Setup alone(backward_chain, 40, 64, 1);
  CHECK(has(alone.machine.error(),
            "; 39 CTAs have not started, from (1,0,0) on: CTAs run one after another to their end (--concurrent-ctas "
            "fit runs them together)"));
  Setup few(backward_chain, 40, 64, 8);
  const std::string error = few.machine.error();
  INFO(error);
  CHECK(has(error, "kernel 'k', CTA (0,0,0), thread (0,0,0): endless loop: it reads global address "));
  CHECK(has(error, ", 4 bytes into 'out' (4096 bytes), as 0 each time (warp 0), and nobody can write there any more"));
  CHECK(has(error, "; 8 CTAs loop so; 32 CTAs have not started, from (8,0,0) on: 8 CTAs are resident at a time"));
}

TEST_CASE("CTAs that wait for each other are found") {
  Setup s(kernel("xor.b32 %r1, %w, 1;\n" + wait_for("%r1") + publish), 4, 32, 0);
  const std::string error = s.machine.error();
  INFO(error);
  CHECK(has(error, "CTA (0,0,0), thread (0,0,0): endless loop: it reads global address "));
  CHECK(has(error, "; 4 CTAs loop so"));
  CHECK(!has(error, "not started"));
}

TEST_CASE("a lock between CTAs, and a queue of work for persistent CTAs") {
  // Word 0 is the lock, word 1 what it guards.
  Setup lock(kernel("setp.ne.u32 %q2, %t, 0; @%q2 ret;\n"
                    "TRY: atom.acquire.gpu.global.cas.b32 %r1, [%p], 0, 1; setp.ne.u32 %q1, %r1, 0; @%q1 bra TRY;\n"
                    "ld.volatile.global.u32 %r2, [%p+4]; mov.u32 %r4, 0;\n"
                    "SLOW: add.u32 %r4, %r4, 1; setp.lt.u32 %q3, %r4, 300; @%q3 bra SLOW;\n"
                    "add.u32 %r2, %r2, %w; st.volatile.global.u32 [%p+4], %r2;\n"
                    "membar.gl; atom.release.gpu.global.exch.b32 %r3, [%p], 0;"),
             50, 32, 16);
  lock.machine.run();
  CHECK(lock.machine.read<std::uint32_t>(lock.out, 2) == std::vector<std::uint32_t>{0, 49 * 50 / 2});

  // Word 0 counts the items that are taken; item i marks word 1 + i.
  Setup queue(
      kernel("NEXT: atom.global.add.u32 %r1, [%p], 1; setp.ge.u32 %q1, %r1, 500; @%q1 ret;\n"
             "mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %p, %d1; atom.global.add.u32 %r2, [%d1+4], %r1; bra NEXT;"),
      6, 64, 6);
  queue.machine.run();
  const auto items = queue.machine.read<std::uint32_t>(queue.out, 502);
  for (std::uint32_t i = 0; i < 500; ++i) REQUIRE(items[1 + i] == i);
  CHECK(items[501] == 0);
}

TEST_CASE("barriers and shared memory of CTAs that advance together are their own") {
  const std::string body =
      "mul.lo.u32 %r1, %w, 1000; setp.ne.u32 %q1, %t, 32; @%q1 bra ON; mov.u32 %r3, 0;\n"
      "SLOW: add.u32 %r3, %r3, 1; setp.lt.u32 %q2, %r3, 700; @%q2 bra SLOW; st.shared.u32 [word], %r1;\n"
      "ON: bar.sync 0; ld.shared.u32 %r2, [word]; add.u32 %r2, %r2, %t; mad.lo.u32 %r4, %w, 64, %t;\n"
      "mul.wide.u32 %d1, %r4, 4; add.u64 %d1, %p, %d1; st.global.u32 [%d1], %r2;";
  Setup s(kernel(body), 16, 64, 5);
  s.machine.run();
  const auto found = s.machine.read<std::uint32_t>(s.out, 16 * 64);
  for (std::uint32_t i = 0; i < 16 * 64; ++i) REQUIRE(found[i] == i / 64 * 1000 + i % 64);
}

TEST_CASE("the trace of CTAs that do not need each other does not depend on how many advance together") {
  // CTAs of very different length, so that they end out of order.
  const std::string body =
      "sub.u32 %r1, %n, %w; mul.lo.u32 %r1, %r1, 97; mov.u32 %r2, %t;\n"
      "LOOP: mad.lo.u32 %r2, %r2, 1664525, %w; sub.u32 %r1, %r1, 1; setp.ne.u32 %q1, %r1, 0; @%q1 bra LOOP;\n"
      "mad.lo.u32 %r4, %w, 48, %t; mul.wide.u32 %d1, %r4, 4; add.u64 %d1, %p, %d1; st.global.u32 [%d1], %r2;";
  KeepCtas one;
  Setup s(kernel(body), 20, 48, 1);
  const emulator::RunCounts counts = s.machine.run(&one);
  REQUIRE(one.ctas.size() == 20);
  for (const std::uint64_t together : {2u, 7u, 20u, 0u}) {
    KeepCtas several;
    s.machine.options.concurrent_ctas = together;
    const emulator::RunCounts again = s.machine.run(&several);
    CHECK(same_traces(one.ctas, several.ctas));
    CHECK(again.warp_instructions == counts.warp_instructions);
    CHECK(again.thread_instructions == counts.thread_instructions);
  }
}

TEST_CASE("a run of CTAs that need each other is the same each time") {
  KeepCtas first, second;
  Setup a(backward_chain, 40, 64, 0), b(backward_chain, 40, 64, 0);
  a.machine.run(&first);
  b.machine.run(&second);
  CHECK(same_traces(first.ctas, second.ctas));
}

TEST_CASE("a cooperative launch has a barrier of its grid") {
  for (const unsigned warp_size : {32u, 64u}) {
    for (const unsigned ctas : {1u, 2u, 30u}) {
      GridSync s(ctas, warp_size);
      // A second launch begins with a fresh barrier.
      for (unsigned launch = 0; launch < 2; ++launch) {
        s.machine.run();
        const auto a = s.machine.read<std::uint32_t>(s.a, s.threads);
        const auto b = s.machine.read<std::uint32_t>(s.b, s.threads);
        for (std::uint32_t i = 0; i < s.threads; ++i) {
          REQUIRE(b[i] == (i + 37) % s.threads * 3);
          REQUIRE(a[i] == i * 3 + (s.threads - 1 - i + 37) % s.threads * 3);
        }
      }
    }
  }
}

TEST_CASE("a grid barrier orders the CTAs, and without it they race") {
  GridSync s(6);
  s.machine.options.races = emulator::RaceRule::independent;
  CHECK(s.machine.races().empty());

  // The last CTA to the first one, with and without release and acquire.
  for (const bool strong : {true, false}) {
    std::string text = kernel(
        "setp.ne.u32 %q2, %t, 0; @%q2 ret; setp.eq.u32 %q3, %w, 0; @%q3 bra FIRST;\n"
        "st.global.u32 [%p+64], 7; st.release.gpu.global.u32 [%p], 1; ret;\n"
        "FIRST: mov.u32 %r1, 0;\n" +
        wait_for("%r1") + "ld.global.u32 %r2, [%p+64]; st.global.u32 [%p+128], %r2;");
    if (!strong) text.replace(text.find("st.release.gpu.global.u32"), 25, "st.relaxed.gpu.global.u32");
    Setup pair(text, 2, 32, 2);
    pair.machine.options.races = emulator::RaceRule::independent;
    const auto races = pair.machine.races();
    CHECK(races.size() == (strong ? 0u : 1u));
  }
  // What one warp writes may reach another one of its CTA by way of another CTA.
  Setup detour(kernel("shr.u32 %r3, %t, 5; shl.b32 %r3, %r3, 1; sub.u32 %r3, %r3, %w; and.b32 %r4, %t, 31;\n"
                      "setp.ne.u32 %q2, %r4, 0; @%q2 ret; setp.eq.u32 %q2, %w, 1; @%q2 bra OTHER;\n"
                      "setp.ne.u32 %q2, %t, 0; @%q2 bra SECOND;\n"
                      "st.global.u32 [%p+64], 7; st.release.gpu.global.u32 [%p], 1; ret;\n"
                      "OTHER: setp.ne.u32 %q2, %t, 0; @%q2 ret; mov.u32 %r1, 0;\n" +
                      wait_for("%r1") +
                      "st.release.gpu.global.u32 [%p+4], 1; ret;\n"
                      "SECOND: ld.acquire.gpu.global.u32 %r5, [%p+4]; setp.eq.u32 %q1, %r5, 0; @%q1 bra SECOND;\n"
                      "ld.global.u32 %r2, [%p+64]; st.global.u32 [%p+128], %r2;"),
               2, 64, 2);
  detour.machine.options.races = emulator::RaceRule::independent;
  CHECK(detour.machine.races().empty());
}

TEST_CASE("cooperative launches that cannot be") {
  GridSync plain(4);
  plain.machine.request.cooperative = false;
  CHECK(has(plain.machine.error(),
            "CTA (0,0,0), thread (0,0,0): trap; the kernel looks for the barrier of its grid (%envreg1 and %envreg2; "
            "cooperative_groups::this_grid()), and the launch is not cooperative"));
  // 21 CTAs of 96 threads on each of 132 multiprocessors.
  GridSync large(132 * 21 + 1);
  CHECK(large.machine.error() ==
        "error: kernel '_Z9grid_syncPiS_i' is launched cooperatively with 2773 CTAs, expected at most 2772, as many as "
        "are resident at a time");
}

TEST_CASE("how many CTAs are resident") {
  Setup s(kernel(""), 1, 1, 1);
  const auto fits = [&](unsigned threads, unsigned dynamic_shared, unsigned registers) {
    s.machine.request.block = {threads, 1, 1};
    s.machine.request.dynamic_shared_bytes = dynamic_shared;
    s.machine.function->registers_used = registers;
    emulator::Emulator e(*s.machine.function, s.machine.reconvergence, s.machine.memory, *s.machine.image,
                         s.machine.options);
    return e.resident_ctas(s.machine.request);
  };
  const unsigned word = s.machine.function->static_shared_bytes;
  CHECK(fits(32, 0, 8) == 132 * 32);
  CHECK(fits(256, 0, 32) == 132 * 8);
  CHECK(fits(256, 0, 33) == 132 * 6);
  CHECK(fits(1024, 0, 64) == 132);
  CHECK(fits(1024, 0, 65) == 132);
  CHECK(fits(64, 75 * 1024 - word, 8) == 132 * 3);
  CHECK(fits(64, 75 * 1024 - word + 1, 8) == 132 * 2);
  // Some warps take more later (setmaxnreg), from those that give theirs back.
  s.machine.function->entry_registers = 32;
  CHECK(fits(256, 0, 200) == 132 * 8);
}

}  // namespace concurrent_ctas
