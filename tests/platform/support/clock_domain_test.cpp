// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/clock_domain.h>
#include <regatta/test/catch.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

using regatta::support::ClockDomain;
using regatta::support::CycleClient;

namespace {

const sc_core::sc_time period(888, sc_core::SC_PS);
constexpr std::uint64_t none = ~std::uint64_t{0};

/// Parts that note when they run.
class Parts {
 public:
  ClockDomain clock{"clock", period};
  using Run = std::pair<std::uint64_t, unsigned>;  ///< cycle, part
  std::vector<Run> runs;
  std::function<void(unsigned)> also = [](unsigned) {};  ///< what a part does when it runs

  void add() {
    parts_.push_back({this, static_cast<unsigned>(parts_.size())});
    clients.push_back(std::make_unique<CycleClient>(
        clock,
        [](void* p) {
          const Part& part = *static_cast<Part*>(p);
          part.owner->runs.emplace_back(part.owner->clock.now(), part.index);
          part.owner->also(part.index);
        },
        &parts_.back()));
  }
  std::vector<std::unique_ptr<CycleClient>> clients;

 private:
  struct Part {
    Parts* owner;
    unsigned index;
  };
  std::deque<Part> parts_;
};

void until(std::uint64_t cycle) {
  const sc_core::sc_time at = sc_core::sc_time::from_value(cycle * period.value());
  sc_core::sc_start(at - sc_core::sc_time_stamp());
}

using Runs = std::vector<Parts::Run>;

}  // namespace

TEST_CASE("clock domain: parts run in their cycle, in the order they were made") {
  Parts p;
  for (unsigned i = 0; i < 4; ++i) p.add();
  p.clients[3]->request(5);
  p.clients[1]->request(5);
  p.clients[2]->request(3);
  until(10);
  CHECK(p.runs == Runs{{3, 2}, {5, 1}, {5, 3}});
  CHECK(p.clock.now() == 10);
  CHECK(p.clock.cycles_run() == 2);
  CHECK(p.clock.activations() == 3);
}

TEST_CASE("clock domain: the earliest request counts, and is used up") {
  Parts p;
  p.add();
  p.add();
  p.clients[0]->request(20);
  p.clients[0]->request(8);
  p.clients[0]->request(12);  // later than 8: not needed
  p.clients[1]->request(3000);
  p.clients[1]->request(9);
  until(4000);
  CHECK(p.runs == Runs{{8, 0}, {9, 1}});
  p.clients[0]->request(4000, 3990);  // the past: the next cycle
  until(4100);
  CHECK(p.runs.back() == Parts::Run{4001, 0});
}

TEST_CASE("clock domain: requests far away, and after a long silence") {
  Parts p;
  p.add();
  p.add();
  p.clients[0]->request(1023);
  p.clients[1]->request(1024);
  until(1100);
  p.clients[0]->request(100000);
  p.clients[1]->request(100000);
  until(100001);
  p.clients[1]->request(100002);
  p.clients[0]->request(101500);
  until(200000);
  p.clients[0]->request(200001);
  until(200100);
  CHECK(p.runs == Runs{{1023, 0}, {1024, 1}, {100000, 0}, {100000, 1}, {100002, 1}, {101500, 0}, {200001, 0}});
}

TEST_CASE("clock domain: a part that is gone does not run") {
  Parts p;
  p.add();
  p.add();
  p.clients[0]->request(5);
  p.clients[1]->request(5);
  p.clients[0].reset();
  until(10);
  CHECK(p.runs == Runs{{5, 1}});
}

TEST_CASE("clock domain: run ahead of SystemC's time, no further than the quantum and the next other event") {
  Parts p;
  p.add();
  ClockDomain& s = p.clock;
  std::vector<std::uint64_t> lag;  // of SystemC's time behind each run, in cycles
  p.also = [&](unsigned) {
    lag.push_back(s.now() - sc_core::sc_time_stamp().value() / period.value());
    if (s.now() < 12) p.clients[0]->request(s.now() + 1);
  };
  s.set_quantum(4);
  sc_core::sc_event other;
  p.clients[0]->request(2);
  other.notify(sc_core::sc_time::from_value(8 * period.value()));
  until(100);
  s.set_quantum(1);
  CHECK(p.runs.size() == 11);
  // 2 to 5 in one activation; then 6 and 7, because something else is due at 8; then by fours again.
  CHECK(lag == std::vector<std::uint64_t>{0, 1, 2, 3, 0, 1, 0, 1, 2, 3, 0});
  CHECK(s.now() == 100);
}

