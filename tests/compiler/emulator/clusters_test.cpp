// SPDX-License-Identifier: Apache-2.0
//
// Clusters of one CTA, elected lanes, and warps that change their registers.
#include "harness.h"

#include <regatta/test/catch.h>

#include <algorithm>

using namespace regatta::test;
using regatta::emulator::Divergence;

namespace {

/// A kernel whose body begins on line 7: %t is tid.x, %w its warp, %p the buffer's address plus 4 tid.
std::string kernel(const std::string& body, const std::string& bounds = "") {
  return ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 data) " + bounds +
         "\n{ .shared .b32 s[1024]; .reg .b64 %p, %o, %d<8>; .reg .b32 %t, %w, %r<12>; .reg .pred %q<6>;\n"
         "mov.u32 %t, %tid.x; shr.u32 %w, %t, 5; ld.param.u64 %p, [data]; mul.wide.u32 %o, %t, 4; add.u64 %p, %p, "
         "%o;\n" +
         body + "\nret;\n}\n";
}

struct Outcome {
  std::string error;
  std::vector<std::uint32_t> words;
  regatta::trace::Kernel kernel;
};

Outcome run(const std::string& text, unsigned threads, unsigned warp_size = 32,
            Divergence divergence = Divergence::stack) {
  Machine m(text, warp_size);
  m.options.divergence = divergence;
  m.request.block = {threads, 1, 1};
  m.request.grid = {2, 1, 1};
  const std::uint64_t data = m.buffer("data", std::vector<std::uint32_t>(threads, 7));
  m.parameter(data);
  Outcome o;
  o.error = m.error();
  o.words = m.read<std::uint32_t>(data, threads);
  o.kernel = m.kernel;
  return o;
}

std::vector<regatta::emulator::Race> races(const std::string& text, unsigned threads) {
  Machine m(text);
  m.request.block = {threads, 1, 1};
  m.options.races = regatta::emulator::RaceRule::independent;
  m.parameter(m.buffer("data", std::vector<std::uint32_t>(threads, 7)));
  return m.races();
}

constexpr const char* bounds = ".maxntid 256, 1, 1 .minnctapersm 1";

}  // namespace

TEST_CASE("elect.sync: the lowest lane of the member mask, in all its lanes") {
  for (const std::uint32_t mask : {0xffffffffu, 0x80000000u, 0x000ff000u, 0x10000001u, 0xfffffffeu}) {
    // Lanes of the mask store 2 * leader + whether they are it.
    const std::string code =
        "shr.u32 %r0, " + std::to_string(mask) +
        ", %t; and.b32 %r0, %r0, 1; setp.ne.u32 %q0, %r0, 0; @!%q0 bra DONE;\nelect.sync %r1|%q1, " +
        std::to_string(mask) +
        ";\nselp.u32 %r2, 1, 0, %q1; mad.lo.u32 %r1, %r1, 2, %r2; st.global.u32 [%p], %r1;\nDONE:";
    for (const Divergence divergence : {Divergence::stack, Divergence::barriers}) {
      const Outcome o = run(kernel(code), 32, 32, divergence);
      REQUIRE(o.error.empty());
      const auto leader = static_cast<unsigned>(__builtin_ctz(mask));
      for (unsigned lane = 0; lane < 32; ++lane) {
        const bool member = (mask >> lane & 1) != 0;
        CHECK(o.words[lane] == (member ? 2 * leader + (lane == leader ? 1u : 0u) : 7u));
      }
    }
  }
}

