// SPDX-License-Identifier: Apache-2.0
//
// Dynamic warp execution alone: stalls of two SMs, the probability that follows them, and the warps that it holds.
#include <regatta/sharing/dynamic_warps.h>
#include <regatta/test/clock.h>

#include <algorithm>

#include "../sharing_blocks.h"

using namespace regatta;
using namespace regatta::test::sharing;
using protocol::Cycle;
using protocol::Stall;

namespace {

const std::vector<Stall> both_stall{Stall::structural_lsu, Stall::structural_sp};
const std::vector<Stall> one_stalls{Stall::none, Stall::structural_scheduler};
const std::vector<Stall> waits{Stall::issue_gate, Stall::memory};

/// Side 1 of every pair is the non-owner, until the test says otherwise.
class SideOwners : public sc_core::sc_module, public models::CtaOwners {
 public:
  explicit SideOwners(const sc_core::sc_module_name& name) : sc_module(name) {}
  WarpRole role(CtaSlot cta) const override {
    if (cta.value() == 0) return WarpRole::unshared;
    return owners.count(cta.value()) != 0 ? WarpRole::owner : WarpRole::non_owner;
  }
  void took(CtaSlot) override {}
  void released(CtaSlot) override {}
  std::set<unsigned> owners{1, 2};
};

/// One CTA that shares nothing in slot 0; pairs of slots 1 and 3, 2 and 4; four warps each. Periods of 100 cycles.
struct DynamicBench {
  explicit DynamicBench(unsigned sm, unsigned n_pairs = 2)
      : pairs("pairs", 1, n_pairs, 4),
        owners("owners"),
        own("own"),
        probe("probe"),
        dynamic("dynamic", config(sm), test::clock(period)),
        launch(5, 4, 8) {
    dynamic.pairs.bind(pairs);
    dynamic.owners.bind(owners);
    dynamic.own_stalls.bind(own.stalls);
    dynamic.probe_stalls.bind(probe.stalls);
    ownership = &dynamic;
    dynamic.connect(closed);
    load.is_long_latency = true;
    load.is_memory = true;
    shared_load.is_memory = true;
    run_to(1);
    dynamic.kernel_started(launch.context);
  }
  static models::DynamicWarpsConfig config(unsigned sm) {
    models::DynamicWarpsConfig c;
    c.period = 100;
    c.sm = sm;
    return c;
  }
  bool may(unsigned warp, const protocol::InstructionTraits& traits) {
    protocol::DynamicInstruction d;
    d.warp = warp_at(warp);
    d.traits = &traits;
    return dynamic.may_issue(d);
  }
  /// Both SMs meet these stalls until the end of cycle `end`.
  void pass(std::uint64_t end, const std::vector<Stall>& mine, const std::vector<Stall>& others) {
    while (reported != end) {
      const std::uint64_t until = std::min(end, (reported / 100 + 1) * 100);
      own.cycles(Cycle(reported + 1), until - reported, mine);
      probe.cycles(Cycle(reported + 1), until - reported, others);
      reported = until;
      run_to(until);
      test::clock(period).catch_up();
    }
  }
  double stat(const std::string& name) { return stat_of(dynamic, name); }

  FixedPairs pairs;
  SideOwners owners;
  models::StallMeter own, probe;
  models::DynamicWarps dynamic;
  models::OwnerListener* ownership = nullptr;
  Launch launch;
  Closed closed;
  protocol::InstructionTraits load, shared_load, add;
  std::uint64_t reported = 1;
};

}  // namespace

TEST_CASE("stall meter alone: structural stalls of all schedulers, and of cycles in which the SM sleeps") {
  models::StallMeter m("meter");
  CHECK(m.stalls_through(50) == 0);
  m.cycles(Cycle(11), 10, both_stall);
  CHECK(m.stalls_through(20) == 20);
  CHECK(m.stalls_through(25) == 30);
  m.cycles(Cycle(21), 8, both_stall);
  m.cycles(Cycle(29), 1, one_stalls);
  CHECK(m.stalls_through(29) == 37);
  CHECK(m.stalls_through(31) == 39);
  m.cycles(Cycle(30), 5, waits);
  CHECK(m.stalls_through(100) == 37);
  m.cycles(Cycle(35), 1, one_stalls);
  m.kernel_finished(Cycle(40), protocol::KernelContext{});
  CHECK(m.stalls_through(100) == 38);
}

TEST_CASE("dynamic warps alone: SM 0 holds memory instructions of non-owners and nothing else") {
  DynamicBench b(0);
  for (const unsigned warp : {0u, 4u, 8u, 11u}) CHECK(b.may(warp, b.load));
  CHECK(b.may(12, b.add));
  CHECK(b.may(12, b.shared_load));
  CHECK_FALSE(b.may(12, b.load));
  CHECK_FALSE(b.may(19, b.load));
  CHECK(b.closed.warps == std::set<unsigned>{12, 19});
  CHECK_FALSE(sc_core::sc_pending_activity());  // nothing changes by itself
  b.pass(1000, waits, both_stall);
  CHECK(b.dynamic.level() == 0);
  CHECK(b.closed.warps.size() == 2);
  b.owners.owners = {2, 3};
  b.ownership->became_owner(cta_at(3));
  CHECK(b.closed.warps == std::set<unsigned>{19});
  CHECK(b.may(12, b.load));
  CHECK(b.stat("denials") == 2);
  CHECK(b.stat("denied_cycles") == 999);
  CHECK(b.stat("draws") == 0);
}

