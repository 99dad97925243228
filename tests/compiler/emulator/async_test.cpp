// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies and mbarriers: known answers, what is wrong and how it is worded, random programs.
#include "harness.h"

#include "mbarrier.h"

#include <regatta/test/catch.h>

#include <algorithm>
#include <random>
#include <string>

using namespace regatta;
using namespace regatta::test;

namespace async_test {
namespace {

/// `%t` tid.x, `%in` and `%out` the buffers' addresses, `%s` the offset of 4 KiB of shared memory, `%m` that of 64
/// bytes for mbarriers. The body begins on line 7.
std::string kernel(const std::string& body, const std::string& more = "") {
  return module_text(".param .u64 in, .param .u64 out" + more,
                     ".reg .b64 %in, %out, %d<16>; .reg .b32 %t, %s, %m, %r<32>; .reg .pred %q<8>; "
                     ".shared .align 1024 .b8 s[4096]; .shared .align 64 .b8 m[64]; mov.u32 %t, %tid.x; "
                     "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %s, s; mov.u32 %m, m;\n" +
                         body + "\nret;\n",
                     "", "sm_90");
}

std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::uint32_t>(i * 2654435761u + 1);
  return values;
}

struct Run {
  explicit Run(const std::string& body, unsigned threads = 32, const std::string& more = "")
      : machine(kernel(body, more)), values(numbers(2048)) {
    machine.parameter(machine.buffer("in", values));
    out = machine.buffer("out", 8192);
    machine.parameter(out);
    machine.request.block = {threads, 1, 1};
    machine.options.max_instructions = 1u << 20;
  }
  std::vector<std::uint32_t> result(std::size_t count) {
    machine.run();
    return machine.read<std::uint32_t>(out, count);
  }
  Machine machine;
  std::vector<std::uint32_t> values;
  std::uint64_t out = 0;
};

std::string error(const std::string& body, unsigned threads = 1, const std::string& more = "") {
  return Run(body, threads, more).machine.error();
}
/// The part of a message behind the thread.
std::string what(const std::string& body, unsigned threads = 1) {
  const std::string text = error(body, threads);
  const std::size_t at = text.find("): ", text.find("thread "));
  return at == std::string::npos ? text : text.substr(at + 3);
}
std::string refused(const std::string& body) {
  try {
    Machine m(kernel(body));
  } catch (const trace::InputError& e) {
    return e.what();
  }
  return "";
}

/// Own addresses: `%r30` 16 t of shared memory, `%d14` 16 t of the input, `%d15` 16 t of the output.
const std::string own =
    "shl.b32 %r31, %t, 4; add.u32 %r30, %s, %r31; cvt.u64.u32 %d13, %r31; add.u64 %d14, %in, %d13; add.u64 %d15, "
    "%out, %d13;\n";
const std::string store_own =
    "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r30]; st.global.v4.u32 [%d15], {%r1, %r2, %r3, %r4};";
const std::string clear_own = "mov.u32 %r9, 7; st.shared.v4.u32 [%r30], {%r9, %r9, %r9, %r9};\n";

}  // namespace

TEST_CASE("cp.async copies when its group is waited for, and not before") {
  for (const char* wait : {"cp.async.wait_group 0;", "cp.async.wait_all;"}) {
    Run r(own + clear_own + "cp.async.cg.shared.global [%r30], [%d14], 16; cp.async.commit_group; " + wait + store_own);
    const auto got = r.result(128);
    CHECK(std::equal(got.begin(), got.end(), r.values.begin()));
  }
  // One group may be on its way.
  Run early(own + clear_own +
            "cp.async.ca.shared.global [%r30], [%d14], 16; cp.async.commit_group; cp.async.wait_group 1;" + store_own);
  for (const std::uint32_t v : early.result(128)) CHECK(v == 7);
  // wait_group leaves copies that are in no group alone; wait_all does not.
  Run open(own + clear_own + "cp.async.ca.shared.global [%r30], [%d14], 16; cp.async.wait_group 0;" + store_own);
  for (const std::uint32_t v : open.result(128)) CHECK(v == 7);
  Run all(own + clear_own + "cp.async.ca.shared.global [%r30], [%d14], 16; cp.async.wait_all;" + store_own);
  const auto got = all.result(128);
  CHECK(std::equal(got.begin(), got.end(), all.values.begin()));
  // Without a wait the destination was never written.
  CHECK(what(own + "cp.async.ca.shared.global [%r30], [%d14], 16; cp.async.commit_group;" + store_own) ==
        "read of shared offset 0, which was never written");
}

