// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/cycle_scheduler.h>
#include <regatta/test/catch.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

using regatta::support::CycleClient;
using regatta::support::CycleScheduler;

namespace {

const sc_core::sc_time period(888, sc_core::SC_PS);
constexpr std::uint64_t none = ~std::uint64_t{0};

/// Parts that note when they run.
class Parts {
 public:
  using Run = std::pair<std::uint64_t, unsigned>;  ///< cycle, part
  std::vector<Run> runs;
  std::function<void(unsigned)> also = [](unsigned) {};  ///< what a part does when it runs

  void add() {
    parts_.push_back({this, static_cast<unsigned>(parts_.size())});
    clients.push_back(std::make_unique<CycleClient>(
        period,
        [](void* p) {
          const Part& part = *static_cast<Part*>(p);
          part.owner->runs.emplace_back(CycleScheduler::of(period).now(), part.index);
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

TEST_CASE("cycle scheduler: parts run in their cycle, in the order they were made") {
  Parts p;
  for (unsigned i = 0; i < 4; ++i) p.add();
  p.clients[3]->request(5);
  p.clients[1]->request(5);
  p.clients[2]->request(3);
  until(10);
  CHECK(p.runs == Runs{{3, 2}, {5, 1}, {5, 3}});
  CHECK(CycleScheduler::of(period).now() == 10);
  CHECK(CycleScheduler::of(period).cycles_run() == 2);
  CHECK(CycleScheduler::of(period).activations() == 3);
}

TEST_CASE("cycle scheduler: the earliest request counts, and is used up") {
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

TEST_CASE("cycle scheduler: requests far away, and after a long silence") {
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

TEST_CASE("cycle scheduler: a part that is gone does not run") {
  Parts p;
  p.add();
  p.add();
  p.clients[0]->request(5);
  p.clients[1]->request(5);
  p.clients[0].reset();
  until(10);
  CHECK(p.runs == Runs{{5, 1}});
}

TEST_CASE("cycle scheduler: run ahead of SystemC's time, no further than the quantum and the next other event") {
  Parts p;
  p.add();
  CycleScheduler& s = CycleScheduler::of(period);
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

TEST_CASE("cycle scheduler: a part that yields ends the run ahead, and a pause keeps the cycle") {
  Parts p;
  p.add();
  CycleScheduler& s = CycleScheduler::of(period);
  s.set_quantum(1000);
  p.also = [&](unsigned) {
    p.clients[0]->request(s.now() + 1);
    if (s.now() != 5) return;
    s.yield();
    sc_core::sc_pause();
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
  CycleScheduler& scheduler = CycleScheduler::of(period);
  scheduler.set_quantum(quantum);
  const CycleScheduler::Probe probe =
      scheduler.add_probe(10, [&](std::uint64_t cycle) { seen.emplace_back(cycle, p.runs.size()); });
  p.also = [&](unsigned) {
    if (scheduler.now() == 10) p.clients[0]->request(20);
    if (scheduler.now() == 20) p.clients[0]->request(45);
  };
  p.clients[0]->request(10);
  until(60);
  const std::vector<std::pair<std::uint64_t, std::size_t>> expected{{10, 1}, {20, 2}, {30, 2}, {40, 2}};
  CHECK(seen == expected);
  CHECK(p.runs == Runs{{10, 0}, {20, 0}, {45, 0}});
  scheduler.catch_up();
  REQUIRE(seen.size() == 6);
  CHECK(seen[5] == std::make_pair(std::uint64_t{60}, std::size_t{3}));
  scheduler.remove_probe(probe);
  p.clients[0]->request(100);
  until(110);
  CHECK(seen.size() == 6);
}

}  // namespace

TEST_CASE("cycle scheduler: a probe sees what has run by its cycles, and wakes nobody") { probe_sees_what_has_run(1); }

TEST_CASE("cycle scheduler: a probe does so ahead of SystemC's time, too") { probe_sees_what_has_run(100); }

TEST_CASE("cycle scheduler: several probes, in the order of cycles and then of their addition") {
  Parts p;
  p.add();
  CycleScheduler& scheduler = CycleScheduler::of(period);
  std::vector<std::pair<unsigned, std::uint64_t>> seen;
  const CycleScheduler::Probe tens = scheduler.add_probe(10, [&](std::uint64_t c) { seen.emplace_back(1, c); });
  const CycleScheduler::Probe fives = scheduler.add_probe(5, [&](std::uint64_t c) { seen.emplace_back(2, c); });
  p.clients[0]->request(22);
  until(30);
  using Seen = std::vector<std::pair<unsigned, std::uint64_t>>;
  CHECK(seen == Seen{{2, 5}, {1, 10}, {2, 10}, {2, 15}, {1, 20}, {2, 20}});
  scheduler.remove_probe(fives);
  scheduler.catch_up();
  CHECK(seen.back() == std::make_pair(1U, std::uint64_t{30}));
  scheduler.remove_probe(tens);
  p.clients[0]->request(50);
  until(60);
  CHECK(seen.size() == 7);
}

TEST_CASE("cycle scheduler: a request that is taken back runs nobody and takes no time") {
  Parts p;
  p.add();
  p.add();
  CycleScheduler& scheduler = CycleScheduler::of(period);
  for (const std::uint64_t at : {std::uint64_t{7}, std::uint64_t{1023}, std::uint64_t{1024}, std::uint64_t{5000}}) {
    p.clients[0]->request(scheduler.now() + at);
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
    if (scheduler.now() != 10) return;
    p.clients[0]->cancel();  // in the middle of a cycle
    p.clients[0]->request(12);
  };
  until(3000);
  CHECK(p.runs == Runs{{10, 1}, {12, 0}});
  CHECK_FALSE(sc_core::sc_pending_activity());
}

TEST_CASE("cycle scheduler: time") {
  CycleScheduler& s = CycleScheduler::of(period);
  CHECK(&s == &CycleScheduler::of(period));
  CHECK(&s != &CycleScheduler::of(sc_core::sc_time(1, sc_core::SC_NS)));
  for (const std::uint64_t cycles : {0, 1, 1023, 1024, 5000000}) {
    CHECK(s.time(cycles).value() == cycles * period.value());
  }
}

TEST_CASE("cycle scheduler: random requests from inside and outside against the definition") {
  Parts p;
  constexpr unsigned count = 200;  // more than three words of parts
  for (unsigned i = 0; i < count; ++i) p.add();
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> next(count, none);  // what should happen
  CycleScheduler& s = CycleScheduler::of(period);
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