TEST_CASE("dynamic warps alone: others begin with probability 1, and follow the stalls in steps") {
  DynamicBench b(3);
  CHECK(b.dynamic.level() == 10);
  for (unsigned w = 0; w < 20; ++w) CHECK(b.may(w, b.load));
  b.pass(100, both_stall, both_stall);
  CHECK(b.dynamic.level() == 10);
  b.pass(200, one_stalls, both_stall);
  CHECK(b.dynamic.level() == 10);  // not above 1
  b.pass(300, both_stall, one_stalls);
  CHECK(b.dynamic.level() == 9);
  b.pass(900, both_stall, waits);
  CHECK(b.dynamic.level() == 3);
  b.pass(1500, both_stall, waits);
  CHECK(b.dynamic.level() == 0);  // nor below 0
  b.pass(1700, waits, one_stalls);
  CHECK(b.dynamic.level() == 2);
  b.pass(1800, waits, waits);
  CHECK(b.dynamic.level() == 2);
  CHECK(b.stat("lowered") == 10);
  CHECK(b.stat("raised") == 2);
  // A launch begins with 1 again.
  b.dynamic.kernel_finished(b.launch.context);
  b.pass(2000, both_stall, waits);
  CHECK(b.dynamic.level() == 2);
  b.dynamic.kernel_started(b.launch.context);
  CHECK(b.dynamic.level() == 10);
  b.pass(2100, both_stall, both_stall);
  CHECK(b.dynamic.level() == 10);  // stalls of the launch before do not count
}

TEST_CASE("dynamic warps alone: a stall more or less in a period decides") {
  DynamicBench b(1);
  b.own.cycles(Cycle(2), 1, one_stalls);
  b.reported = 2;
  b.pass(99, waits, waits);
  CHECK(b.dynamic.level() == 10);
  b.pass(100, waits, waits);
  CHECK(b.dynamic.level() == 9);
}

TEST_CASE("dynamic warps alone: one draw per period and warp, again at the next period") {
  DynamicBench b(1);
  b.pass(500, both_stall, waits);
  REQUIRE(b.dynamic.level() == 5);
  std::set<unsigned> denied;
  for (unsigned w = 12; w < 20; ++w) {
    const bool may = b.may(w, b.load);
    if (may) CHECK(b.may(w, b.load));
    if (!may) denied.insert(w);
  }
  CHECK(b.closed.warps == denied);
  CHECK(b.stat("draws") == 8);
  REQUIRE_FALSE(denied.empty());
  REQUIRE(denied.size() < 8);
  for (std::uint64_t end = 600; !b.closed.warps.empty(); end += 100) {
    REQUIRE(end < 5000);
    b.pass(end, waits, waits);
    const auto before = b.closed.warps;
    run_for(1);
    run_present();
    for (const unsigned w : b.closed.warps) CHECK(before.count(w) == 1);
    CHECK(sc_core::sc_pending_activity() == !b.closed.warps.empty());
  }
}

TEST_CASE("dynamic warps alone: a warp that is the owner now takes the alarm with it") {
  DynamicBench b(1);
  b.pass(1000, both_stall, waits);
  REQUIRE(b.dynamic.level() == 0);
  CHECK_FALSE(b.may(12, b.load));
  CHECK(sc_core::sc_pending_activity());
  b.owners.owners = {3};
  b.ownership->became_owner(cta_at(3));
  CHECK(b.closed.warps.empty());
  CHECK_FALSE(sc_core::sc_pending_activity());
}

TEST_CASE("dynamic warps alone: draws have the probability") {
  DynamicBench b(1);
  b.pass(300, both_stall, waits);
  REQUIRE(b.dynamic.level() == 7);
  unsigned allowed = 0, all = 0;
  for (std::uint64_t end = 400; end < 100000; end += 100) {
    for (unsigned w = 12; w < 20; ++w) {
      if (b.closed.warps.count(w) != 0) continue;
      ++all;
      allowed += b.may(w, b.load) ? 1 : 0;
    }
    b.pass(end, waits, waits);
    for (const unsigned cta : {3u, 4u}) b.ownership->became_owner(cta_at(cta));  // opens all
  }
  CHECK(all > 7000);
  CHECK(double(allowed) / all == Approx(0.7).margin(0.02));
}

TEST_CASE("dynamic warps alone: nothing is held in a launch without pairs") {
  DynamicBench b(0, 0);
  for (unsigned w = 0; w < 4; ++w) CHECK(b.may(w, b.load));
}
