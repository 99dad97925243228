// SPDX-License-Identifier: Apache-2.0
//
// The lock table and the deadlock rule, each alone.
#include <regatta/sharing/lock_rule.h>
#include <regatta/sharing/lock_table.h>
#include <regatta/test/clock.h>

#include <array>
#include <random>

#include "../sharing_blocks.h"

using namespace regatta;
using namespace regatta::test::sharing;
using models::LockClaim;
using models::LockGrant;

namespace {

LockClaim by(PairMember cta, bool is_owner = false, bool partner_ended = false) {
  return {cta, is_owner, partner_ended};
}

template <class F>
std::string error(F&& work) {
  sc_core::sc_report_handler::set_actions("regatta/register_locks", sc_core::SC_ERROR, sc_core::SC_THROW);
  return error_of(work);
}

struct TableBench {
  TableBench() : pairs("pairs", 1, 2, 3), table("table", test::clock(period)), launch(5, 4, 8) {
    table.pairs.bind(pairs);
    run_to(1);
    table.kernel_started(launch.context);
  }
  FixedPairs pairs;
  models::LockTable table;
  Launch launch;
};

struct RuleBench {
  explicit RuleBench(LockGrant grant = LockGrant::cta)
      : pairs("pairs", 0, 2, 3), rule("rule", grant, test::clock(period)), launch(4, 2, 8) {
    rule.pairs.bind(pairs);
    run_to(1);
    rule.kernel_started(launch.context);
  }
  FixedPairs pairs;
  models::PairLockRule rule;
  Launch launch;
};

}  // namespace

TEST_CASE("lock table alone: an entry for every pair of warps, with its holder") {
  TableBench b;
  for (unsigned lock = 0; lock < 8; ++lock) CHECK_FALSE(b.table.holder(lock).has_value());
  b.table.take(7, warp_at(11));
  b.table.take(0, warp_at(4));
  CHECK(b.table.holder(7) == warp_at(11));
  CHECK(b.table.holder(0) == warp_at(4));
  CHECK_FALSE(b.table.holder(1).has_value());
  b.table.give_back(7, warp_at(11));
  CHECK_FALSE(b.table.holder(7).has_value());
  b.table.take(7, warp_at(19));
  CHECK(b.table.holder(7) == warp_at(19));
  CHECK(stat_of(b.table, "takes") == 3);
  CHECK(stat_of(b.table, "returns") == 1);
  CHECK(stat_of(b.table, "held_max") == 2);
  b.table.kernel_started(b.launch.context);
  CHECK_FALSE(b.table.holder(0).has_value());
}

TEST_CASE("lock table alone: what it refuses") {
  TableBench b;
  b.table.take(2, warp_at(6));
  CHECK(error([&] { b.table.take(2, warp_at(14)); }) ==
        "table in cycle 1: warp 14 takes lock 2, which warp 6 holds; expected a free lock");
  CHECK(error([&] { b.table.give_back(2, warp_at(14)); }) ==
        "table in cycle 1: warp 14 returns lock 2, which warp 6 holds; expected a lock of its own");
  CHECK(error([&] { b.table.give_back(3, warp_at(7)); }) ==
        "table in cycle 1: warp 7 returns lock 3, which nobody holds; expected a lock of its own");
}

TEST_CASE("deadlock rule alone: locks of a pair are those of one CTA") {
  RuleBench b;
  const PairMember a{1, 0}, partner{1, 1}, other{0, 1};
  CHECK(b.rule.may_take(by(a)));
  CHECK(b.rule.may_take(by(partner)));
  b.rule.taken(by(a));
  CHECK(b.rule.may_take(by(a)));
  CHECK_FALSE(b.rule.may_take(by(partner)));
  CHECK(b.rule.may_take(by(other)));
  b.rule.taken(by(a));
  b.rule.returned(a);
  CHECK_FALSE(b.rule.may_take(by(partner)));  // one is left
  b.rule.returned(a);
  CHECK(b.rule.may_take(by(partner)));
  b.rule.taken(by(partner));
  CHECK_FALSE(b.rule.may_take(by(a)));
  CHECK(stat_of(b.rule, "taken") == 3);
  CHECK(stat_of(b.rule, "returned") == 2);
  b.rule.kernel_started(b.launch.context);
  CHECK(b.rule.may_take(by(a)));
}

TEST_CASE("deadlock rule alone: what it refuses") {
  RuleBench b;
  b.rule.taken(by({1, 0}));
  b.rule.taken(by({1, 0}));
  CHECK(error([&] {
          b.rule.taken(by({1, 1}));
        }) ==
        "rule in cycle 1: side 1 of pair 1 takes a lock, and sides 0 and 1 hold 2 and 0; expected none on the other "
        "side");
  CHECK(error([&] {
          b.rule.returned({0, 1});
        }) ==
        "rule in cycle 1: side 1 of pair 0 returns a lock, and sides 0 and 1 hold 0 and 0; expected at least one on "
        "this side");
}

TEST_CASE("deadlock rule alone: by warp, behind a partner that has ended, and the owner in any case") {
  RuleBench b(LockGrant::warp);
  const PairMember owner{1, 0}, behind{1, 1};
  CHECK(b.rule.may_take(by(behind)));
  CHECK_FALSE(b.rule.taken(by(owner, true)));  // it is the owner already
  CHECK_FALSE(b.rule.may_take(by(behind)));
  CHECK(b.rule.may_take(by(behind, false, true)));
  CHECK_FALSE(b.rule.taken(by(behind, false, true)));  // and stays behind
  CHECK(b.rule.may_take(by(owner, true)));             // though the other side holds a lock
  CHECK_FALSE(b.rule.may_take(by(owner)));
  b.rule.returned(owner);
  CHECK(b.rule.taken(by(behind)));  // no lock on the other side: it takes the ownership over
  CHECK(error([&] { b.rule.taken(by(owner)); }) ==
        "rule in cycle 1: side 0 of pair 1 takes a lock, and sides 0 and 1 hold 0 and 2; expected none on the other "
        "side, the pair's owner, or a partner that has ended");
}

TEST_CASE("deadlock rule alone: by CTA, who the owner is and who has ended changes nothing") {
  RuleBench b;
  CHECK(b.rule.taken(by({1, 0})));
  CHECK_FALSE(b.rule.may_take(by({1, 1}, true, true)));
}

TEST_CASE("deadlock rule alone: switched off, it counts and lets both sides take locks") {
  RuleBench b(LockGrant::always);
  b.rule.taken(by({0, 0}));
  CHECK(b.rule.may_take(by({0, 1})));
  b.rule.taken(by({0, 1}));
  b.rule.returned({0, 1});
  b.rule.returned({0, 0});
  CHECK(stat_of(b.rule, "taken") == 2);
}

TEST_CASE("deadlock rule alone: random locks") {
  RuleBench b;
  std::mt19937 random(5);
  std::array<std::array<unsigned, 2>, 2> held{};
  for (unsigned n = 0; n < 20000; ++n) {
    const PairMember m{static_cast<unsigned>(random() % 2), static_cast<unsigned>(random() % 2)};
    REQUIRE(b.rule.may_take(by(m)) == (held[m.pair][1 - m.side] == 0));
    if (random() % 2 == 0) {
      if (!b.rule.may_take(by(m))) continue;
      b.rule.taken(by(m));
      ++held[m.pair][m.side];
    } else if (held[m.pair][m.side] != 0) {
      b.rule.returned(m);
      --held[m.pair][m.side];
    }
    for (const auto& pair : held) REQUIRE((pair[0] == 0 || pair[1] == 0));
  }
}