TEST_CASE("elect.sync: a sink for the lane, a wavefront of 64, the mask's own rules") {
  const std::string sink = "elect.sync _|%q1, 0xffffffff; selp.u32 %r2, 1, 0, %q1; st.global.u32 [%p], %r2;";
  const Outcome o = run(kernel(sink), 64, 64);
  REQUIRE(o.error.empty());
  for (unsigned lane = 0; lane < 64; ++lane) CHECK(o.words[lane] == (lane % 32 == 0 ? 1u : 0u));
  // Lanes that have left the kernel are not elected.
  const Outcome left =
      run(kernel("setp.lt.u32 %q0, %t, 5; @%q0 exit; elect.sync %r1|%q1, -1; st.global.u32 [%p], %r1;"), 32);
  REQUIRE(left.error == "");
  for (unsigned lane = 5; lane < 32; ++lane) CHECK(left.words[lane] == 5);
  CHECK(run(kernel("setp.lt.u32 %q0, %t, 5; @%q0 bra ON;\nelect.sync %r1|%q1, -1; st.global.u32 [%p], %r1;\nON: "
                   "st.global.u32 [%p], %t;"),
            32)
            .error ==
        "k.ptx:8:1: error: kernel 'k', CTA (0,0,0), thread (5,0,0): member mask 0xffffffff names lane 0, which is on "
        "another path");
}

TEST_CASE("the barrier of a cluster: all arrive before anyone goes on, in every phase") {
  // Each thread writes its word, waits, and reads that of a thread of another warp; three times.
  std::string body = "mov.u32 %r5, 0; mov.u32 %r6, s;\n";
  for (unsigned phase = 0; phase < 3; ++phase) {
    const std::string n = std::to_string(100 * (phase + 1));
    body +=
        "add.u32 %r0, %t, " + n + "; mad.lo.u32 %r1, %t, 4, %r6; st.shared.u32 [%r1], %r0;\n" +
        "barrier.cluster.arrive.release.aligned;\nmad.lo.u32 %r5, %r5, 3, 1;\nbarrier.cluster.wait.acquire.aligned;\n" +
        "xor.b32 %r2, %t, 96; mad.lo.u32 %r1, %r2, 4, %r6; ld.shared.u32 %r3, [%r1]; add.u32 %r5, %r5, %r3;\n" +
        "barrier.cluster.arrive; barrier.cluster.wait;\n";
  }
  body += "st.global.u32 [%p], %r5;";
  const Outcome o = run(kernel(body), 128);
  REQUIRE(o.error.empty());
  for (unsigned t = 0; t < 128; ++t) {
    std::uint32_t expected = 0;
    for (unsigned phase = 0; phase < 3; ++phase) expected = 3 * expected + 1 + (t ^ 96) + 100 * (phase + 1);
    CHECK(o.words[t] == expected);
  }
  CHECK(races(kernel(body), 128).empty());
  const auto arrive = std::find_if(o.kernel.instructions.begin(), o.kernel.instructions.end(),
                                   [](const auto& i) { return i.opcode == "bar.cluster.arrive"; });
  REQUIRE(arrive != o.kernel.instructions.end());
  CHECK(arrive->barrier_half == regatta::trace::BarrierHalf::arrive);
  CHECK(arrive->barrier_arrives);
}

TEST_CASE("the barrier of a cluster: a relaxed arrival orders nothing") {
  const std::string write = "setp.eq.u32 %q0, %t, 0; setp.eq.u32 %q1, %t, 32; @%q0 st.shared.u32 [s], %t;\n";
  const std::string read = "@%q1 ld.shared.u32 %r1, [s]; @%q1 st.global.u32 [%p], %r1;";
  CHECK(races(kernel(write + "barrier.cluster.arrive.release; barrier.cluster.wait.acquire;\n" + read), 64).empty());
  CHECK(races(kernel(write + "barrier.cluster.arrive.relaxed; barrier.cluster.wait.acquire;\n" + read), 64).size() ==
        1);
  CHECK(races(kernel("@%q1 bra N;\nN: " + write + read), 64).size() == 1);
  // Between the halves nothing is ordered: the write comes after the arrival.
  CHECK(races(kernel("barrier.cluster.arrive;\n" + write + "barrier.cluster.wait;\n" + read), 64).size() == 1);
}