TEST_CASE("cp.async fills with zeros what it does not read") {
  for (const unsigned bytes : {4u, 8u, 16u}) {
    for (unsigned read = 0; read <= bytes; read += 2) {
      Run r(own + clear_own + "mov.u32 %r5, " + std::to_string(read) +
            "; cp.async.ca.shared.global.L2::128B [%r30], [%d14], " + std::to_string(bytes) +
            ", %r5; cp.async.wait_all;" + store_own);
      const auto got = r.result(128);
      for (unsigned t = 0; t < 32; ++t) {
        std::uint8_t expected[16], bytes_got[16];
        for (unsigned n = 0; n < 4; ++n) reinterpret_cast<std::uint32_t*>(expected)[n] = 7;
        std::memcpy(expected, r.values.data() + 4 * t, read);
        std::memset(expected + read, 0, bytes - read);
        std::memcpy(bytes_got, got.data() + 4 * t, 16);
        CHECK(std::equal(expected, expected + 16, bytes_got));
      }
    }
  }
  Run ignored(own + "setp.lt.u32 %q1, %t, 5; cp.async.ca.shared.global [%r30], [%d14], 16, %q1; cp.async.wait_all;" +
              store_own);
  const auto got = ignored.result(128);
  for (unsigned i = 0; i < 128; ++i) CHECK(got[i] == (i / 4 < 5 ? 0 : ignored.values[i]));
}

TEST_CASE("an arrival of copies completes them for everyone who waits for the mbarrier") {
  const std::string init = "setp.eq.u32 %q1, %t, 0; @%q1 mbarrier.init.shared.b64 [%m], 64; bar.sync 0;\n";
  for (const char* arrive : {"cp.async.mbarrier.arrive.noinc.shared.b64 [%m];",
                             "cp.async.mbarrier.arrive.shared.b64 [%m]; mbarrier.arrive.shared.b64 %d9, [%m];"}) {
    Run r(own + init + "cp.async.cg.shared.global [%r30], [%d14], 16;" + arrive +
              "WAIT: mbarrier.try_wait.parity.shared.b64 %q2, [%m], 0; @!%q2 bra WAIT;"
              // What the other warp has copied.
              "xor.b32 %r31, %r31, 512; add.u32 %r30, %s, %r31;" +
              store_own,
          64);
    const auto got = r.result(256);
    for (unsigned i = 0; i < 256; ++i) CHECK(got[i] == r.values[i ^ 128]);
  }
}

TEST_CASE("producers and consumers go round with two mbarriers a stage") {
  // Warp 0 fills three stages of 512 bytes in turn, warp 1 adds them up: full at %m + 8 stage, empty at %m + 32.
  const std::string body =
      own +
      "setp.ne.u32 %q1, %t, 0; @%q1 bra READY; mov.u32 %r1, 0; INIT: shl.b32 %r2, %r1, 3; add.u32 %r2, %m, %r2;"
      "mbarrier.init.shared.b64 [%r2], 32; mbarrier.init.shared.b64 [%r2+32], 32; add.u32 %r1, %r1, 1;"
      "setp.lt.u32 %q2, %r1, 3; @%q2 bra INIT; READY: bar.sync 0;"
      "mov.u32 %r1, 0; mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r10, 0;"  // step, stage, parity, sum
      "and.b32 %r20, %t, 31; shl.b32 %r20, %r20, 4; setp.ge.u32 %q3, %t, 32; @%q3 bra CONSUME;"
      "PRODUCE: shl.b32 %r5, %r3, 3; add.u32 %r5, %m, %r5; shl.b32 %r6, %r3, 9; add.u32 %r6, %r6, %s;"
      "add.u32 %r6, %r6, %r20; xor.b32 %r7, %r4, 1;"
      "PW: mbarrier.try_wait.parity.shared::cta.b64 %q4, [%r5+32], %r7; @!%q4 bra PW;"
      "mul.wide.u32 %d1, %r1, 512; add.u64 %d1, %d1, %d14;"
      "cp.async.cg.shared.global [%r6], [%d1], 16; cp.async.mbarrier.arrive.noinc.shared.b64 [%r5];"
      "add.u32 %r1, %r1, 1; add.u32 %r3, %r3, 1; setp.eq.u32 %q5, %r3, 3; @%q5 mov.u32 %r3, 0; @%q5 xor.b32 %r4, %r4, "
      "1;"
      "setp.lt.u32 %q6, %r1, 15; @%q6 bra PRODUCE; ret;"
      "CONSUME: shl.b32 %r5, %r3, 3; add.u32 %r5, %m, %r5; shl.b32 %r6, %r3, 9; add.u32 %r6, %r6, %s;"
      "xor.b32 %r8, %r20, 48; add.u32 %r6, %r6, %r8;"
      "CW: mbarrier.test_wait.parity.shared::cta.b64 %q4, [%r5], %r4; @!%q4 bra CW;"
      "ld.shared.u32 %r9, [%r6+4]; mad.lo.u32 %r10, %r10, 3, %r9;"
      "mbarrier.arrive.release.cta.shared::cta.b64 _, [%r5+32];"
      "add.u32 %r1, %r1, 1; add.u32 %r3, %r3, 1; setp.eq.u32 %q5, %r3, 3; @%q5 mov.u32 %r3, 0; @%q5 xor.b32 %r4, %r4, "
      "1;"
      "setp.lt.u32 %q6, %r1, 15; @%q6 bra CONSUME; st.global.u32 [%d15], %r10;";
  Run r(body, 64);
  const auto got = r.result(256);
  for (unsigned lane = 0; lane < 32; ++lane) {
    std::uint32_t sum = 0;
    for (unsigned step = 0; step < 15; ++step) sum = sum * 3 + r.values[step * 128 + (lane ^ 3) * 4 + 1];
    CHECK(got[(32 + lane) * 4] == sum);
  }
  Run with_races(body, 64);
  with_races.machine.options.races = emulator::RaceRule::independent;
  for (const emulator::Race& race : with_races.machine.races()) FAIL_CHECK(race.message);
}

