// SPDX-License-Identifier: Apache-2.0
#include <regatta/baseline/schedulers.h>
#include <regatta/test/catch.h>

#include <algorithm>
#include <functional>
#include <random>
#include <stdexcept>

using namespace regatta;
using protocol::WarpMask;

namespace {

WarpMask mask(std::initializer_list<unsigned> warps) {
  WarpMask m = 0;
  for (unsigned w : warps) m |= WarpMask{1} << w;
  return m;
}

protocol::ScheduledWarp aged(std::uint64_t age) {
  protocol::ScheduledWarp warp;
  warp.age = age;
  return warp;
}

unsigned issue(protocol::WarpScheduler& s, WarpMask ready) {
  const unsigned warp = s.pick(ready);
  REQUIRE(((ready >> warp) & 1) == 1);
  s.issued(warp);
  return warp;
}

}  // namespace

TEST_CASE("lrr: the next ready warp after the one that issued last, around the end") {
  models::LooseRoundRobin s;
  for (unsigned w = 0; w < 64; ++w) s.warp_added(w, aged(w));
  const WarpMask ready = mask({0, 3, 4, 63});
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned expected : {0u, 3u, 4u, 63u}) CHECK(issue(s, ready) == expected);
  }
  CHECK(issue(s, mask({4})) == 4);
  CHECK(issue(s, mask({4})) == 4);
  CHECK(issue(s, mask({2, 4})) == 2);
  // A pick that is not issued moves nothing.
  CHECK(s.pick(mask({1, 5})) == 5);
  CHECK(s.pick(mask({1, 3})) == 3);
}

TEST_CASE("lrr: every warp gets its turn") {
  models::LooseRoundRobin s;
  std::mt19937_64 random(1);
  std::vector<unsigned> waited(64, 0);
  for (unsigned step = 0; step < 10000; ++step) {
    const WarpMask ready = random() | mask({17});
    const unsigned warp = issue(s, ready);
    waited[warp] = 0;
    REQUIRE(++waited[17] <= 64);  // always ready: at most a round
  }
}

TEST_CASE("gto: the same warp as long as it is ready, then the oldest") {
  models::GreedyThenOldest s;
  // Ages in another order than the slots.
  s.warp_added(5, aged(10));
  s.warp_added(2, aged(30));
  s.warp_added(9, aged(20));
  s.warp_added(0, aged(40));
  CHECK(issue(s, mask({0, 2, 5, 9})) == 5);
  CHECK(issue(s, mask({0, 2, 5, 9})) == 5);
  CHECK(issue(s, mask({0, 2, 9})) == 9);
  CHECK(issue(s, mask({0, 2, 5, 9})) == 9);  // greedy, though 5 is older
  CHECK(issue(s, mask({0, 2})) == 2);
  CHECK(issue(s, mask({0})) == 0);
  CHECK(issue(s, mask({0, 5})) == 0);
  CHECK(issue(s, mask({2, 5})) == 5);
  // A pick that is not issued does not make a warp the greedy one.
  CHECK(s.pick(mask({2})) == 2);
  CHECK(s.pick(mask({2, 5})) == 5);
}

TEST_CASE("gto: a warp that leaves is neither greedy nor old, its slot's next owner is young") {
  models::GreedyThenOldest s;
  s.warp_added(0, aged(1));
  s.warp_added(1, aged(2));
  s.warp_added(2, aged(3));
  CHECK(issue(s, mask({0, 1, 2})) == 0);
  s.warp_removed(0);
  s.warp_added(0, aged(4));
  CHECK(issue(s, mask({0, 1, 2})) == 1);
  CHECK(issue(s, mask({0, 2})) == 2);
  CHECK(issue(s, mask({0})) == 0);
  // A warp that comes back with its old age (a CTA switched in again) takes its old place.
  s.warp_removed(1);
  CHECK(issue(s, mask({2})) == 2);
  s.warp_added(1, aged(2));
  CHECK(issue(s, mask({0, 1})) == 1);
}

