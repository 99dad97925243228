// SPDX-License-Identifier: Apache-2.0
//
// Divergence::barriers: lanes that wait for others of their warp get on, and compute what they compute in other ways:
// as threads of CTAs of their own, or in code without branches.
#include "harness.h"
#include "random_ptx.h"

#include <regatta/test/catch.h>

#include <string>

using namespace regatta;
using namespace regatta::test;

namespace lane_groups {
namespace {

using random_ptx::Dice;
using random_ptx::number;

/// Whether control follows the instructions and the stack of the trace: what `regatta-trace verify --program` checks.
bool follows_stack(const trace::Kernel& kernel, const trace::WarpColumns& columns) {
  trace::WarpCursor cursor(kernel, columns);
  std::vector<trace::StackEvent> events, parked;
  trace::LaneMask live = 0;
  bool popped = false;
  trace::StackEvent top;
  while (cursor.next()) {
    if (live == 0) live = cursor.simt_mask();
    if (popped && (cursor.index() != top.resume_index || cursor.simt_mask() != (top.mask & live))) return false;
    if (cursor.instruction().op_class == trace::OpClass::exit) live &= ~cursor.active_mask();
    events.clear();
    cursor.stack_events(events);
    popped = false;
    for (const trace::StackEvent& e : events) {
      if (e.push) {
        parked.push_back(e);
        continue;
      }
      if (parked.empty()) return false;
      top = parked.back();
      parked.pop_back();
      popped = true;
    }
  }
  return live == 0 && parked.empty();
}

struct Setup {
  Setup(const std::string& text, unsigned threads, unsigned warp_size = 32, const std::string& entry = "")
      : machine(text, warp_size, 255, entry, passes::Target::generic(), true), out(machine.buffer("out", 65536)) {
    machine.parameter(out);
    if (machine.function->parameters.size() > 1) machine.parameter(machine.buffer("more", 4096));
    machine.request.block = {threads, 1, 1};
    machine.options.divergence = emulator::Divergence::barriers;
    machine.options.max_instructions = 1u << 22;
  }
  /// Runs with a trace, which is checked.
  void run() {
    KeepCtas kept;
    machine.run(&kept);
    for (const trace::Cta& cta : kept.ctas) {
      for (const trace::WarpColumns& w : cta.warps) CHECK(follows_stack(machine.kernel, w));
    }
  }
  std::vector<std::uint32_t> words(std::size_t n) const { return machine.read<std::uint32_t>(out, n); }
  Machine machine;
  std::uint64_t out;
};

/// %p holds the address of the buffer, %i the thread's number in the grid, %t that in the CTA, %o the address of the
/// thread's own word at 4096 + 4 %i.
std::string kernel(const std::string& body) {
  return module_text(".param .u64 out",
                     ".reg .b64 %p, %o, %d<4>; .reg .b32 %i, %t, %acc, %r<10>, %v<6>; .reg .pred %q<6>;\n"
                     "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %r1, %r2, %t;\n"
                     "ld.param.u64 %p, [out]; mul.wide.u32 %o, %i, 4; add.u64 %o, %o, %p;\n" +
                         body);
}

/// A place that the threads pass one after another, in an order of its own: each waits until as many have passed as go
/// before it.
std::string ordered_place(unsigned place, Dice& dice, unsigned threads, unsigned& label) {
  const std::string at = "[%p+" + number(4 * place) + "]", l = number(label++);
  std::string text = "mad.lo.u32 %r5, %i, " + number(2 * dice.below(threads) + 1) + ", " + number(place * 7) +
                     "; and.b32 %r5, %r5, " + number(threads - 1) + ";\n";
  switch (dice.below(3)) {
    case 0:  // waits at the head of the loop
      return text + "W" + l + ": ld.volatile.global.u32 %r6, " + at + "; setp.ne.u32 %q1, %r6, %r5; @%q1 bra W" + l +
             ";\nmad.lo.u32 %acc, %acc, 5, %r6; add.u32 %r6, %r6, 1; st.volatile.global.u32 " + at + ", %r6;\n";
    case 1:  // takes the place in a side branch of the loop
      return text + "mov.u32 %r7, 0;\nW" + l + ": ld.acquire.gpu.global.u32 %r6, " + at +
             "; setp.ne.u32 %q1, %r6, %r5; @%q1 bra N" + l +
             "; mad.lo.u32 %acc, %acc, 7, %r6; atom.global.add.u32 %r6, " + at + ", 1; mov.u32 %r7, 1;\nN" + l +
             ": setp.eq.u32 %q2, %r7, 0; @%q2 bra W" + l + ";\n";
    default:  // by compare and swap
      return text + "add.u32 %r8, %r5, 1;\nW" + l + ": atom.global.cas.b32 %r6, " + at +
             ", %r5, %r8; setp.ne.u32 %q1, %r6, %r5; @%q1 bra W" + l + ";\nmad.lo.u32 %acc, %acc, 11, %r6;\n";
  }
}

/// Ifs and loops with ordered places between and inside of them; each thread comes to each place once, in order.
std::string ordered_program(std::uint64_t seed, unsigned threads) {
  Dice dice(seed);
  unsigned label = 0, place = 0;
  std::string body = "mul.lo.u32 %acc, %i, 2654435761;\n";
  const unsigned steps = 3 + dice.below(4);
  for (unsigned s = 0; s < steps; ++s) {
    const std::string l = number(label++);
    const unsigned kind = dice.below(4);
    if (kind == 0) {
      body += ordered_place(place++, dice, threads, label);
    } else if (kind == 1) {
      // Both sides have the place, in their own code.
      body += "shr.u32 %r4, %acc, 9; and.b32 %r4, %r4, 3; setp.eq.u32 %q3, %r4, 0; @%q3 bra ELSE" + l + ";\n";
      const std::uint64_t order = dice.below(1000);
      Dice first(order), second(order);
      body += ordered_place(place, first, threads, label) + "add.u32 %acc, %acc, 17; bra END" + l + ";\nELSE" + l +
              ": xor.b32 %acc, %acc, 99;\n" + ordered_place(place, second, threads, label) + "END" + l + ":\n";
      ++place;
    } else if (kind == 2) {
      body += "shr.u32 %v1, %acc, 7; and.b32 %v1, %v1, 7;\nLOOP" + l + ": mad.lo.u32 %acc, %acc, 1664525, " +
              number(s) + "; setp.eq.u32 %q4, %v1, 0; @%q4 bra OUT" + l + "; sub.u32 %v1, %v1, 1; bra LOOP" + l +
              ";\nOUT" + l + ":\n";
    } else {
      // As many rounds for all, each with a place.
      const unsigned rounds = 2 + dice.below(2);
      body += "mov.u32 %v2, 0;\n";
      for (unsigned r = 0; r < rounds; ++r) body += ordered_place(place++, dice, threads, label);
    }
  }
  return body + "st.global.u32 [%o+4096], %acc;\nret;\n";
}

/// A collective operation of all lanes in %acc, result in %acc too.
std::string collective(unsigned kind, unsigned amount) {
  const std::string n = number(1 + amount % 31);
  switch (kind) {
    case 0:
      return "shfl.sync.bfly.b32 %r5, %acc, " + n + ", 31, -1; add.u32 %acc, %acc, %r5;\n";
    case 1:
      return "shfl.sync.up.b32 %r5|%q5, %acc, " + n + ", 0, -1; @%q5 add.u32 %acc, %acc, %r5;\n";
    case 2:
      return "shr.u32 %r5, %acc, 5; and.b32 %r5, %r5, 1; setp.eq.u32 %q5, %r5, 1; vote.sync.ballot.b32 %r5, %q5, -1;"
             " xor.b32 %acc, %acc, %r5;\n";
    case 3:
      return "and.b32 %r5, %acc, 3; match.any.sync.b32 %r5, %r5, -1; add.u32 %acc, %acc, %r5;\n";
    case 4:
      return "redux.sync.add.u32 %r5, %acc, -1; mad.lo.u32 %acc, %acc, 3, %r5;\n";
    case 5:
      return "setp.lt.u32 %q5, %acc, 2000000000; vote.sync.any.pred %q5, %q5, -1; @%q5 add.u32 %acc, %acc, 5;\n";
    default:
      return "shr.u32 %r5, %acc, 27; shfl.sync.idx.b32 %acc, %acc, %r5, 31, -1; bar.warp.sync -1;\n";
  }
}

/// The same steps, each lane by one of several ways (`apart`) or all together.
std::string collective_program(std::uint64_t seed, bool apart) {
  Dice dice(seed);
  std::string body = "mul.lo.u32 %acc, %i, 2654435761;\n";
  for (unsigned s = 0; s < 8; ++s) {
    const std::string l = number(s);
    const unsigned kind = dice.below(7), amount = dice.below(100), bits = 1u << dice.below(5);
    const std::string step = collective(kind, amount);
    body += "mad.lo.u32 %acc, %acc, 1664525, 1013904223; shr.u32 %r4, %acc, 3; and.b32 %r4, %r4, " + number(bits) +
            "; setp.eq.u32 %q1, %r4, 0;\n";
    if (!apart) {
      body += step + "@%q1 add.u32 %acc, %acc, 3;\n";
      continue;
    }
    body +=
        "@%q1 bra SIDE" + l + ";\n" + step + "bra END" + l + ";\nSIDE" + l + ":\n" + step + "add.u32 %acc, %acc, 3;\n";
    body += "END" + l + ":\n";
  }
  return body + "st.global.u32 [%o+4096], %acc;\nret;\n";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("lanes that pass places in an order compute what threads of CTAs of their own compute") {
  constexpr unsigned threads = 32;
  unsigned left = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const std::string text = kernel(ordered_program(seed, threads));
    INFO("seed " << seed << "\n" << text);
    Setup alone(text, 1);
    alone.machine.options.divergence = emulator::Divergence::stack;
    alone.machine.options.concurrent_ctas = threads;
    alone.machine.request.grid = {threads, 1, 1};
    alone.machine.run();
    Setup warp(text, threads);
    warp.run();
    CHECK(warp.words(1100) == alone.words(1100));
    left += warp.machine.left_stack_order ? 1 : 0;
  }
  CHECK(left > 40);
}

TEST_CASE("threads of both halves of a wavefront pass places in an order") {
  for (std::uint64_t seed = 100; seed <= 120; ++seed) {
    const std::string text = kernel(ordered_program(seed, 64));
    INFO("seed " << seed);
    Setup alone(text, 1), warps(text, 64), wavefront(text, 64, 64);
    alone.machine.options.concurrent_ctas = 64;
    alone.machine.request.grid = {64, 1, 1};
    alone.machine.run();
    warps.run();
    wavefront.run();
    CHECK(warps.words(1100) == alone.words(1100));
    CHECK(wavefront.words(1100) == alone.words(1100));
  }
}

TEST_CASE("lanes on several paths exchange as if they were on one") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    for (const unsigned warp_size : {32u, 64u}) {
      INFO("seed " << seed << ", " << warp_size << " lanes\n" << collective_program(seed, true));
      Setup apart(kernel(collective_program(seed, true)), 64, warp_size);
      Setup together(kernel(collective_program(seed, false)), 64, warp_size);
      apart.run();
      together.machine.options.divergence = emulator::Divergence::stack;
      together.run();
      CHECK(apart.words(1100) == together.words(1100));
    }
  }
}

