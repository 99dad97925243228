// SPDX-License-Identifier: Apache-2.0
//
// Branches of a clock domain that talk to its own parts, against a loop over all cycles.
#include <regatta/support/clock_windows.h>
#include <regatta/support/cycle_event.h>
#include <regatta/test/catch.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace clock_windows {

using regatta::support::ClockBoundary;
using regatta::support::ClockDomain;
using regatta::support::ClockWindows;
using regatta::support::CycleClient;
using regatta::support::CycleEvent;

namespace {

const sc_core::sc_time period(888, sc_core::SC_PS);
constexpr std::uint64_t last_cycle = 3000, wires = 8;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9e3779b97f4a7c15 + b + 0x632be59bd9b4e019;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  return z ^ (z >> 27);
}

struct Message {
  std::uint64_t cycle = 0;  ///< sent, or of its arrival
  unsigned from = 0;
  std::uint64_t value = 0;
};

/// What a node does in a cycle, whoever calls it.
struct Node {
  std::uint64_t state = 0;
  std::uint64_t own_next = 1;                      ///< cycle
  std::multimap<std::uint64_t, std::uint64_t> in;  ///< by arrival

  std::uint64_t next() const { return in.empty() ? own_next : std::min(own_next, in.begin()->first); }
  /// Returns whether it wants a ticket; `send` is called for a message to the hub.
  template <class Send>
  bool step(std::uint64_t now, Send&& send) {
    for (; !in.empty() && in.begin()->first == now; in.erase(in.begin())) state = mix(state, in.begin()->second);
    state = mix(state, now);
    if (state % 3 == 0) send(state);
    own_next = now + 1 + (state >> 8) % (state % 11 == 1 ? 50 : 7);
    return state % 5 == 0;
  }
  void take(std::uint64_t ticket) { state = mix(state, ticket); }
};

/// Answers each message to some node.
struct Hub {
  std::uint64_t state = 0;
  /// {node, arrival, value}
  std::tuple<unsigned, std::uint64_t, std::uint64_t> answer(const Message& m, std::uint64_t now, unsigned nodes) {
    state = mix(mix(state, m.value), m.from);
    return {static_cast<unsigned>((state >> 20) % nodes), now + wires + (state >> 32) % 5, state};
  }
};

using Result = std::vector<std::uint64_t>;

/// Every node in every cycle, then the hub.
Result by_cycles(unsigned count) {
  std::vector<Node> nodes(count);
  for (unsigned i = 0; i < count; ++i) nodes[i].state = i;
  Hub hub;
  std::uint64_t tickets = 0;
  for (std::uint64_t now = 1; now <= last_cycle; ++now) {
    std::vector<Message> sent;
    for (unsigned i = 0; i < count; ++i) {
      Node& n = nodes[i];
      if (n.next() != now) continue;
      if (n.step(now, [&](std::uint64_t value) { sent.push_back({now, i, value}); })) n.take(++tickets);
    }
    for (const Message& m : sent) {
      const auto [to, arrival, value] = hub.answer(m, now, count);
      nodes[to].in.emplace(arrival, value);
    }
  }
  Result result{hub.state, tickets};
  for (const Node& n : nodes) result.push_back(n.state);
  return result;
}

/// The same as parts of a clock domain.
class Machine : public ClockBoundary {
 public:
  Machine(unsigned count, std::uint64_t cycles, unsigned threads, std::uint64_t hold_up) {
    for (unsigned i = 0; i < count; ++i) {
      parts_.emplace_back(*this, i);
      parts_.back().node.state = i;
    }
    windows_ = std::make_unique<ClockWindows>(trunk_, *this, cycles, threads);
    windows_->hold_up(hold_up);
    trunk_.set_quantum(500);
    CHECK(windows_->threads() == std::min(threads, count));
  }
  std::uint64_t lookahead() const override { return wires; }
  void exchange() override {
    for (Part& part : parts_) {
      for (const Message& m : std::exchange(part.sent, {})) {
        REQUIRE(m.cycle > last_);
        due_.push_back(m);
      }
    }
    for (const auto& [to, arrival, value] : answers_) {
      parts_[to].node.in.emplace(arrival, value);
      if (arrival <= last_cycle) parts_[to].client.request(arrival);
    }
    answers_.clear();
    std::sort(due_.begin(), due_.end(),
              [](const Message& a, const Message& b) { return std::tie(a.cycle, a.from) < std::tie(b.cycle, b.from); });
    if (!due_.empty()) client_.request(due_.front().cycle);
  }
  Result run() {
    for (Part& part : parts_) part.client.request(part.node.next());
    sc_core::sc_start(sc_core::sc_time::from_value((last_cycle + 600) * period.value()));
    Result result{hub_.state, tickets_};
    for (const Part& part : parts_) result.push_back(part.node.state);
    return result;
  }
  const ClockWindows& windows() const { return *windows_; }