TEST_CASE("states, counts and drops of a mbarrier") {
  // One thread: each result goes to a word of the output.
  Run r(
      "mbarrier.init.shared.b64 [%m], 3;"
      "mbarrier.arrive.shared.b64 %d1, [%m]; mbarrier.pending_count.b64 %r1, %d1; st.global.u32 [%out], %r1;"
      "mbarrier.test_wait.shared.b64 %q1, [%m], %d1; selp.u32 %r1, 1, 0, %q1; st.global.u32 [%out+4], %r1;"
      "mbarrier.arrive.noComplete.release.cta.shared.b64 %d2, [%m], 1; mbarrier.pending_count.b64 %r1, %d2;"
      "st.global.u32 [%out+8], %r1; mbarrier.arrive_drop.shared.b64 %d3, [%m];"
      "mbarrier.test_wait.shared.b64 %q1, [%m], %d1; selp.u32 %r1, 1, 0, %q1; st.global.u32 [%out+12], %r1;"
      // The second phase has an arrival fewer, and bytes.
      "mbarrier.arrive.shared.b64 %d4, [%m], 2; mbarrier.pending_count.b64 %r1, %d4; st.global.u32 [%out+16], %r1;"
      "mbarrier.arrive.expect_tx.shared.b64 %d5, [%m+8], 48;",
      1);
  CHECK(r.machine.error().find("no mbarrier at shared offset 4104: it has not been initialised") != std::string::npos);
  const auto got = r.machine.read<std::uint32_t>(r.out, 5);
  CHECK(got == std::vector<std::uint32_t>{3, 0, 2, 1, 2});
}

TEST_CASE("a mbarrier counts as a model does") {
  using emulator::Mbarrier;
  std::mt19937 random(11);
  for (unsigned round = 0; round < 200; ++round) {
    const auto first = static_cast<std::uint32_t>(random() % 6 + 1);
    Mbarrier m = Mbarrier::initial(first);
    std::int64_t pending = first, expected = first, bytes = 0;
    bool parity = false;
    for (unsigned step = 0; step < 200; ++step) {
      const auto count = static_cast<std::uint32_t>(random() % 4 + 1);
      std::string wrong;
      bool fits = true;
      switch (random() % 4) {
        case 0:
          fits = count <= pending;
          wrong = m.arrive(count, false, true);
          if (fits) pending -= count;
          break;
        case 1:
          fits = count <= pending && expected > count + 1;
          if (!fits) continue;
          wrong = m.arrive(count, true, true);
          pending -= count;
          expected -= count;
          break;
        case 2:
          wrong = m.expect(count * 16);
          bytes += count * 16;
          break;
        default:
          wrong = m.complete(count * 16);
          bytes -= count * 16;
          break;
      }
      CHECK(wrong.empty() == fits);
      if (pending == 0 && bytes == 0) {
        pending = expected;
        parity = !parity;
      }
      REQUIRE(m.is_valid());
      REQUIRE(m.pending() == pending);
      REQUIRE(m.expected() == expected);
      REQUIRE(m.bytes() == bytes);
      REQUIRE(m.parity() == parity);
    }
  }
  Mbarrier full = Mbarrier::initial(Mbarrier::most_arrivals);
  CHECK(full.add_pending() == "more than 1048575 pending arrivals");
  CHECK(full.expect(1 << 20) ==
        "transaction count of 1048576 bytes, expected at most 1048575 either way (phase 0, 1048575 of 1048575 arrivals "
        "and 0 bytes pending)");
  CHECK(full.complete(1 << 20).substr(0, 35) == "transaction count of -1048576 bytes");
}

