// SPDX-License-Identifier: Apache-2.0
//
// The register gate alone, with a lock table, a deadlock rule and an owner table: which warps may issue, which wait,
// and when they go on.
#include <regatta/sharing/lock_rule.h>
#include <regatta/sharing/lock_table.h>
#include <regatta/sharing/register_gate.h>
#include <regatta/test/clock.h>

#include <array>
#include <random>

#include "../sharing_blocks.h"

using namespace regatta;
using namespace regatta::test::sharing;
using protocol::RegisterId;

namespace {

/// One CTA that shares nothing in slot 0; pairs of slots 1 and 3, 2 and 4; three warps each. R0 to R3 are private.
struct GateBench {
  static constexpr unsigned warps_per_cta = 3, own = 0, reads_shared = 1, writes_shared = 2;

  explicit GateBench(models::LockGrant grant = models::LockGrant::cta)
      : pairs("pairs", 1, 2, 4),
        table("table", test::clock(period)),
        rule("rule", grant, test::clock(period)),
        owners("owners"),
        gate("gate", test::clock(period)),
        launch(5, warps_per_cta, 8),
        traits(3) {
    table.pairs.bind(pairs);
    rule.pairs.bind(pairs);
    gate.pairs.bind(pairs);
    gate.boundary.bind(pairs);
    gate.locks.bind(table.locks);
    gate.rule.bind(rule.rule);
    gate.owners.bind(owners);
    gate.connect(closed);
    gate.attach(classes);
    const auto add = [](std::uint8_t& count, auto& list, unsigned reg) {
      list[count++] = RegisterId(static_cast<std::uint8_t>(reg));
    };
    add(traits[own].read_count, traits[own].reads, 3);
    add(traits[own].write_count, traits[own].writes, 0);
    add(traits[reads_shared].read_count, traits[reads_shared].reads, 1);
    add(traits[reads_shared].read_count, traits[reads_shared].reads, 4);
    add(traits[writes_shared].read_count, traits[writes_shared].reads, 0);
    add(traits[writes_shared].write_count, traits[writes_shared].writes, 7);
    for (unsigned i = 0; i < traits.size(); ++i) traits[i].index = i;
    launch.context.traits = &traits;
    sc_core::sc_report_handler::set_actions("regatta/register_locks", sc_core::SC_ERROR, sc_core::SC_THROW);
    run_to(1);
    table.kernel_started(launch.context);
    rule.kernel_started(launch.context);
    gate.kernel_started(launch.context);
    owners.owners = {1, 2};
    for (unsigned cta = 0; cta < 5; ++cta) begin(cta);
  }
  void begin(unsigned cta) {
    gate.cta_launched(launch.cta(cta));
    launch.for_warps(cta, [&](const WarpInfo& w) { gate.warp_started(w); });
  }
  static unsigned warp(unsigned cta, unsigned number) { return cta * warps_per_cta + number; }
  /// Whether it issues.
  bool issue(unsigned slot, unsigned index) {
    protocol::DynamicInstruction d;
    d.warp = warp_at(slot);
    d.traits = &traits[index];
    const bool may = gate.may_issue(d);
    REQUIRE(gate.may_issue(d) == may);
    if (may) gate.issued(d);
    return may;
  }
  bool issue(unsigned cta, unsigned number, unsigned index) { return issue(warp(cta, number), index); }
  void end(unsigned cta, unsigned number) { gate.warp_finished(launch.warp(warp(cta, number))); }
  double stat(const std::string& name) { return stat_of(gate, name); }

  FixedPairs pairs;
  models::LockTable table;
  models::PairLockRule rule;
  Owners owners;
  models::RegisterGate gate;
  Launch launch;
  std::vector<protocol::InstructionTraits> traits;
  Closed closed;
  Classes classes;
};

using Warps = std::set<unsigned>;

}  // namespace

TEST_CASE("register gate alone: private registers need no lock, and CTAs that share nothing never do") {
  GateBench b;
  for (unsigned w = 0; w < 15; ++w) CHECK(b.issue(w, GateBench::own));
  for (unsigned w = 0; w < 3; ++w) CHECK(b.issue(w, GateBench::writes_shared));
  CHECK(b.stat("acquires") == 0);
  CHECK(b.stat("checks") == 12);
  CHECK(b.closed.warps.empty());
}