 private:
  struct Part {
    Part(Machine& m, unsigned i)
        : machine(m),
          index(i),
          clock(("branch" + std::to_string(i)).c_str(), m.trunk_),
          client(
              clock, [](void* p) { static_cast<Part*>(p)->work(); }, this) {}
    void work() {
      const std::uint64_t now = clock.now();
      const bool wants = node.step(now, [&](std::uint64_t value) { sent.push_back({now, index, value}); });
      if (wants) {
        clock.in_order([](void* p) { static_cast<Part*>(p)->take(); }, this);
      } else {
        go_on();
      }
    }
    void take() {
      node.take(++machine.tickets_);
      go_on();
    }
    void go_on() {
      if (node.next() <= last_cycle) client.request(node.next());
    }
    Machine& machine;
    unsigned index;
    ClockDomain clock;
    CycleClient client;
    Node node;
    std::vector<Message> sent;
  };
  void work() {
    const std::uint64_t now = trunk_.now();
    last_ = now;
    std::size_t taken = 0;
    for (; taken != due_.size() && due_[taken].cycle == now; ++taken) {
      answers_.push_back(hub_.answer(due_[taken], now, static_cast<unsigned>(parts_.size())));
    }
    due_.erase(due_.begin(), due_.begin() + static_cast<std::ptrdiff_t>(taken));
    if (!due_.empty()) client_.request(due_.front().cycle);
  }

  ClockDomain trunk_{"trunk", period};
  CycleClient client_{trunk_, [](void* m) { static_cast<Machine*>(m)->work(); }, this};
  std::deque<Part> parts_;
  std::unique_ptr<ClockWindows> windows_;
  std::vector<Message> due_;
  std::vector<std::tuple<unsigned, std::uint64_t, std::uint64_t>> answers_;
  std::uint64_t last_ = 0;  ///< cycle in which the hub has worked
  Hub hub_;
  std::uint64_t tickets_ = 0;
};

void check(unsigned count, std::uint64_t cycles, unsigned threads, std::uint64_t hold_up = 0) {
  Machine machine(count, cycles, threads, hold_up);
  const Result expected = by_cycles(count);
  CHECK(expected[1] > count * 20);  // tickets: there is an order to keep
  CHECK(machine.run() == expected);
  const std::uint64_t most = threads > 1 ? wires / 2 : wires;
  const std::uint64_t size = cycles == 0 ? most : std::min(cycles, most);
  CHECK(machine.windows().windows() >= last_cycle / size / 2);
  CHECK(machine.windows().windows() <= last_cycle / size + last_cycle / 500 + 2);
}

}  // namespace

TEST_CASE("clock windows: a cycle at a time") { check(7, 1, 1); }
TEST_CASE("clock windows: windows of three cycles") { check(7, 3, 1); }
TEST_CASE("clock windows: as many cycles as the boundary allows") { check(7, 0, 1); }
TEST_CASE("clock windows: more cycles than the boundary allows") { check(7, 100, 1); }
TEST_CASE("clock windows: more branches than a machine word has bits") { check(70, 0, 1); }
TEST_CASE("clock windows: two threads") { check(9, 0, 2); }
TEST_CASE("clock windows: more threads than branches") { check(3, 0, 5); }
TEST_CASE("clock windows: threads that are held up") { check(9, 0, 4, 3); }