TEST_CASE("cggty: the same warp as long as it is ready, then the youngest") {
  models::GreedyThenYoungest s;
  // Ages in another order than the slots.
  s.warp_added(5, aged(10));
  s.warp_added(2, aged(30));
  s.warp_added(9, aged(20));
  s.warp_added(0, aged(40));
  CHECK(issue(s, mask({0, 2, 5, 9})) == 0);
  CHECK(issue(s, mask({0, 2, 5, 9})) == 0);
  CHECK(issue(s, mask({2, 5, 9})) == 2);
  CHECK(issue(s, mask({0, 2, 5, 9})) == 2);  // greedy, though 0 is younger
  CHECK(issue(s, mask({5, 9})) == 9);
  CHECK(issue(s, mask({5})) == 5);
  // A pick that is not issued does not make a warp the greedy one.
  CHECK(s.pick(mask({2})) == 2);
  CHECK(s.pick(mask({2, 5})) == 5);
  // A warp that leaves is not greedy any more; its slot's next owner is the youngest.
  s.warp_removed(5);
  s.warp_added(5, aged(50));
  CHECK(issue(s, mask({0, 2, 5, 9})) == 5);
}

namespace {

/// Random warps come, go and issue: the greedy one, otherwise the one that goes before the others by age.
template <class Policy, class Before>
void random_greedy(Before before) {
  Policy s;
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> age(64, 0);  // 0: not there
  int greedy = -1;
  std::uint64_t time = 0;
  for (unsigned step = 0; step < 50000; ++step) {
    const auto warp = static_cast<unsigned>(random() % 64);
    if (random() % 4 == 0) {
      if (age[warp] == 0) {
        // Ages are not always the newest: a CTA may come back.
        age[warp] = ++time * 64 - random() % 640 / 64 * 64 + warp + 1000;
        s.warp_added(warp, aged(age[warp]));
      } else {
        s.warp_removed(warp);
        age[warp] = 0;
        if (greedy == static_cast<int>(warp)) greedy = -1;
      }
    }
    WarpMask there = 0;
    for (unsigned w = 0; w < 64; ++w) there |= age[w] != 0 ? WarpMask{1} << w : 0;
    const WarpMask ready = there & random();
    if (ready == 0) continue;
    int expected = -1;
    if (greedy >= 0 && ((ready >> greedy) & 1) != 0) {
      expected = greedy;
    } else {
      for (unsigned w = 0; w < 64; ++w) {
        if (((ready >> w) & 1) != 0 && (expected < 0 || before(age[w], age[static_cast<unsigned>(expected)]))) {
          expected = static_cast<int>(w);
        }
      }
    }
    REQUIRE(s.pick(ready) == static_cast<unsigned>(expected));
    if (random() % 3 != 0) {
      s.issued(static_cast<unsigned>(expected));
      greedy = expected;
    }
  }
}

}  // namespace

TEST_CASE("gto: random warps come, go and issue as by the definition") {
  random_greedy<models::GreedyThenOldest>(std::less<std::uint64_t>());
}

TEST_CASE("cggty: random warps come, go and issue as by the definition") {
  random_greedy<models::GreedyThenYoungest>(std::greater<std::uint64_t>());
}

TEST_CASE("owf: the lowest class first, within a class the oldest") {
  models::OwnerWarpFirst s;
  const auto add = [&](unsigned warp, std::uint64_t age, unsigned priority_class) {
    protocol::ScheduledWarp w = aged(age);
    w.priority_class = priority_class;
    s.warp_added(warp, w);
  };
  add(0, 1, 2);
  add(1, 2, 1);
  add(2, 3, 0);
  add(3, 4, 0);
  add(4, 5, 1);
  WarpMask ready = mask({0, 1, 2, 3, 4});
  for (const unsigned expected : {2u, 3u, 1u, 4u, 0u}) {
    CHECK(issue(s, ready) == expected);
    CHECK(issue(s, ready) == expected);  // greedy by its rank alone
    ready &= ~mask({expected});
  }
  // Ownership passes on.
  s.class_changed(0, 0);
  CHECK(issue(s, mask({0, 1, 2, 3, 4})) == 0);
  s.class_changed(2, 2);
  CHECK(issue(s, mask({1, 2, 3, 4})) == 3);
  s.warp_removed(3);
  CHECK(issue(s, mask({1, 2, 4})) == 1);
  add(3, 6, 2);
  CHECK(issue(s, mask({2, 3})) == 2);
}

