// SPDX-License-Identifier: Apache-2.0
//
// Races of asynchronous copies: with the thread that issues them, with others, and between proxies.
#include "harness.h"

#include <regatta/test/catch.h>

#include <string>

using namespace regatta::test;
using regatta::emulator::Race;

namespace async_races_test {
namespace {

/// `%t` tid.x, `%p` the buffer's address plus 16 t, `%b` the buffer's, `%s` 16 t in shared memory, `%m` a mbarrier for
/// 64 arrivals. The body begins on line 7.
std::string kernel(const std::string& body) {
  return module_text(
      ".param .u64 data",
      ".reg .b64 %p, %b, %o, %d<4>; .reg .b32 %t, %s, %m, %r<8>; .reg .pred %q<4>; "
      ".shared .align 128 .b8 s[1024]; .shared .align 8 .b64 m; mov.u32 %t, %tid.x; "
      "ld.param.u64 %b, [data]; mul.wide.u32 %o, %t, 16; add.u64 %p, %b, %o; mov.u32 %r7, s; mov.u32 %m, m;"
      "mad.lo.u32 %s, %t, 16, %r7; setp.eq.u32 %q3, %t, 0; @%q3 mbarrier.init.shared.b64 [%m], 64;"
      "bar.sync 0;\n" +
          body + "\nret;\n",
      "", "sm_90");
}

std::vector<Race> races(const std::string& body) {
  Machine m(kernel(body));
  m.parameter(m.buffer("data", 4096));
  m.request.block = {64, 1, 1};
  m.options.races = regatta::emulator::RaceRule::independent;
  m.options.max_instructions = 100000;
  return m.races();
}
std::string first(const std::string& body) {
  const std::vector<Race> found = races(body);
  return found.empty() ? "" : found[0].message.substr(found[0].message.find("data race"));
}
bool clean(const std::string& body) {
  const std::vector<Race> found = races(body);
  for (const Race& r : found) UNSCOPED_INFO(r.message);
  return found.empty();
}

const std::string copy = "cp.async.cg.shared.global [%s], [%p], 16; cp.async.commit_group;\n";
const std::string wait = "cp.async.wait_group 0;\n";
const std::string use = "ld.shared.u32 %r1, [%s]; st.global.u32 [%p+1024], %r1;\n";
const std::string use_other =
    "xor.b32 %r2, %t, 63; mad.lo.u32 %r2, %r2, 16, %r7; ld.shared.u32 %r1, [%r2]; st.global.u32 [%p+1024], %r1;\n";
const std::string try_wait = "W: mbarrier.try_wait.parity.shared.b64 %q1, [%m], 0; @!%q1 bra W;\n";
const std::string fetch =
    "@%q3 mbarrier.expect_tx.relaxed.cta.shared.b64 [%m], 1024;\n"
    "@%q3 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r7], [%b], 1024, [%m];\n"
    "mbarrier.arrive.shared.b64 %d1, [%m];\n";
const std::string write_own = "st.shared.u32 [%s], %t;\n";
const std::string store =
    "@%q3 cp.async.bulk.global.shared::cta.bulk_group [%b], [%r7], 16;\n@%q3 cp.async.bulk.commit_group;\n";

}  // namespace

TEST_CASE("a copy of a thread is ordered by its wait") {
  CHECK(clean(copy + wait + use));
  CHECK(clean(copy + wait + "bar.sync 0;\n" + use_other));
  CHECK(first(copy + use) ==
        "data race on 4 bytes at shared offset 0, 0 bytes into 's': read here and the asynchronous copy by thread "
        "(0,0,0) on line 7 are not ordered, for nobody has waited for the copy; expected cp.async.wait_group, or an "
        "arrival of it, between them");
  // Others need a barrier as well, and the barrier alone waits for nothing.
  CHECK(first(copy + wait + use_other).find("are not ordered; expected bar.sync") != std::string::npos);
  CHECK(first(copy + "bar.sync 0;\n" + use_other).find("nobody has waited for the copy") != std::string::npos);
  // One group too few.
  CHECK(first(copy + copy + "cp.async.wait_group 1;\n" + use).find("nobody has waited") != std::string::npos);
}

TEST_CASE("neither side of a copy may be written while it is on its way") {
  CHECK(first(copy + "st.shared.u32 [%s+4], %t;\n" + wait).find("write here and the asynchronous copy") !=
        std::string::npos);
  CHECK(first(copy + "st.global.u32 [%p+8], %t;\n" + wait).find("4 bytes at global address 0x1000000008") !=
        std::string::npos);
  CHECK(clean(copy + wait + "st.global.u32 [%p+8], %t; st.shared.u32 [%s+4], %t;\n"));
  CHECK(clean(copy + "ld.global.u32 %r1, [%p]; st.global.u32 [%p+2048], %r1;\n" + wait));
  // What another thread reads of the destination before, without a barrier.
  CHECK(first(write_own + "bar.sync 0;\n" + use_other + copy + wait).find("are not ordered") != std::string::npos);
  CHECK(clean(write_own + "bar.sync 0;\n" + use_other + "bar.sync 0;\n" + copy + wait));
}

TEST_CASE("a mbarrier orders copies for all who wait for it") {
  const std::string arrive = "cp.async.mbarrier.arrive.noinc.shared.b64 [%m];\n";
  CHECK(clean(copy + arrive + try_wait + use_other));
  CHECK(!clean(copy + arrive + use_other));
  // Arrivals that know nothing of the copies.
  CHECK(first(copy + "mbarrier.arrive.shared.b64 %d1, [%m];\n" + try_wait + use_other).find("nobody has waited") !=
        std::string::npos);
  CHECK(clean(fetch + try_wait + use_other));
  CHECK(first(fetch + use_other).find("expected a wait for its mbarrier, or cp.async.bulk.wait_group, between them") !=
        std::string::npos);
  // Stores before an arrival, loads behind the wait; a relaxed arrival orders nothing.
  CHECK(clean(write_own + "mbarrier.arrive.shared.b64 %d1, [%m];\n" + try_wait + use_other));
  CHECK(!clean(write_own + "mbarrier.arrive.relaxed.cta.shared.b64 %d1, [%m];\n" + try_wait + use_other));
}

TEST_CASE("bulk copies see writes behind a fence between proxies") {
  const std::string end = "@%q3 cp.async.bulk.wait_group 0;\n";
  CHECK(clean(write_own + "fence.proxy.async.shared::cta;\nbar.sync 0;\n" + store + end));
  CHECK(clean(write_own + "bar.sync 0;\nfence.proxy.async;\n" + store + end));
  CHECK(first(write_own + "bar.sync 0;\n" + store + end) ==
        "data race on 4 bytes at shared offset 0, 0 bytes into 's': asynchronous copy here and the write by thread "
        "(0,0,0) on line 7 are ordered, but a bulk copy need not see it; expected fence.proxy.async between them");
  CHECK(!clean("fence.proxy.async;\n" + write_own + "bar.sync 0;\n" + store + end));
  // The source is read when somebody waits for that, and the destination written later.
  const std::string fenced = write_own + "fence.proxy.async;\nbar.sync 0;\n" + store;
  CHECK(first(fenced + "@%q3 st.shared.u32 [%r7], %t;\n" + end).find("nobody has waited for the copy") !=
        std::string::npos);
  CHECK(clean(fenced + "@%q3 cp.async.bulk.wait_group.read 0;\n@%q3 st.shared.u32 [%r7], %t;\n" + end));
  CHECK(!clean(fenced +
               "@%q3 cp.async.bulk.wait_group.read 0;\n@%q3 ld.global.u32 %r1, [%b];\n@%q3 st.global.u32 "
               "[%b+2048], %r1;\n" +
               end));
  CHECK(clean(fenced + end + "@%q3 ld.global.u32 %r1, [%b];\n@%q3 st.global.u32 [%b+2048], %r1;\n"));
  // Nobody waits at all.
  const auto found = races(fenced);
  REQUIRE(found.size() == 1);
  CHECK(found[0].message.find("the CTA ends while this bulk copy may still read its shared memory; expected "
                              "cp.async.bulk.wait_group.read") != std::string::npos);
}

}  // namespace async_races_test