TEST_CASE("clock windows: a probe sees all of its cycle and nothing later") {
  struct None : ClockBoundary {
    std::uint64_t lookahead() const override { return wires; }
    void exchange() override {}
  } boundary;
  ClockDomain trunk("trunk", period);
  ClockDomain branch("branch", trunk);
  struct Part {
    ClockDomain& clock;
    std::vector<std::uint64_t> runs;
    CycleClient client{clock, [](void* p) { static_cast<Part*>(p)->work(); }, this};
    void work() {
      runs.push_back(clock.now());
      if (clock.now() < 40) client.request(clock.now() + 1);
    }
  } part{branch, {}};
  ClockWindows windows(trunk, boundary, 0, 1);
  trunk.set_quantum(100);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;  // cycle, the last run by then
  // Of a branch: it is the trunk's.
  const ClockDomain::Probe probe =
      branch.add_probe(10, [&](std::uint64_t cycle) { seen.emplace_back(cycle, part.runs.back()); });
  part.client.request(1);
  sc_core::sc_start(sc_core::sc_time::from_value(60 * period.value()));
  trunk.catch_up();
  branch.remove_probe(probe);
  CHECK(part.runs.size() == 40);
  CHECK(seen == decltype(seen){{10, 10}, {20, 20}, {30, 30}, {40, 40}, {50, 40}, {60, 40}});
}

TEST_CASE("clock windows: what a part of a branch throws comes out, that of the earliest cycle first") {
  struct None : ClockBoundary {
    std::uint64_t lookahead() const override { return wires; }
    void exchange() override {}
  } boundary;
  ClockDomain trunk("trunk", period);
  ClockDomain first("first", trunk), second("second", trunk);
  struct Part {
    ClockDomain& clock;
    CycleClient client{clock, [](void* p) { static_cast<Part*>(p)->work(); }, this};
    void work() { SC_REPORT_ERROR("test", ("cycle " + std::to_string(clock.now())).c_str()); }
  } a{first}, b{second};
  ClockWindows windows(trunk, boundary, 0, 2);
  a.client.request(9);
  b.client.request(7);
  CHECK_THROWS_WITH(sc_core::sc_start(sc_core::sc_time::from_value(60 * period.value())),
                    Catch::Matchers::Contains("cycle 7"));
}

TEST_CASE("cycle event: subscribers are told once, at the end of the cycle, and may notify others") {
  ClockDomain clock("clock", period);
  CycleEvent first("first", &clock), second("second", &clock);
  std::string log;
  struct Part {
    ClockDomain& clock;
    CycleEvent& event;
    std::string& log;
    char name;
    CycleClient client{clock, [](void* p) { static_cast<Part*>(p)->work(); }, this};
    void work() {
      event.notify();
      event.notify();
      log += name;
    }
  } a{clock, first, log, 'a'}, b{clock, first, log, 'b'};
  first.subscribe([&] {
    log += "1@" + std::to_string(clock.now()) + " ";
    second.notify();
  });
  second.subscribe([&] { log += "2 "; });
  a.client.request(4);
  b.client.request(4);
  sc_core::sc_start(sc_core::sc_time::from_value(10 * period.value()));
  CHECK(log == "ab1@4 2 ");
  CHECK(CycleEvent::of(first) == &first);
  const sc_core::sc_event other;
  CHECK(CycleEvent::of(other) == nullptr);
}

TEST_CASE("cycle event: between cycles it is an event of SystemC") {
  ClockDomain clock("clock", period);
  CycleEvent event("event", &clock);
  struct Listener : sc_core::sc_module {
    SC_HAS_PROCESS(Listener);
    Listener(const sc_core::sc_module_name& name, const sc_core::sc_event& event) : sc_module(name) {
      SC_METHOD(hear);
      sensitive << event;
      dont_initialize();
    }
    void hear() { ++heard; }
    unsigned heard = 0;
  } listener("listener", event);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  event.notify();
  sc_core::sc_start(period);
  CHECK(listener.heard == 1);
}

}  // namespace clock_windows