TEST_CASE("the barrier of a cluster: warps that have exited are not waited for") {
  const Outcome o = run(kernel("setp.ge.u32 %q0, %t, 32; @%q0 ret; barrier.cluster.arrive; barrier.cluster.wait; "
                               "st.global.u32 [%p], %t;"),
                        96);
  CHECK(o.error.empty());
  CHECK(o.words[31] == 31);
  // One that has arrived and left does not count for others.
  const Outcome left = run(kernel("barrier.cluster.arrive; setp.ge.u32 %q0, %t, 32; @%q0 ret; barrier.cluster.wait; "
                                  "barrier.cluster.arrive; barrier.cluster.wait; st.global.u32 [%p], %t;"),
                           96);
  CHECK(left.error.empty());
  CHECK(left.words[31] == 31);
}

TEST_CASE("the barrier of a cluster: what is wrong") {
  CHECK(run(kernel("barrier.cluster.wait;"), 64).error ==
        "k.ptx:7:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): barrier.cluster.wait without a "
        "barrier.cluster.arrive before it");
  CHECK(run(kernel("barrier.cluster.arrive;\nbarrier.cluster.arrive;"), 32).error ==
        "k.ptx:8:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): barrier.cluster.arrive twice, expected a "
        "barrier.cluster.wait between the two");
  CHECK(
      run(kernel("setp.lt.u32 %q0, %t, 32; @%q0 bra A; bar.sync 0;\nA: barrier.cluster.arrive;\nbarrier.cluster.wait;"),
          64)
          .error ==
      "k.ptx:9:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): barrier deadlock: warp 1 waits at barrier 0 on line "
      "7; "
      "warp 0 waits at the cluster's barrier on line 9");
}

TEST_CASE("special registers and addresses of a cluster of one CTA") {
  const auto value = [](const std::string& code, const std::string& directives = "") {
    const Outcome o = run(kernel("mov.u32 %r0, s; cvt.u64.u32 %d0, %r0; cvta.shared.u64 %d0, %d0;\n" + code +
                                     "\nst.global.u32 [%p], %r1;",
                                 directives),
                          32);
    return o.error.empty() ? std::to_string(o.words[3]) : o.error;
  };
  for (const char* zero :
       {"%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z", "%cluster_ctarank", "%clusterid.y"})
    CHECK(value(std::string("mov.u32 %r1, ") + zero + ";") == "0");
  for (const char* one :
       {"%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z", "%cluster_nctarank", "%nclusterid.z"})
    CHECK(value(std::string("add.u32 %r1, ") + one + ", 0;") == "1");
  CHECK(value("mov.u32 %r1, %nclusterid.x;") == "2");
  CHECK(value("mov.u32 %r1, %clusterid.x;") == "1");  // the second CTA stores last
  CHECK(value("mov.pred %q0, %is_explicit_cluster; selp.u32 %r1, 1, 0, %q0;") == "0");
  CHECK(value("mov.pred %q0, %is_explicit_cluster; selp.u32 %r1, 1, 0, %q0;", ".reqnctapercluster 1, 1, 1") == "1");
  CHECK(value("mov.pred %q0, %is_explicit_cluster; selp.u32 %r1, 1, 0, %q0;", ".explicitcluster") == "1");
  CHECK(value("mapa.shared::cluster.u32 %r2, %r0, 0; sub.u32 %r1, %r2, %r0; add.u32 %r1, %r1, 5;") == "5");
  CHECK(value("mov.u32 %r3, %cluster_ctarank; mapa.u64 %d1, %d0, %r3; sub.u64 %d1, %d1, %d0; cvt.u32.u64 %r1, %d1;") ==
        "0");
  CHECK(value("getctarank.shared::cluster.u32 %r1, %r0;") == "0");
  CHECK(value("getctarank.u64 %r1, %d0;") == "0");
  CHECK(value("st.shared::cluster.u32 [%r0], 77; ld.shared::cluster.u32 %r1, [%r0];") == "77");
  CHECK(value("st.shared.u32 [%r0], 3; atom.shared::cluster.add.u32 %r1, [%r0], 4; ld.shared.u32 %r1, [%r0]; "
              "min.u32 %r1, %r1, 7;") == "7");
  CHECK(value("isspacep.shared::cluster %q0, %d0; selp.u32 %r1, 1, 0, %q0;") == "1");
  CHECK(value("griddepcontrol.wait; mov.u32 %r1, 9; griddepcontrol.launch_dependents;") == "9");
  CHECK(value("mapa.u64 %d1, %d0, %t; mov.u32 %r1, 1;") ==
        "k.ptx:8:1: error: kernel 'k', CTA (0,0,0), thread (1,0,0): mapa.u64 of CTA 1: clusters have one CTA, "
        "distributed shared memory is not supported");
}