TEST_CASE("bulk copies: both ways, reductions") {
  const std::string fetch =
      "mbarrier.init.shared.b64 [%m], 1; fence.mbarrier_init.release.cluster;"
      "mbarrier.arrive.expect_tx.shared.b64 _, [%m], 256;"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%in], 128, [%m];"
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s+128], [%in+1024], 128, [%m];"
      "WAIT: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %q1, [%m], 0, 1000; @!%q1 bra WAIT;";
  Run both(fetch +
               "fence.proxy.async.shared::cta; cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 256;"
               "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; mov.u32 %r1, 5; st.shared.u32 [%s], %r1;"
               "cp.async.bulk.wait_group 0;",
           1);
  const auto got = both.result(64);
  for (unsigned i = 0; i < 64; ++i) CHECK(got[i] == both.values[i < 32 ? i : 256 + i - 32]);
  // Nobody waits: the copy is made when the CTA ends.
  Run late(fetch +
               "cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 16; ld.global.u32 %r1, [%out];"
               "st.global.u32 [%out+64], %r1;",
           1);
  const auto last = late.result(17);
  CHECK(last[0] == late.values[0]);
  CHECK(last[16] == 0);
  Run sums(fetch +
               "mov.u32 %r1, 100; st.global.u32 [%out+4], %r1;"
               "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [%s], 16;"
               "cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32 [%out+16], [%s+16], 16;"
               "cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b32 [%out+16], [%s], 16;"
               "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
           1);
  const auto sum = sums.result(8);
  CHECK(sum[0] == sums.values[0]);
  CHECK(sum[1] == sums.values[1] + 100);
  CHECK(sum[5] == (sums.values[5] ^ sums.values[1]));
}