TEST_CASE("locks that lanes of one warp contend for") {
  for (const char* file : {"waits.sm75.ptx", "waits.debug.sm75.ptx"}) {
    for (const unsigned warp_size : {32u, 64u}) {
      for (const std::uint64_t together : {1u, 3u}) {
        INFO(file << ", " << warp_size << " lanes, " << together << " CTAs");
        Setup s(sample(file), 96, warp_size, "spin_lock");
        s.machine.options.concurrent_ctas = together;
        s.machine.request.grid = {3, 1, 1};
        s.run();
        CHECK(s.machine.left_stack_order);
        CHECK(s.words(1)[0] == 0);
        CHECK(s.machine.read<std::uint32_t>(s.machine.memory.allocations().back().base, 1)[0] == 3 * 96);
      }
    }
  }
}

TEST_CASE("a flag that another side of a branch sets, read without a word that says so") {
  // Nothing tells the weak loads from others: the proof that the loop has no end lets the other side go on.
  const std::string body =
      "setp.eq.u32 %q1, %t, 5; @%q1 bra SET;\n"
      "WAIT: ld.global.u32 %r4, [%p]; setp.eq.u32 %q2, %r4, 0; @%q2 bra WAIT; bra END;\n"
      "SET: st.global.u32 [%p], 9; mov.u32 %r4, 1;\nEND: st.global.u32 [%o+4096], %r4; ret;\n";
  Setup s(kernel(body), 32);
  s.run();
  const auto found = s.words(1024 + 32);
  for (unsigned t = 0; t < 32; ++t) CHECK(found[1024 + t] == (t == 5 ? 1u : 9u));
}