TEST_CASE("clock domain: a part that pauses ends the run ahead, and keeps the cycle") {
  Parts p;
  p.add();
  ClockDomain& s = p.clock;
  s.set_quantum(1000);
  p.also = [&](unsigned) {
    p.clients[0]->request(s.now() + 1);
    if (s.now() != 5) return;
    s.pause();
  };
  p.clients[0]->request(3);
  until(50);
  CHECK(s.now() == 5);
  CHECK(p.runs == Runs{{3, 0}, {4, 0}, {5, 0}});
  p.also = [](unsigned) {};
  until(50);
  s.set_quantum(1);
  CHECK(p.runs.back() == Parts::Run{6, 0});
}

namespace {

void probe_sees_what_has_run(std::uint64_t quantum) {
  Parts p;
  p.add();
  std::vector<std::pair<std::uint64_t, std::size_t>> seen;  // cycle, runs by then
  ClockDomain& clock = p.clock;
  clock.set_quantum(quantum);
  const ClockDomain::Probe probe =
      clock.add_probe(10, [&](std::uint64_t cycle) { seen.emplace_back(cycle, p.runs.size()); });
  p.also = [&](unsigned) {
    if (clock.now() == 10) p.clients[0]->request(20);
    if (clock.now() == 20) p.clients[0]->request(45);
  };
  p.clients[0]->request(10);
  until(60);
  const std::vector<std::pair<std::uint64_t, std::size_t>> expected{{10, 1}, {20, 2}, {30, 2}, {40, 2}};
  CHECK(seen == expected);
  CHECK(p.runs == Runs{{10, 0}, {20, 0}, {45, 0}});
  clock.catch_up();
  REQUIRE(seen.size() == 6);
  CHECK(seen[5] == std::make_pair(std::uint64_t{60}, std::size_t{3}));
  clock.remove_probe(probe);
  p.clients[0]->request(100);
  until(110);
  CHECK(seen.size() == 6);
}

}  // namespace

TEST_CASE("clock domain: a probe sees what has run by its cycles, and wakes nobody") { probe_sees_what_has_run(1); }

TEST_CASE("clock domain: a probe does so ahead of SystemC's time, too") { probe_sees_what_has_run(100); }

TEST_CASE("clock domain: several probes, in the order of cycles and then of their addition") {
  Parts p;
  p.add();
  ClockDomain& clock = p.clock;
  std::vector<std::pair<unsigned, std::uint64_t>> seen;
  const ClockDomain::Probe tens = clock.add_probe(10, [&](std::uint64_t c) { seen.emplace_back(1, c); });
  const ClockDomain::Probe fives = clock.add_probe(5, [&](std::uint64_t c) { seen.emplace_back(2, c); });
  p.clients[0]->request(22);
  until(30);
  using Seen = std::vector<std::pair<unsigned, std::uint64_t>>;
  CHECK(seen == Seen{{2, 5}, {1, 10}, {2, 10}, {2, 15}, {1, 20}, {2, 20}});
  clock.remove_probe(fives);
  clock.catch_up();
  CHECK(seen.back() == std::make_pair(1U, std::uint64_t{30}));
  clock.remove_probe(tens);
  p.clients[0]->request(50);
  until(60);
  CHECK(seen.size() == 7);
}

TEST_CASE("clock domain: a request that is taken back runs nobody and takes no time") {
  Parts p;
  p.add();
  p.add();
  ClockDomain& clock = p.clock;
  for (const std::uint64_t at : {std::uint64_t{7}, std::uint64_t{1023}, std::uint64_t{1024}, std::uint64_t{5000}}) {
    p.clients[0]->request(clock.now() + at);
    CHECK(sc_core::sc_pending_activity());
    p.clients[0]->cancel();
    CHECK_FALSE(sc_core::sc_pending_activity());
    p.clients[0]->cancel();  // there is none
  }
  // Another's request of the same cycle, and a later one, stay.
  p.clients[0]->request(10);
  p.clients[1]->request(10);
  p.clients[0]->cancel();
  p.clients[0]->request(2000);
  p.also = [&](unsigned) {
    if (clock.now() != 10) return;
    p.clients[0]->cancel();  // in the middle of a cycle
    p.clients[0]->request(12);
  };
  until(3000);
  CHECK(p.runs == Runs{{10, 1}, {12, 0}});
  CHECK_FALSE(sc_core::sc_pending_activity());
}

TEST_CASE("clock domain: time") {
  ClockDomain s("clock", period);
  for (const std::uint64_t cycles : {0, 1, 1023, 1024, 5000000}) {
    CHECK(s.time(cycles).value() == cycles * period.value());
  }
}

