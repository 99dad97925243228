// SPDX-License-Identifier: Apache-2.0
//
// Programs that never end, because who they wait for cannot run: the proof comes soon, and it names the address, the
// place and who waits. Programs that take long, or wait for somebody who can run, end as ever.
#include "harness.h"

#include <regatta/test/catch.h>

using namespace regatta;
using namespace regatta::test;

namespace {

/// Far above what the proof needs, far below what a test has time for.
constexpr std::uint64_t plenty = 1u << 22;

struct Launch {
  Launch(const std::string& ptx, const std::string& entry, unsigned warp_size, unsigned ctas, unsigned threads)
      : machine(ptx, warp_size, 255, entry), first(machine.buffer("first", 64)), second(machine.buffer("second", 64)) {
    machine.request.grid = {ctas, 1, 1};
    machine.request.block = {threads, 1, 1};
    machine.options.max_instructions = plenty;
    machine.parameter(first);
    if (machine.function->parameters.size() > 1) machine.parameter(second);
  }
  Machine machine;
  std::uint64_t first, second;
};

/// %p holds the address of a buffer, %t the thread, %w the CTA.
std::string waiting_kernel(const std::string& body) {
  return module_text(".param .u64 out",
                     ".reg .b64 %p, %d<4>; .reg .b32 %t, %w, %r<8>; .reg .pred %q<4>; .shared .b32 flag;\n"
                     "mov.u32 %t, %tid.x; mov.u32 %w, %ctaid.x; ld.param.u64 %p, [out];\n" +
                         body + "\nret;\n");
}

std::string waiting_error(const std::string& body, unsigned ctas = 1, unsigned threads = 64, unsigned warp_size = 32) {
  Launch l(waiting_kernel(body), "k", warp_size, ctas, threads);
  return l.machine.error();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("endless: a grid barrier waits for CTAs that have not started") {
  for (const char* file : {"waits.sm75.ptx", "waits.debug.sm75.ptx"}) {
    for (const unsigned warp_size : {32u, 64u}) {
      Launch l(sample(file), "grid_barrier", warp_size, 20, 128);
      const std::string error = l.machine.error();
      INFO(error);
      CHECK(has(error, "kernel 'grid_barrier', CTA (0,0,0), thread (0,0,0): endless loop: it reads global address "));
      CHECK(has(error,
                ", 0 bytes into 'first' (64 bytes), as 1 each time (warp 0), and nobody can write there any more"));
      CHECK(has(error, warp_size == 32 ? "31 lanes (thread (1,0,0) first) wait on line " : "63 lanes (thread (1,0,0)"));
      CHECK(
          has(error, warp_size == 32 ? "warps 1,2,3 wait at barrier 0 on line " : "warp 1 waits at barrier 0 on line"));
      CHECK(has(error, "19 CTAs have not started, from (1,0,0) on: CTAs run one after another to their end"));
      // With one CTA there is nobody to wait for.
      Launch alone(sample(file), "grid_barrier", warp_size, 1, 128);
      CHECK(alone.machine.error().empty());
    }
  }
}

TEST_CASE("endless: a lock that a lane holds which waits for the others of its warp") {
  for (const char* file : {"waits.sm75.ptx", "waits.debug.sm75.ptx"}) {
    Launch l(sample(file), "spin_lock", 32, 2, 64);
    const std::string error = l.machine.error();
    INFO(error);
    CHECK(has(error, "thread (1,0,0): endless loop: its atomic at global address "));
    CHECK(has(error, " finds 1 and leaves it each time (warp 0)"));
    CHECK(has(error, "of its own warp, 1 lane (thread (0,0,0)) waits on line "));
    CHECK(has(error, "; 2 warps of the CTA loop so; 1 CTA has not started, from (1,0,0) on"));
    Launch alone(sample(file), "spin_lock", 32, 2, 1);
    CHECK(alone.machine.error().empty());
    CHECK(alone.machine.read<int>(alone.second, 1)[0] == 2);
  }
}

TEST_CASE("endless: a counter of turns, a growing pause and a clock decide nothing") {
  for (const char* file : {"waits.sm75.ptx", "waits.debug.sm75.ptx"}) {
    Launch l(sample(file), "backs_off", 32, 1, 32);
    const std::string error = l.machine.error();
    INFO(error);
    CHECK(has(error, "endless loop: its atomic at global address "));
    CHECK(has(error, "1 lane (thread (0,0,0)) waits on line "));
  }
}

TEST_CASE("endless: shared memory, barriers on the way round, stores of what is there") {
  // A flag in shared memory that nobody sets, looked at between barriers by all.
  const std::string shared = waiting_error(
      "st.shared.u32 [flag], 0; bar.sync 0;\nL: bar.sync 0; ld.volatile.shared.u32 %r1, [flag]; setp.eq.u32 %q1, %r1, "
      "0;"
      " @%q1 bra L;");
  INFO(shared);
  CHECK(has(shared,
            "k.ptx:9:16: error: kernel 'k', CTA (0,0,0), thread (0,0,0): endless loop: it reads shared offset 0, "
            "0 bytes into 'flag', as 0 each time"));
  CHECK_FALSE(has(shared, "not started"));
  // A store of the same value, and one that moves to and fro: the first is no way on, the second no proof.
  CHECK(has(waiting_error(
                "L: st.global.u32 [%p+4], 7; ld.volatile.global.u32 %r1, [%p]; setp.eq.u32 %q1, %r1, 0; @%q1 bra L;"),
            "endless loop: it reads global address"));
  CHECK(has(
      waiting_error("mov.u32 %r2, 0; L: xor.b32 %r2, %r2, 1; st.global.u32 [%p+4], %r2; ld.volatile.global.u32 %r1, "
                    "[%p]; setp.eq.u32 %q1, %r1, 0; @%q1 bra L;",
                    1, 32),
      "has executed " + std::to_string(plenty) + " instructions and goes on"));
  // Nothing is read at all; others have exited.
  const std::string nothing = waiting_error("setp.lt.u32 %q1, %t, 32; @%q1 exit; L: bra L;");
  INFO(nothing);
  CHECK(has(nothing,
            "thread (32,0,0): endless loop: warp 1 goes round with the same registers and reads nothing that "
            "others could change; 1 warp has exited"));
}

TEST_CASE("endless: who waits for somebody that can run is left alone") {
  // The other warp takes its time, with and without barriers of its own, and with a counter that memory does not show.
  const std::string slow = "mov.u32 %r2, 0; S: add.u32 %r2, %r2, 1; setp.lt.u32 %q2, %r2, 300000; @%q2 bra S;\n";
  const std::string wait = "W: ld.volatile.global.u32 %r1, [%p]; setp.eq.u32 %q1, %r1, 0; @%q1 bra W;\nbra END;\n";
  CHECK(waiting_error("setp.ge.u32 %q3, %t, 32; @%q3 bra SLOW;\n" + wait + "SLOW: " + slow +
                      "st.global.u32 [%p], 1;\nEND:")
            .empty());
  // Both meet at barriers in every turn; only the one counts the turns.
  CHECK(waiting_error(
            "mov.u32 %r2, 0; setp.ge.u32 %q3, %t, 32; @%q3 bra SLOW;\n"
            "W: bar.sync 1; ld.volatile.global.u32 %r1, [%p]; bar.sync 1; setp.eq.u32 %q1, %r1, 0; @%q1 bra W;\nbra "
            "END;\n"
            "SLOW: bar.sync 1; add.u32 %r2, %r2, 1; setp.ge.u32 %q2, %r2, 50000; @%q2 st.global.u32 [%p], 1;\n"
            "bar.sync 1; @!%q2 bra SLOW;\nEND:")
            .empty());
  // A barrier's count of votes is another's work.
  CHECK(waiting_error("mov.u32 %r2, 0; setp.ge.u32 %q3, %t, 32;\n"
                      "W: setp.ge.u32 %q1, %r2, 60000; and.pred %q1, %q1, %q3; bar.red.or.pred %q2, 0, %q1;\n"
                      "@%q3 add.u32 %r2, %r2, 1; @!%q2 bra W;")
            .empty());
  // A wait that gives up.
  CHECK(waiting_error("mov.u32 %r2, 0; W: add.u32 %r2, %r2, 1; setp.ge.u32 %q2, %r2, 200000; @%q2 bra END;\n"
                      "ld.volatile.global.u32 %r1, [%p]; setp.eq.u32 %q1, %r1, 0; @%q1 bra W;\nEND:")
            .empty());
  CHECK(waiting_error(
            "mov.u64 %d1, %clock64; add.u64 %d1, %d1, 500000; W: mov.u64 %d2, %clock64; setp.lt.u64 %q2, %d2, %d1;\n"
            "@%q2 bra W;")
            .empty());
  // Long sums of 64 bits, whose upper half and carry change seldom.
  CHECK(waiting_error("mov.u32 %r1, 0xfffffff0; mov.u32 %r2, 0; mov.u32 %r3, 0;\n"
                      "W: add.cc.u32 %r1, %r1, 0x00010000; addc.u32 %r2, %r2, 0; setp.lt.u32 %q1, %r2, 6; @%q1 bra W;\n"
                      "st.global.u32 [%p], %r2;")
            .empty());
}