TEST_CASE("asynchronous operations: what is wrong, in words") {
  CHECK(error(own + "add.u64 %d14, %d14, 8; cp.async.cg.shared.global [%r30], [%d14], 16;") ==
        "k.ptx:8:24: error: kernel 'k', CTA (0,0,0), thread (0,0,0): misaligned source of 16 bytes at global address "
        "0x1000000008, expected a multiple of 16");
  CHECK(what("cp.async.ca.shared.global [%s+4], [%in], 8;") ==
        "misaligned destination of 8 bytes at shared offset 4, expected a multiple of 8");
  CHECK(what("cp.async.ca.shared.global [%s+4160], [%in], 4;") ==
        "out-of-bounds destination of 4 bytes at shared offset 4160, the CTA has 4160 bytes");
  CHECK(what("cp.async.ca.shared.global [%s], [%in+8192], 4;").substr(0, 67) ==
        "out-of-bounds source of 4 bytes at global address 0x1000002000, jus");
  CHECK(what("mov.u32 %r1, 5; cp.async.ca.shared.global [%s], [%in], 4, %r1;") ==
        "asynchronous copy reads 5 bytes, expected at most the 4 that it copies");
  CHECK(what("mbarrier.init.shared.b64 [%m], 0;") ==
        "mbarrier for 0 arrivals, expected 1 to 1048575 at shared offset 4096");
  CHECK(what("mbarrier.init.shared.b64 [%m+4], 1;") ==
        "misaligned mbarrier of 8 bytes at shared offset 4100, expected a multiple of 8");
  CHECK(what("mbarrier.arrive.shared.b64 _, [%m];") ==
        "no mbarrier at shared offset 4096: it has not been initialised");
  CHECK(what("mbarrier.init.shared.b64 [%m], 1; mbarrier.inval.shared.b64 [%m]; mbarrier.arrive.shared.b64 _, [%m];") ==
        "no mbarrier at shared offset 4096: it has not been initialised");
  CHECK(
      what("mbarrier.init.shared.b64 [%m], 2; mbarrier.arrive.shared.b64 _, [%m], 3;") ==
      "3 arrivals at a mbarrier that waits for 2 (phase 0, 2 of 2 arrivals and 0 bytes pending) at shared offset 4096");
  CHECK(
      what("mbarrier.init.shared.b64 [%m], 1; mbarrier.arrive.noComplete.shared.b64 %d1, [%m], 1;") ==
      "arrive.noComplete would complete the phase (phase 0, 1 of 1 arrival and 0 bytes pending) at shared offset 4096");
  CHECK(what("mbarrier.init.shared.b64 [%m], 1; mbarrier.expect_tx.relaxed.cta.shared.b64 [%m], 1048576;") ==
        "transaction count of 1048576 bytes, expected at most 1048575 either way (phase 0, 1 of 1 arrival and 0 bytes "
        "pending) at shared offset 4096");
  CHECK(what("mbarrier.init.shared.b64 [%m], 1; mbarrier.test_wait.parity.shared.b64 %q1, [%m], 2;") ==
        "phase parity 2, expected 0 or 1");
  CHECK(what("mbarrier.init.shared.b64 [%m], 1; mov.u64 %d1, 5; mbarrier.test_wait.shared.b64 %q1, [%m], %d1;") ==
        "0x5 is no state of a mbarrier");
  CHECK(what("mbarrier.init.b64 [%in], 1;") ==
        "mbarrier at generic address 0x1000000000, which is not in shared memory");
  CHECK(what("mbarrier.init.shared.b64 [%m], 1; cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s], "
             "[%in], 24, [%m];") == "bulk copy of 24 bytes, expected a multiple of 16");
  CHECK(what("mbarrier.init.shared.b64 [%m], 1; cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s+8], "
             "[%in], 16, [%m];") == "misaligned destination of 16 bytes at shared offset 8, expected a multiple of 16");
  CHECK(what("cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 16;") ==
        "read of source of 16 bytes at shared offset 0, which was never written");
}

TEST_CASE("a wait that never ends is reported with what it waits for") {
  CHECK(error("mbarrier.init.shared.b64 [%m], 2; mbarrier.arrive.shared.b64 _, [%m];\n"
              "WAIT: mbarrier.try_wait.parity.shared.b64 %q1, [%m], 0; @!%q1 bra WAIT;") ==
        "k.ptx:8:7: error: kernel 'k', CTA (0,0,0), thread (0,0,0): endless loop: it waits for the mbarrier at shared "
        "offset 4096, 0 bytes into 'm', in phase 0, 1 of 2 arrivals and 0 bytes pending (warp 0), and nobody arrives "
        "there any more");
  // A wait that is not in a loop ends: its time is over.
  Run once(
      "mbarrier.init.shared.b64 [%m], 2; mbarrier.try_wait.parity.shared.b64 %q1, [%m], 0, 100;"
      "selp.u32 %r1, 1, 2, %q1; st.global.u32 [%out], %r1;",
      1);
  CHECK(once.result(1)[0] == 2);
  // Others wait at a barrier meanwhile.
  const std::string both = error(
      "setp.ge.u32 %q2, %t, 32; @%q2 bra MEET; setp.eq.u32 %q3, %t, 0; @%q3 mbarrier.init.shared.b64 [%m], 1;"
      "bar.warp.sync 0xffffffff; WAIT: mbarrier.try_wait.parity.shared.b64 %q1, [%m], 0; @!%q1 bra WAIT; MEET: "
      "bar.sync 0;",
      64);
  CHECK(both.find("nobody arrives there any more; warp 1 waits at barrier 0 on line 7") != std::string::npos);
}