TEST_CASE("what is refused of clusters and budgets") {
  const auto refused = [](const std::string& code) {
    try {
      Machine m(kernel(code));
    } catch (const regatta::trace::InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(refused("mapa.u64 %d1, %d0, 1;") ==
        "k.ptx:7:20: error: 'mapa.u64' of CTA 1: clusters have one CTA, distributed "
        "shared memory is not supported");
  CHECK(refused("elect.sync %r1, -1;") == "k.ptx:7:12: error: '%r1' in 'elect.sync', expected 'register|predicate'");
  CHECK(refused("setmaxnreg.dec.sync.aligned.u32 %r1;") ==
        "k.ptx:7:33: error: '%r1' in 'setmaxnreg.dec.sync.aligned.u32', expected a number of registers");
  for (const char* wrong : {"16", "41", "264"}) {
    CHECK(refused(std::string("setmaxnreg.inc.sync.aligned.u32 ") + wrong + ";") ==
          std::string("k.ptx:7:33: error: 'setmaxnreg.inc.sync.aligned.u32' with ") + wrong +
              " registers, expected a multiple of 8 from 24 to 256");
  }
  CHECK(refused("barrier.cluster.arrive.release.relaxed;") ==
        "k.ptx:7:1: error: 'barrier.cluster.arrive.release.relaxed': .release and .relaxed exclude each other");
  CHECK(refused("mov.u64 %d0, %cluster_ctarank;") ==
        "k.ptx:7:14: error: '%cluster_ctarank' has 32 bits, expected a 64-bit register");
  CHECK(refused("setmaxnreg.dec.sync.aligned.u32 240;").empty());  // ignored: nothing says what the kernel begins with
}

TEST_CASE("setmaxnreg: an inc waits until the CTA has the registers") {
  // Warps 4 to 7 want what warps 0 to 3 give away late: these spin first, so that the others come to wait.
  const std::string code =
      "setp.ge.u32 %q0, %t, 128; @%q0 bra CONSUMER;\nmov.u32 %r0, 0;\n"
      "LOOP: add.u32 %r0, %r0, 1; setp.lt.u32 %q1, %r0, 500; @%q1 bra LOOP;\n"
      "st.shared.u32 [s], %r0;\nmembar.cta;\nsetmaxnreg.dec.sync.aligned.u32 24;\n"
      "st.global.u32 [%p], %r0; bra DONE;\n"
      "CONSUMER:\nsetmaxnreg.inc.sync.aligned.u32 96;\nld.shared.u32 %r1, [s]; st.global.u32 [%p], %r1;\nDONE:";
  const Outcome o = run(kernel(code, ".maxnreg 64"), 256);
  REQUIRE(o.error.empty());
  // The consumers have gone on behind all producers of the pool that they needed: 4 x 40 registers give 4 x 32.
  for (unsigned t = 0; t < 256; ++t) CHECK(o.words[t] == 500);
  CHECK(o.kernel.launch_registers == 64);
  const auto dec = std::find_if(o.kernel.instructions.begin(), o.kernel.instructions.end(),
                                [](const auto& i) { return i.register_budget == 24; });
  REQUIRE(dec != o.kernel.instructions.end());
  CHECK(dec->opcode == "setmaxnreg.dec.u32");
  CHECK(!dec->raises_budget);
  CHECK(dec->op_class == regatta::trace::OpClass::nop);
}

TEST_CASE("setmaxnreg: registers that never come are a deadlock") {
  CHECK(run(kernel("setmaxnreg.inc.sync.aligned.u32 96;\nsetp.lt.u32 %q0, %t, 8;", ".maxnreg 64"), 256).error ==
        "k.ptx:7:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): deadlock: warps 0,1,2,3,4,5,6,7 wait for 32 "
        "registers each on line 7, 0 are free");
  // The first warps get what there is.
  const std::string some =
      "setp.ge.u32 %q0, %t, 128; @%q0 bra UP;\nsetmaxnreg.dec.sync.aligned.u32 56;\nbar.sync 0; ret;\n"
      "UP:\nsetmaxnreg.inc.sync.aligned.u32 80;\nbar.sync 0;";
  CHECK(run(kernel(some, ".maxnreg 64"), 256).error ==
        "k.ptx:9:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): deadlock: warps 0,1,2,3 wait at barrier 0 on line "
        "9; warps 4,5 wait at barrier 0 on line 12; "
        "warps 6,7 wait for 16 registers each on line 11, 0 are free");
}

TEST_CASE("setmaxnreg: what is wrong") {
  CHECK(
      run(kernel(
              "setp.lt.u32 %q0, %t, 7; @%q0 bra ON;\nsetmaxnreg.dec.sync.aligned.u32 24;\nON: st.global.u32 [%p], %t;",
              bounds),
          128)
          .error ==
      "k.ptx:8:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): 'setmaxnreg.dec.u32' under divergence: 25 of the "
      "warp's 32 threads execute it, this one does not");
  CHECK(run(kernel("setp.lt.u32 %q0, %w, 1; @%q0 bra ON;\nsetmaxnreg.dec.sync.aligned.u32 24;\nbra DONE;\n"
                   "ON: setmaxnreg.dec.sync.aligned.u32 40;\nDONE:",
                   bounds),
            256)
            .error ==
        "k.ptx:8:1: error: kernel 'k', CTA (0,0,0), thread (32,0,0): 'setmaxnreg.dec.u32' in warp 1, "
        "expected 'setmaxnreg.dec.u32' on line 10 as in warp 0 of its warp group");
  CHECK(run(kernel("setp.lt.u32 %q0, %w, 3; @%q0 bra ON;\nsetmaxnreg.dec.sync.aligned.u32 24;\nON:", bounds), 256)
            .error ==
        "k.ptx:8:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): 'setmaxnreg.dec.u32' in warp 3, but warp 0 of its "
        "warp group has exited without it");
  CHECK(run(kernel("setmaxnreg.inc.sync.aligned.u32 40;\nsetmaxnreg.dec.sync.aligned.u32 32;\n"
                   "setmaxnreg.inc.sync.aligned.u32 24;",
                   ".maxnreg 40"),
            128)
            .error ==
        "k.ptx:9:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): 'setmaxnreg.inc.u32' to 24 registers: "
        "the warp has 32, expected at least that");
}

TEST_CASE("setmaxnreg: a register that was given away has no value") {
  // The compiler never does that: the second half of a value is moved above the budget by hand.
  Machine m(
      kernel("mov.u32 %r1, %tid.x;\nsetmaxnreg.dec.sync.aligned.u32 24;\nst.global.u32 [%p], %r1;", ".maxnreg 64"));
  for (regatta::ir::Block& b : m.function->blocks) {
    std::uint32_t moved = 0;
    for (regatta::ir::Instruction& i : b.instructions) {
      if (i.op == regatta::ir::Opcode::st) moved = i.sources[1].id;
    }
    for (regatta::ir::Instruction& i : b.instructions)
      for (auto* list : {&i.destinations, &i.sources})
        for (regatta::ir::Operand& o : *list)
          if (o.is_reg() && o.words == 1 && o.id == moved) o.id = 50;
  }
  m.function->registers_used = 51;
  m.request.block = {128, 1, 1};
  m.parameter(m.buffer("data", std::vector<std::uint32_t>(128, 7)));
  CHECK_THAT(m.error(), Catch::Contains("reads register R50, which this thread never wrote"));
}