namespace {

void check_waiting(unsigned first) {
  GateBench b;
  CHECK(b.issue(1, 2, first));
  CHECK(b.table.holder(2) == warp_at(GateBench::warp(1, 2)));
  CHECK(b.issue(1, 2, GateBench::writes_shared));
  CHECK(b.stat("acquires") == 1);
  CHECK(b.issue(3, 2, GateBench::own));
  CHECK_FALSE(b.issue(3, 2, GateBench::reads_shared));
  CHECK(b.closed.warps == Warps{GateBench::warp(3, 2)});
  run_for(10);
  b.end(1, 2);
  CHECK(b.closed.warps.empty());
  CHECK(b.stat("wait_cycles") == 10);
  CHECK(b.stat("waits") == 1);
  CHECK(b.issue(3, 2, GateBench::reads_shared));
  CHECK(b.table.holder(2) == warp_at(GateBench::warp(3, 2)));
}

}  // namespace

TEST_CASE("register gate alone: a warp that reads takes the lock, and its partner waits until it ends") {
  check_waiting(GateBench::reads_shared);
}
TEST_CASE("register gate alone: a warp that writes takes the lock, and its partner waits until it ends") {
  check_waiting(GateBench::writes_shared);
}

TEST_CASE("register gate alone: the CTA that takes the first lock of a pair keeps the other one out") {
  GateBench b;
  CHECK(b.issue(3, 0, GateBench::writes_shared));
  CHECK(b.owners.owners.count(3) == 1);
  CHECK_FALSE(b.issue(1, 1, GateBench::writes_shared));  // lock 1 is free, but CTA 3 has lock 0
  CHECK(b.issue(3, 1, GateBench::writes_shared));
  CHECK(b.issue(3, 2, GateBench::writes_shared));
  CHECK(b.issue(2, 1, GateBench::writes_shared));  // the other pair
  CHECK_FALSE(b.issue(1, 2, GateBench::writes_shared));
  b.end(3, 0);
  b.end(3, 1);
  CHECK(b.closed.warps == Warps{4, 5});
  b.end(3, 2);
  CHECK(b.closed.warps.empty());
  CHECK(b.issue(1, 1, GateBench::writes_shared));
}

TEST_CASE("register gate alone: by warp, a warp goes on when its own partner has ended, and its CTA stays behind") {
  GateBench b(models::LockGrant::warp);
  CHECK(b.issue(1, 0, GateBench::writes_shared));
  CHECK(b.issue(1, 1, GateBench::writes_shared));
  CHECK_FALSE(b.issue(3, 0, GateBench::writes_shared));
  CHECK_FALSE(b.issue(3, 1, GateBench::writes_shared));
  CHECK_FALSE(b.issue(3, 2, GateBench::writes_shared));  // lock 2 is free, but its owner warp lives
  b.end(1, 0);
  CHECK(b.closed.warps == Warps{GateBench::warp(3, 1), GateBench::warp(3, 2)});
  CHECK(b.issue(3, 0, GateBench::writes_shared));
  CHECK(b.owners.owners == std::set<unsigned>{1, 2});
  CHECK(b.issue(1, 2, GateBench::writes_shared));  // the owner does not wait for lock 0
  b.end(1, 2);
  CHECK(b.closed.warps == Warps{GateBench::warp(3, 1)});
}

TEST_CASE("register gate alone: by warp, a partner that never took the lock opens it by its end") {
  GateBench b(models::LockGrant::warp);
  CHECK(b.issue(1, 0, GateBench::writes_shared));
  CHECK_FALSE(b.issue(3, 2, GateBench::writes_shared));
  b.end(1, 2);
  CHECK(b.closed.warps.empty());
  CHECK(b.issue(3, 2, GateBench::writes_shared));
}

TEST_CASE("register gate alone: by warp, a warp that has been launched and starts later has not ended") {
  GateBench b(models::LockGrant::warp);
  for (unsigned i = 0; i < 3; ++i) b.end(1, i);
  for (unsigned i = 0; i < 3; ++i) b.end(3, i);
  b.gate.cta_launched(b.launch.cta(1));
  b.gate.warp_started(b.launch.warp(GateBench::warp(1, 0)));
  CHECK(b.issue(1, 0, GateBench::writes_shared));
  b.gate.cta_launched(b.launch.cta(3));
  b.gate.warp_started(b.launch.warp(GateBench::warp(3, 2)));
  CHECK_FALSE(b.issue(3, 2, GateBench::writes_shared));
}

TEST_CASE("register gate alone: warps that never took the lock change nothing when they end") {
  GateBench b;
  CHECK(b.issue(1, 0, GateBench::reads_shared));
  CHECK_FALSE(b.issue(3, 0, GateBench::reads_shared));
  b.end(1, 1);
  b.end(0, 0);
  CHECK(b.closed.warps.size() == 1);
  CHECK(b.table.holder(0) == warp_at(3));
}