TEST_CASE("owf: without classes, the oldest ready warp") {
  models::OwnerWarpFirst s;
  for (unsigned w = 0; w < 64; ++w) s.warp_added(w, aged(100 - w));
  CHECK(issue(s, mask({0, 3, 63})) == 63);
  CHECK(issue(s, mask({0, 3})) == 3);
  CHECK(issue(s, mask({0, 3, 63})) == 63);
}

TEST_CASE("owf: random warps come, go and change their class as by the definition") {
  models::OwnerWarpFirst s;
  std::mt19937_64 random(7);
  struct Warp {
    std::uint64_t age = 0;
    unsigned priority_class = 0;
  };
  std::vector<Warp> warps(64);
  WarpMask there = 0;
  std::uint64_t age = 0;
  for (unsigned step = 0; step < 20000; ++step) {
    const auto w = static_cast<unsigned>(random() % 64);
    const WarpMask bit = WarpMask{1} << w;
    if ((there & bit) == 0) {
      warps[w] = {++age, static_cast<unsigned>(random() % 3)};
      protocol::ScheduledWarp added = aged(warps[w].age);
      added.priority_class = warps[w].priority_class;
      s.warp_added(w, added);
      there |= bit;
    } else if (random() % 4 == 0) {
      s.warp_removed(w);
      there &= ~bit;
    } else {
      warps[w].priority_class = static_cast<unsigned>(random() % 3);
      s.class_changed(w, warps[w].priority_class);
    }
    const WarpMask ready = there & random();
    if (ready == 0) continue;
    const unsigned picked = issue(s, ready);
    for (unsigned i = 0; i < 64; ++i) {
      if (i == picked || ((ready >> i) & 1) == 0) continue;
      const Warp &p = warps[picked], &other = warps[i];
      REQUIRE(
          (p.priority_class < other.priority_class || (p.priority_class == other.priority_class && p.age < other.age)));
    }
  }
}

TEST_CASE("two_level: active warps issue in turn, the others wait for a place") {
  models::TwoLevel s(2);
  for (unsigned w = 0; w < 4; ++w) s.warp_added(w, aged(10 - w));
  REQUIRE(s.restricts());
  const WarpMask all = mask({0, 1, 2, 3});
  CHECK(s.active() == mask({0, 1}));  // whoever came first
  CHECK(s.eligible(all).warps == mask({0, 1}));
  CHECK(!s.eligible(all).settling);
  CHECK(issue(s, mask({0, 1})) == 0);
  CHECK(issue(s, mask({0, 1})) == 1);
  CHECK(issue(s, mask({0, 1})) == 0);
  // A short wait keeps the place.
  CHECK(s.eligible(mask({2, 3})).warps == 0);
  CHECK(!s.eligible(mask({2, 3})).settling);
  CHECK(s.active() == mask({0, 1}));
}

TEST_CASE("two_level: a long wait gives the place to the oldest ready warp, in a cycle") {
  models::TwoLevel s(2);
  for (unsigned w = 0; w < 4; ++w) s.warp_added(w, aged(10 - w));
  s.long_latency(0, true);
  CHECK(s.active() == mask({1}));
  auto e = s.eligible(mask({1, 2}));
  CHECK(e.warps == mask({1}));  // 2 takes part from the next cycle on
  CHECK(e.settling);
  e = s.eligible(mask({1, 2, 3}));
  CHECK(e.warps == mask({1, 2}));
  CHECK(!e.settling);
  // What it waited for is there: the place is not.
  s.long_latency(0, false);
  CHECK(s.eligible(mask({0, 3})).warps == 0);
  s.long_latency(1, true);
  CHECK(s.eligible(mask({0, 3})).settling);  // 3 is older than 0
  CHECK(s.active() == mask({2, 3}));
  // One place a cycle.
  s.long_latency(2, true);
  s.long_latency(3, true);
  s.long_latency(1, false);
  CHECK(s.eligible(mask({0, 1})).warps == 0);
  CHECK(s.eligible(mask({0, 1})).warps == mask({1}));
  CHECK(s.eligible(mask({0, 1})).warps == mask({0, 1}));
  // A warp that ends leaves its place to a new one.
  s.warp_removed(0);
  s.warp_added(0, aged(99));
  CHECK(s.active() == mask({0, 1}));
}