TEST_CASE("lanes that come one by one to a barrier pass it as a warp") {
  // Each leaves the lock's loop on its own, so that they are apart at the barrier.
  const std::string body =
      "TRY: atom.global.cas.b32 %r4, [%p], 0, 1; setp.ne.u32 %q1, %r4, 0; @%q1 bra TRY;\n"
      "ld.volatile.global.u32 %r5, [%p+4]; add.u32 %r5, %r5, 1; st.volatile.global.u32 [%p+4], %r5;\n"
      "atom.global.exch.b32 %r4, [%p], 0;\nbar.sync 0; ld.volatile.global.u32 %r6, [%p+4];\n"
      "bar.red.popc.u32 %r7, 0, %q1; setp.ne.u32 %q2, %t, 3; bar.red.and.pred %q3, 0, %q2; selp.u32 %r8, 100, 200, %q3;"
      " add.u32 %r6, %r6, %r8; add.u32 %r6, %r6, %r7;\nst.global.u32 [%o+4096], %r6; ret;\n";
  for (const unsigned warp_size : {32u, 64u}) {
    Setup s(kernel(body), 128, warp_size);
    s.run();
    CHECK(s.machine.left_stack_order);
    const auto found = s.words(1024 + 128);
    for (unsigned t = 0; t < 128; ++t) CHECK(found[1024 + t] == 128 + 200);
  }
}