TEST_CASE("asynchronous forms that need another CTA, or are none, are refused in words") {
  CHECK(refused("cp.async.ca.shared.global [%s], [%in], 5;") ==
        "k.ptx:7:40: error: 'cp.async.ca.shared.global' copies 5 bytes, expected 4, 8 or 16");
  CHECK(refused("cp.async.cg.shared.global [%s], [%in], 8;") ==
        "k.ptx:7:40: error: 'cp.async.cg.shared.global' copies 8 bytes, expected 16");
  CHECK(refused("cp.async.ca.shared.global [%s], [%in], 8, 9;") ==
        "k.ptx:7:43: error: 'cp.async.ca.shared.global' reads 9 bytes of 8");
  CHECK(refused("cp.async.wait_group %t;") == "k.ptx:7:21: error: '%t' is not a constant, expected a number of groups");
  CHECK(refused("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%s], [%s], 16, [%m];")
            .find("copies between shared memories of a cluster are not supported: a cluster is one CTA here") !=
        std::string::npos);
  CHECK(refused("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%s], [%in], 16, "
                "[%m], %r1;")
            .find(".multicast::cluster is not supported: a cluster is one CTA here") != std::string::npos);
  CHECK(refused("cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes [%s], [%in, {%t, %t, "
                "%t}], [%m];")
            .find(".im2col is not supported, expected .tile") != std::string::npos);
  CHECK(refused("cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%s], [%in, {%t}], [%m];")
            .find("has 1 coordinates, expected 2") != std::string::npos);
  CHECK(refused("cp.async.bulk.global.shared::cta [%out], [%s], 16;")
            .find("names no way to wait for it, expected .mbarrier::complete_tx::bytes or .bulk_group") !=
        std::string::npos);
}

TEST_CASE("random copies, groups and reads do what a list of copies does") {
  // Each thread has 64 bytes of shared memory and 64 of global; every step is the same for all threads.
  std::mt19937 random(5);
  for (unsigned round = 0; round < 60; ++round) {
    std::string body =
        "shl.b32 %r31, %t, 6; add.u32 %r30, %s, %r31; cvt.u64.u32 %d13, %r31; add.u64 %d14, %in, %d13;"
        "add.u64 %d15, %out, %d13; mov.u32 %r10, 1; mov.u32 %r9, 7;";
    for (unsigned n = 0; n < 64; n += 4) body += "st.shared.u32 [%r30+" + std::to_string(n) + "], %r9;";
    struct Copy {
      unsigned to, from, bytes, read, group;
    };
    std::vector<Copy> pending;
    std::vector<std::vector<std::uint8_t>> shared(32, std::vector<std::uint8_t>(64));
    const auto values = numbers(2048);
    std::vector<std::uint32_t> sums(32, 1);
    for (auto& s : shared)
      for (unsigned n = 0; n < 64; n += 4) s[n] = 7;
    unsigned group = 0;
    const auto apply = [&](unsigned limit) {
      std::vector<Copy> rest;
      for (const Copy& c : pending) {
        if (c.group >= limit) {
          rest.push_back(c);
          continue;
        }
        for (unsigned t = 0; t < 32; ++t)
          for (unsigned b = 0; b < c.bytes; ++b)
            shared[t][c.to + b] = b < c.read ? reinterpret_cast<const std::uint8_t*>(values.data() + t * 16)[c.from + b]
                                             : std::uint8_t{0};
      }
      pending = rest;
    };
    for (unsigned step = 0; step < 40; ++step) {
      switch (random() % 6) {
        case 0:
        case 1: {
          const unsigned bytes = 4u << random() % 3;
          const Copy c{static_cast<unsigned>(random() % (64 / bytes)) * bytes,
                       static_cast<unsigned>(random() % (64 / bytes)) * bytes, bytes,
                       random() % 3 == 0 ? static_cast<unsigned>(random() % (bytes + 1)) : bytes, group};
          pending.push_back(c);
          body += "cp.async.ca.shared.global [%r30+" + std::to_string(c.to) + "], [%d14+" + std::to_string(c.from) +
                  "], " + std::to_string(bytes) + (c.read != bytes ? ", " + std::to_string(c.read) : "") + ";\n";
          break;
        }
        case 2:
          body += "cp.async.commit_group;\n";
          ++group;
          break;
        case 3: {
          const unsigned allowed = random() % 3;
          body += "cp.async.wait_group " + std::to_string(allowed) + ";\n";
          apply(group - std::min(group, allowed));
          break;
        }
        case 4:
          body += "cp.async.wait_all;\n";
          apply(~0u);
          break;
        default: {
          const unsigned at = random() % 16 * 4;
          body += "ld.shared.u32 %r1, [%r30+" + std::to_string(at) + "]; mad.lo.u32 %r10, %r10, 31, %r1;\n";
          for (unsigned t = 0; t < 32; ++t) {
            std::uint32_t word = 0;
            std::memcpy(&word, shared[t].data() + at, 4);
            sums[t] = sums[t] * 31 + word;
          }
        }
      }
    }
    Run r(body + "st.global.u32 [%d15], %r10;");
    const auto got = r.result(512);
    for (unsigned t = 0; t < 32; ++t) REQUIRE(got[t * 16] == sums[t]);
  }
}

}  // namespace async_test