TEST_CASE("clock domain: random requests from inside and outside against the definition") {
  Parts p;
  constexpr unsigned count = 200;  // more than three words of parts
  for (unsigned i = 0; i < count; ++i) p.add();
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> next(count, none);  // what should happen
  ClockDomain& s = p.clock;
  auto ask = [&](unsigned part) {
    const std::uint64_t reach[] = {1, 2, 30, 1000, 1023, 1025, 5000};
    const std::uint64_t at = s.now() + 1 + random() % reach[random() % 7];
    p.clients[part]->request(at);
    next[part] = std::min(next[part], at);
  };
  std::uint64_t last_cycle = 0;
  unsigned last_part = 0;
  std::uint64_t activations = 0;
  p.also = [&](unsigned part) {
    // Its turn now, nobody's turn before it missed, and in order within the cycle.
    REQUIRE(next[part] == s.now());
    for (unsigned i = 0; i < count; ++i) REQUIRE((next[i] > s.now() || (next[i] == s.now() && i >= part)));
    if (last_cycle == s.now()) REQUIRE(part > last_part);
    last_cycle = s.now();
    last_part = part;
    next[part] = none;
    ++activations;
    if (random() % 8 != 0) ask(part);
    if (random() % 4 == 0) ask(static_cast<unsigned>(random() % count));
  };
  for (unsigned round = 0; round < 300; ++round) {
    for (unsigned n = 0; n < 5; ++n) ask(static_cast<unsigned>(random() % count));
    until(s.now() + 1 + random() % (round % 10 == 0 ? 6000 : 200));
    // What is due in the very cycle at which sc_start() ends runs first thing in the next one.
    for (unsigned i = 0; i < count; ++i) REQUIRE(next[i] >= s.now());
  }
  CHECK(activations > 10000);
  CHECK(s.activations() == activations);
}

TEST_CASE("clock domain: two of one program share nothing, whatever their periods") {
  ClockDomain slow("slow", sc_core::sc_time(3, sc_core::SC_NS));
  ClockDomain fast("fast", sc_core::sc_time(1, sc_core::SC_NS));
  ClockDomain other("other", sc_core::sc_time(1, sc_core::SC_NS));
  using Run = std::pair<std::string, std::uint64_t>;  // domain, nanosecond
  struct Part {
    ClockDomain& clock;
    std::vector<Run>& runs;
    CycleClient client{clock, [](void* p) { static_cast<Part*>(p)->run(); }, this};
    void run() {
      runs.emplace_back(clock.name(), sc_core::sc_time_stamp().value() / sc_core::sc_time(1, sc_core::SC_NS).value());
      if (clock.now() < 8) client.request(clock.now() + 4);
    }
  };
  std::vector<Run> runs;
  Part a{slow, runs}, b{fast, runs};
  a.client.request(4);
  b.client.request(4);
  sc_core::sc_start(sc_core::sc_time(100, sc_core::SC_NS));
  CHECK(runs == std::vector<Run>{{"fast", 4}, {"fast", 8}, {"slow", 12}, {"slow", 24}});
  CHECK(slow.cycles_run() == 2);
  CHECK(fast.cycles_run() == 2);
  CHECK(other.cycles_run() == 0);
  CHECK(other.now() == 100);
  CHECK(slow.now() == 33);
}

TEST_CASE("clock domain: it can begin anew, at any time, until something is due") {
  Parts p;
  p.add();
  std::vector<std::uint64_t> seen;
  p.clock.add_probe(10, [&](std::uint64_t cycle) { seen.push_back(cycle); });
  sc_core::sc_start(sc_core::sc_time(50 * 888 + 1, sc_core::SC_PS));
  CHECK(p.clock.now() == 50);
  CHECK_FALSE(p.clock.on_cycle());
  p.clock.catch_up();
  seen.clear();
  p.clock.restart();
  CHECK(p.clock.now() == 0);
  CHECK(p.clock.on_cycle());
  CHECK(p.clock.origin() == sc_core::sc_time(50 * 888 + 1, sc_core::SC_PS));
  p.clients[0]->request(15);
  CHECK_THROWS_WITH(p.clock.restart(), Catch::Contains("clock: restarted while parts are due"));
  sc_core::sc_start(20 * period);
  CHECK(p.runs == Runs{{15, 0}});
  CHECK(p.clock.now() == 20);
  CHECK(seen == std::vector<std::uint64_t>{10});
}

TEST_CASE("clock domain: a period of nothing is refused") {
  CHECK_THROWS_WITH(ClockDomain("still", sc_core::SC_ZERO_TIME), Catch::Contains("a clock's period must not be zero"));
}