TEST_CASE("two_level: an active set that holds every warp is a round robin") {
  models::TwoLevel s(64);
  models::LooseRoundRobin round;
  for (unsigned w = 0; w < 64; ++w) {
    s.warp_added(w, aged(w));
    round.warp_added(w, aged(w));
  }
  std::mt19937_64 random(7);
  for (unsigned step = 0; step < 5000; ++step) {
    const WarpMask ready = random() & random();
    if (ready == 0) continue;
    const auto e = s.eligible(ready);
    REQUIRE(e.warps == ready);
    REQUIRE(!e.settling);
    REQUIRE(issue(s, ready) == issue(round, ready));
  }
}

TEST_CASE("two_level: random warps come, go, wait and issue as by the definition") {
  for (unsigned places : {1u, 3u, 8u, 20u}) {
    CAPTURE(places);
    models::TwoLevel s(places);
    std::mt19937_64 random(places);
    struct Slot {
      bool there = false, waits = false, active = false;
      std::uint64_t age = 0;
    };
    std::vector<Slot> slots(64);
    auto active = [&] { return std::count_if(slots.begin(), slots.end(), [](const Slot& w) { return w.active; }); };
    unsigned last = 63;
    std::uint64_t time = 0;
    std::uint64_t exchanges = 0;
    for (unsigned step = 0; step < 50000; ++step) {
      for (unsigned changes = static_cast<unsigned>(random() % 4); changes != 0; --changes) {
        const auto warp = static_cast<unsigned>(random() % 64);
        Slot& w = slots[warp];
        if (!w.there) {
          w = Slot{true, false, active() < static_cast<long>(places), ++time * 64 + random() % 6400 * 64 + warp};
          s.warp_added(warp, aged(w.age));
        } else if (random() % 8 == 0) {
          w = Slot{};
          s.warp_removed(warp);
        } else {
          w.waits = !w.waits;
          if (w.waits) w.active = false;
          s.long_latency(warp, w.waits);
        }
      }
      WarpMask ready = 0, expected = 0;
      int promoted = -1;
      const WarpMask luck = random() | random();
      for (unsigned i = 0; i < 64; ++i) {
        if (!slots[i].there || slots[i].waits || ((luck >> i) & 1) == 0) continue;
        ready |= WarpMask{1} << i;
        if (slots[i].active) {
          expected |= WarpMask{1} << i;
        } else if (promoted < 0 || slots[i].age < slots[static_cast<unsigned>(promoted)].age) {
          promoted = static_cast<int>(i);
        }
      }
      if (ready == 0) continue;
      if (active() == static_cast<long>(places)) promoted = -1;
      const auto e = s.eligible(ready);
      REQUIRE(e.warps == expected);
      REQUIRE(e.settling == (promoted >= 0));
      if (promoted >= 0) {
        slots[static_cast<unsigned>(promoted)].active = true;
        ++exchanges;
      }
      REQUIRE(active() <= static_cast<long>(places));
      if (e.warps == 0) continue;
      unsigned turn = last;
      do turn = (turn + 1) % 64;
      while (((e.warps >> turn) & 1) == 0);
      REQUIRE(s.pick(e.warps) == turn);
      if (random() % 3 != 0) {
        s.issued(turn);
        last = turn;
      }
    }
    CHECK(exchanges > 1000);
  }
}

TEST_CASE("schedulers by name") {
  for (const std::string& name : models::scheduler_names()) CHECK(models::make_scheduler(name) != nullptr);
  CHECK_THROWS_AS(models::make_scheduler("fifo"), std::invalid_argument);
  models::WarpSchedulerConfig none;
  none.active_warps = 0;
  CHECK_THROWS_AS(models::make_scheduler("two_level", none), std::invalid_argument);
}