TEST_CASE("an exchange does not wait for lanes that have exited, and those that exit let others go on") {
  const std::string body =
      "setp.ge.u32 %q1, %t, 24; @%q1 bra LATE; setp.ge.u32 %q2, %t, 8; @%q2 bra OTHER;\n"
      "vote.sync.ballot.b32 %r4, 1, -1; bra END;\nOTHER: vote.sync.ballot.b32 %r4, 1, -1; bra END;\n"
      "LATE: mov.u32 %r5, 0;\nLOOP: add.u32 %r5, %r5, 1; setp.lt.u32 %q3, %r5, 600; @%q3 bra LOOP;\n"
      "st.global.u32 [%o+4096], %r5; exit;\nEND: st.global.u32 [%o+4096], %r4; ret;\n";
  Setup s(kernel(body), 32);
  s.run();
  const auto found = s.words(1024 + 32);
  for (unsigned t = 0; t < 32; ++t) CHECK(found[1024 + t] == (t >= 24 ? 600u : 0x00ffffffu));
}

TEST_CASE("what can never meet is refused with the places") {
  const auto error = [](const std::string& body, unsigned threads = 32) {
    Setup s(kernel(body), threads);
    return s.machine.error();
  };
  // Lanes of the mask wait at another operation.
  CHECK(
      error("setp.lt.u32 %q1, %t, 16; @%q1 bra A;\nshfl.sync.idx.b32 %r4, %t, 0, 31, -1;\nbra END;\n"
            "A: vote.sync.ballot.b32 %r4, 1, -1;\nEND: st.global.u32 [%o+4096], %r4; ret;\n") ==
      "k.ptx:12:4: error: kernel 'k', CTA (0,0,0), thread (0,0,0): lane 16 of its member mask never comes: it waits at "
      "'shfl.sync.idx.b32' on line 10 for other lanes of the warp");
  // Barriers at two places.
  CHECK(error("setp.lt.u32 %q1, %t, 16; @%q1 bra A;\nbar.sync 0;\nbra END;\nA: bar.sync 0;\nEND: ret;\n") ==
        "k.ptx:12:4: error: kernel 'k', CTA (0,0,0), thread (16,0,0): barrier under divergence: 16 of the warp's 32 "
        "threads are at it, this one is not and can still come to the barrier on line 10");
  // Nobody sets the flag.
  const std::string endless = error(
      "setp.lt.u32 %q1, %t, 16; @%q1 bra A;\nW: ld.volatile.global.u32 %r4, [%p]; setp.eq.u32 %q2, %r4, 0; @%q2 "
      "bra W; bra END;\nA: ld.volatile.global.u32 %r4, [%p+4]; setp.eq.u32 %q2, %r4, 0; @%q2 bra A;\nEND: ret;\n");
  INFO(endless);
  CHECK(contains(endless, "endless loop: it reads global address "));
  CHECK(contains(endless, "; of its own warp, 16 lanes (thread ("));
  CHECK(!contains(endless, "one program counter"));
}

TEST_CASE("with a stack, the error of a loop names the option") {
  Setup s(sample("waits.sm75.ptx"), 32, 32, "spin_lock");
  s.machine.options.divergence = emulator::Divergence::stack;
  CHECK(contains(s.machine.error(),
                 "until these lanes leave the loop (the lanes of a warp have one program counter here; --divergence "
                 "barriers gives them their own)"));
}

}  // namespace lane_groups