TEST_CASE("register gate alone: moves that another gate inserts are looked at themselves") {
  GateBench b;
  protocol::DynamicInstruction move;
  move.warp = warp_at(GateBench::warp(3, 0));
  move.injected = true;
  protocol::InstructionTraits traits = b.traits[GateBench::writes_shared];
  traits.index = GateBench::own;  // of the instruction behind it
  move.traits = &traits;
  CHECK(b.issue(1, 0, GateBench::writes_shared));
  CHECK_FALSE(b.gate.may_issue(move));
}

TEST_CASE("register gate alone: with the rule off, warps of both CTAs hold locks and a circle is named") {
  GateBench b(models::LockGrant::always);
  // Figure 2.8: warps 3 and 10 hold locks and are at barriers, for which warps 4 and 9 have not arrived.
  CHECK(b.issue(1, 0, GateBench::writes_shared));
  CHECK(b.issue(3, 1, GateBench::writes_shared));
  CHECK(b.gate.describe_circles().empty());
  CHECK_FALSE(b.issue(1, 1, GateBench::writes_shared));
  CHECK_FALSE(b.issue(3, 0, GateBench::writes_shared));
  CHECK(b.gate.describe_circles().empty());  // warps 3 and 10 can go on
  b.classes.at_barrier = {3, 10};
  CHECK(b.gate.describe_circles() ==
        "  gate: warps wait in a circle: warp 3 waits at a barrier for warp 4, which waits for the shared registers of "
        "warp 10, which waits at a barrier for warp 9, which waits for the shared registers of warp 3\n");
  b.end(3, 1);
  CHECK(b.gate.describe_circles().empty());
}

TEST_CASE("register gate alone: an owner that is not one is found") {
  GateBench b;
  b.owners.owners.clear();
  b.owners.deaf = true;
  const auto error = [&](auto&& work) { return error_of(work); };
  CHECK(error([&] { b.issue(3, 1, GateBench::writes_shared); }) ==
        "gate in cycle 1: warp 10 takes lock 1, and its CTA in slot 3 is not the owner; expected that it is now");
  for (unsigned i = 0; i < 3; ++i) b.end(2, i);
  CHECK(error([&] { b.begin(2); }) ==
        "gate in cycle 1: CTA slot 2 gets a CTA, and its partner in slot 4 is not the owner; expected that ownership "
        "has passed to it");
}

TEST_CASE("register gate alone: random warps, one holder per lock, no warp forgotten") {
  GateBench b;
  std::mt19937 random(11);
  std::array<bool, 15> waits{};
  std::array<int, 15> issued{};
  unsigned waited = 0;
  for (unsigned n = 0; n < 30000; ++n) {
    const unsigned w = random() % 15;
    const bool is_closed = b.closed.warps.count(w) != 0;
    REQUIRE((!is_closed || waits[w]));
    if (is_closed) continue;
    if (random() % 8 == 0) {
      // It ends, and another one begins in its place.
      b.gate.warp_finished(b.launch.warp(w));
      b.gate.warp_started(b.launch.warp(w));
      waits[w] = false;
    } else {
      const unsigned index = waits[w] ? GateBench::writes_shared : random() % 3;
      const bool done = b.issue(w, index);
      waits[w] = !done;
      waited += done ? 0 : 1;
      issued[w] += done ? 1 : 0;
    }
    for (unsigned lock = 0; lock < 6; ++lock) {
      const auto holder = b.table.holder(lock);
      if (!holder) continue;
      REQUIRE(holder->value() % 3 == lock % 3);
      // The other side of the pair holds none.
      const unsigned cta = holder->value() / 3, partner = cta < 3 ? cta + 2 : cta - 2;
      for (unsigned i = 0; i < 3; ++i) REQUIRE(b.table.holder(lock / 3 * 3 + i) != warp_at(3 * partner + i));
    }
    // A closed warp has a reason.
    for (const unsigned c : b.closed.warps) {
      const unsigned cta = c / 3, partner = cta < 3 ? cta + 2 : cta - 2, pair = (cta - 1) % 2;
      unsigned held = 0;
      for (unsigned i = 0; i < 3; ++i) held += b.table.holder(3 * pair + i) == warp_at(3 * partner + i) ? 1 : 0;
      REQUIRE(held != 0);
    }
  }
  CHECK(waited > 50);  // a warp waits until no warp of its partner holds a lock, which is rare here
  for (unsigned w = 0; w < 15; ++w) CHECK(issued[w] > 100);
}
