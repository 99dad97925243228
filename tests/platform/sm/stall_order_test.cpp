// SPDX-License-Identifier: Apache-2.0
//
// Which reason a scheduler-cycle is charged to when several hold: against a model that knows the warps' states and the
// order of reasons, and by hand where gates, collector units and policies refuse at the same time.
#include "recorder.h"

#include <regatta/support/clock_domain.h>
#include <regatta/test/clock.h>

#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>

using namespace regatta;
using protocol::Stall;
using protocol::WarpState;
using test::TraceBuilder;
using trace::MemorySpace;
using trace::OpClass;

namespace {

const sc_core::sc_time clock_period = assembly::MachineConfig{}.clock_period();
std::uint64_t cycle_now() { return test::machine_clock().now(); }

/// What scheduler 0 was charged with, cycle by cycle.
class Charges : public protocol::Observer {
 public:
  explicit Charges(std::map<std::uint64_t, Stall>& by_cycle) : by_cycle_(by_cycle) {}
  std::vector<protocol::Event> interests() const override { return {protocol::Event::cycles}; }
  void cycles(protocol::Cycle from, std::uint64_t count, const std::vector<Stall>& stalls) override {
    for (std::uint64_t c = 0; c < count; ++c) by_cycle_[from.value() + c] = stalls[0];
  }

 private:
  std::map<std::uint64_t, Stall>& by_cycle_;
};

/// States of the warps of each scheduler (by slot, as they are dealt), and the first reason that one of them gives.
class Model : public protocol::Observer {
 public:
  struct Found {
    std::uint64_t wrong = 0, checked = 0;
    std::string first;
    std::set<std::pair<WarpState, WarpState>> together;  ///< while nothing was ready
  };
  Model(unsigned schedulers, Found& found) : states_(schedulers), found_(found) {}
  std::vector<protocol::Event> interests() const override {
    return {protocol::Event::cycles, protocol::Event::warp_state, protocol::Event::warp_finished};
  }
  void warp_state(protocol::Cycle, const protocol::WarpInfo& w, WarpState s) override {
    states_[w.warp.value() % states_.size()][w.warp.value()] = s;
  }
  void warp_finished(protocol::Cycle, const protocol::WarpInfo& w) override {
    states_[w.warp.value() % states_.size()].erase(w.warp.value());
  }
  void cycles(protocol::Cycle from, std::uint64_t count, const std::vector<Stall>& stalls) override {
    for (std::size_t s = 0; s < stalls.size(); ++s) {
      if (stalls[s] == Stall::none) continue;  // its warps' states have changed since
      std::set<WarpState> there;
      for (const auto& [warp, state] : states_[s]) there.insert(state);
      found_.checked += count;
      if (right(there, stalls[s])) continue;
      if (found_.wrong++ == 0) {
        found_.first = std::string(protocol::to_string(stalls[s])) + " in cycle " + std::to_string(from.value());
      }
    }
  }

 private:
  bool right(const std::set<WarpState>& there, Stall charged) {
    if (there.count(WarpState::ready) != 0) return protocol::is_structural(charged);
    static const std::pair<WarpState, Stall> order[] = {{WarpState::scoreboard, Stall::scoreboard},
                                                        {WarpState::instruction_fetch, Stall::instruction_fetch},
                                                        {WarpState::memory, Stall::memory},
                                                        {WarpState::barrier, Stall::barrier}};
    for (const auto& [state, reason] : order) {
      if (there.count(state) == 0) continue;
      for (const WarpState other : there) found_.together.emplace(state, other);
      return charged == reason;
    }
    return charged == Stall::idle;
  }
  std::vector<std::map<unsigned, WarpState>> states_;
  Found& found_;
};

TraceBuilder mixed_kernel(unsigned seed) {
  std::mt19937 random(seed);
  TraceBuilder b;
  const auto reg = [&] { return static_cast<unsigned>(random() % 12); };
  for (unsigned i = 0; i < 120; ++i) {
    switch (random() % 8) {
      case 0:
        b.load(MemorySpace::global, reg(), reg());
        break;
      case 1:
        b.barrier();
        break;
      case 2:
        b.branch(static_cast<std::uint32_t>(b.kernel().instructions.size() + 1));
        break;
      case 3:
        b.store(MemorySpace::global, reg(), reg());
        break;
      case 4:
        b.fence();
        break;
      default:
        b.op(random() % 3 == 0 ? OpClass::sfu : OpClass::int_add, {reg()}, {reg(), reg()});
    }
  }
  b.exit();
  b.launch(8, 192);
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < 64; ++lane) addresses.push_back(0x1000 + 4 * (random() % 4000));
  b.run_all(addresses);
  return b;
}

void check_order_of_reasons(const std::string& name, unsigned seed, const std::string& policy, unsigned schedulers) {
  TraceBuilder b = mixed_kernel(seed);
  assembly::MachineConfig m;
  m.sm.scheduler = policy;
  m.sm.schedulers = schedulers;
  m.sm.sp_units = m.sm.sfu_units = schedulers;
  m.sm.collectors = 2;
  Model::Found found;
  test::record(b, name, m, [&](assembly::SmParts& parts) {
    parts.observers.push_back(std::make_unique<Model>(schedulers, found));
  });
  INFO(found.first);
  CHECK(found.wrong == 0);
  CHECK(found.checked > 1000);
  if (schedulers != 1) return;
  // The order of each pair was put to the test, by warps of one scheduler that wait for different things.
  for (const auto& pair :
       {std::pair{WarpState::scoreboard, WarpState::instruction_fetch},
        std::pair{WarpState::scoreboard, WarpState::memory}, std::pair{WarpState::scoreboard, WarpState::barrier},
        std::pair{WarpState::instruction_fetch, WarpState::memory},
        std::pair{WarpState::instruction_fetch, WarpState::barrier},
        std::pair{WarpState::memory, WarpState::barrier}}) {
    CAPTURE(protocol::to_string(pair.first), protocol::to_string(pair.second));
    CHECK(found.together.count(pair) == 1);
  }
}

/// Refuses what `refuses` says, and has the SM ask again in every cycle.
class Refusing : public protocol::IssueGate, public protocol::GateReporter {
 public:
  using Rule = std::function<bool(const protocol::DynamicInstruction&, std::uint64_t now)>;
  explicit Refusing(Rule refuses) : refuses_(std::move(refuses)) {}
  bool keeps_cycle_time() const override { return true; }
  void connect(protocol::GateListener& listener) override { listener_ = &listener; }
  bool may_issue(const protocol::DynamicInstruction& d) override {
    if (!refuses_(d, cycle_now())) return true;
    listener_->reconsider(protocol::Cycle(cycle_now() + 1));
    return false;
  }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  Rule refuses_;
  protocol::GateListener* listener_ = nullptr;
  sc_core::sc_event changed_{"refusing_changed"};
};

/// As `Refusing`, but the warp is not asked about until the cycle in which it may go.
class Pausing : public protocol::IssueGate, public protocol::GateReporter {
 public:
  Pausing(unsigned warp, std::uint64_t until) : warp_(warp), until_(until) {}
  bool keeps_cycle_time() const override { return true; }
  void connect(protocol::GateListener& listener) override { listener_ = &listener; }
  bool may_issue(const protocol::DynamicInstruction& d) override {
    if (d.warp.value() != warp_ || cycle_now() >= until_) return true;
    listener_->pause(d.warp, protocol::Cycle(until_));
    return false;
  }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  unsigned warp_;
  std::uint64_t until_;
  protocol::GateListener* listener_ = nullptr;
  sc_core::sc_event changed_{"pausing_changed"};
};

/// CTAs of one warp each, which execute the instructions that are named, and the exit.
void warps_of(TraceBuilder& b, const std::vector<std::vector<std::uint32_t>>& programs) {
  const std::uint32_t done = b.exit();
  b.launch(programs.size(), 32);
  for (const auto& program : programs) {
    b.begin_cta();
    b.begin_warp();
    for (const std::uint32_t i : program) b.execute(i);
    b.execute(done);
    b.end_warp();
    b.end_cta();
  }
}

constexpr unsigned slow = 40;

/// Warp 0 issues three special functions, of which one runs, one is in the only collector unit of its kind, and one
/// waits for that unit while it waits; a gate refuses warp 1, for which there is a unit. `make` builds the gate.
void structural_before_gate(const std::string& name,
                            const std::function<std::unique_ptr<protocol::IssueGate>()>& make) {
  TraceBuilder b;
  for (unsigned i = 0; i < 3; ++i) b.op(OpClass::sfu, {1 + i}, {0});
  const auto add = b.op(OpClass::int_add, {5}, {0});
  warps_of(b, {{0, 1, 2}, {add}});
  assembly::MachineConfig m = test::one_scheduler();
  m.sm.collectors = 0;
  m.sm.sp_collectors = m.sm.sfu_collectors = m.sm.dp_collectors = m.sm.memory_collectors = 1;
  m.sm.timing[static_cast<unsigned>(OpClass::sfu)].initiation = slow;
  std::map<std::uint64_t, Stall> charged;
  const auto r = test::record(b, name, m, [&](assembly::SmParts& parts) {
    parts.observers.push_back(std::make_unique<Charges>(charged));
    parts.gates.push_back(make());
  });
  const std::uint64_t second = r.of(0, 1).issued, third = r.of(0, 2).issued;
  REQUIRE(third - second > slow / 2);
  REQUIRE(r.of(1, add).issued > third + 20);
  // Both reasons hold until the unit is free: the nearer one counts.
  for (std::uint64_t c = second + 1; c < third; ++c) {
    CAPTURE(c);
    CHECK(charged.at(c) == Stall::structural_sfu);
  }
  // Then the gate's alone, once warp 0 has nothing left to issue.
  for (std::uint64_t c = third + 8; c < r.of(1, add).issued; ++c) CHECK(charged.at(c) == Stall::issue_gate);
}

}  // namespace

TEST_CASE("reasons: random kernels under gto, by a model of the warps' states") {
  check_order_of_reasons("reasons_gto", 1, "gto", 1);
}
TEST_CASE("reasons: random kernels under lrr, by a model of the warps' states") {
  check_order_of_reasons("reasons_lrr", 3, "lrr", 2);
}

TEST_CASE("reasons: a unit that is not free comes before a gate that refuses") {
  structural_before_gate("structural_gate", [] {
    return std::make_unique<Refusing>([](const protocol::DynamicInstruction& d, std::uint64_t now) {
      return d.traits->unit == protocol::Unit::sp && d.warp.value() == 1 && now < 160;
    });
  });
}
TEST_CASE("reasons: a unit that is not free comes before a gate that has paused a warp") {
  structural_before_gate("structural_pause", [] { return std::make_unique<Pausing>(1, 160); });
}

namespace {

constexpr std::uint64_t opens = 80;

/// A gate refuses warp 0, which the policy has taken in, and the policy keeps warp 1 back.
void gate_before_policy(const std::string& name, const std::function<std::unique_ptr<protocol::IssueGate>()>& make) {
  TraceBuilder b;
  const auto add = b.op(OpClass::int_add, {5}, {0});
  warps_of(b, {{add}, {add}});
  assembly::MachineConfig m = test::one_scheduler();
  m.sm.scheduler = "two_level";
  m.scheduler.active_warps = 1;
  std::map<std::uint64_t, Stall> charged;
  const auto r = test::record(b, name, m, [&](assembly::SmParts& parts) {
    parts.observers.push_back(std::make_unique<Charges>(charged));
    parts.gates.push_back(make());
  });
  REQUIRE(r.of(0, add).issued == opens);
  REQUIRE(r.of(1, add).issued > opens);
  for (std::uint64_t c = 20; c < opens; ++c) {
    CAPTURE(c);
    CHECK(charged.at(c) == Stall::issue_gate);
  }
}

bool refuses_until_opens(const protocol::DynamicInstruction& d, std::uint64_t now) {
  return d.warp.value() == 0 && now < opens;
}

}  // namespace

TEST_CASE("reasons: a gate that refuses comes before a policy that keeps a warp back") {
  gate_before_policy("gate_policy", [] { return std::make_unique<Refusing>(refuses_until_opens); });
}
TEST_CASE("reasons: a gate that has paused a warp comes before a policy that keeps another back") {
  gate_before_policy("pause_policy", [] { return std::make_unique<Pausing>(0, opens); });
}

TEST_CASE("greedy then oldest: a CTA's warps come before those of a younger one") {
  TraceBuilder b;
  constexpr unsigned count = 4;
  for (unsigned i = 0; i < count; ++i) b.op(OpClass::int_add, {1 + i}, {20});
  b.exit();
  b.launch(3, 64);
  b.run_all();
  assembly::MachineConfig m = test::one_scheduler();
  m.sm.scheduler = "gto";
  m.sm.collectors = 32;
  // All have their instructions when they may go.
  const auto r = test::record(b, "oldest", m, [&](assembly::SmParts& parts) {
    parts.gates.push_back(
        std::make_unique<Refusing>([](const protocol::DynamicInstruction&, std::uint64_t now) { return now < opens; }));
  });
  REQUIRE(r.passages.size() == 6 * (count + 1));
  for (std::size_t i = 0; i < r.passages.size(); ++i) {
    CAPTURE(i);
    CHECK(r.passages[i].warp == i / (count + 1));
    CHECK(r.passages[i].issued == opens + i);
  }
}

TEST_CASE("reasons: of several kinds that find no unit the first of sp, sfu, dp and lsu counts") {
  TraceBuilder b;
  for (unsigned i = 0; i < 3; ++i) b.op(OpClass::sfu, {1 + i}, {0});
  for (unsigned i = 0; i < 3; ++i) b.op(OpClass::fp64_add, {10 + 2 * i, 11 + 2 * i}, {20, 21});
  warps_of(b, {{3, 4, 5}, {0, 1, 2}});
  assembly::MachineConfig m = test::one_scheduler();
  m.sm.collectors = 0;
  m.sm.sp_collectors = m.sm.sfu_collectors = m.sm.dp_collectors = m.sm.memory_collectors = 1;
  m.sm.timing[static_cast<unsigned>(OpClass::sfu)].initiation = slow;
  m.sm.timing[static_cast<unsigned>(OpClass::fp64_add)].initiation = 2 * slow;
  std::map<std::uint64_t, Stall> charged;
  const auto r = test::record(b, "first_kind", m, [&](assembly::SmParts& parts) {
    parts.observers.push_back(std::make_unique<Charges>(charged));
  });
  const std::uint64_t both = std::max(r.of(0, 4).issued, r.of(1, 1).issued);
  const std::uint64_t sfu = r.of(1, 2).issued, dp = r.of(0, 5).issued;
  REQUIRE(both + 20 < sfu);
  REQUIRE(sfu + 20 < dp);
  for (std::uint64_t c = both + 1; c < sfu; ++c) CHECK(charged.at(c) == Stall::structural_sfu);
  for (std::uint64_t c = sfu + 8; c < dp; ++c) CHECK(charged.at(c) == Stall::structural_dp);
}

TEST_CASE("reasons: a generic unit's holder is the kind that has most of them, the first one where two have as many") {
  TraceBuilder b;
  b.op(OpClass::sfu, {1}, {0});
  b.op(OpClass::sfu, {2}, {0});
  b.op(OpClass::fp64_add, {10, 11}, {20, 21});
  b.op(OpClass::fp64_add, {12, 13}, {20, 21});
  const auto mul = b.op(OpClass::int_mul, {6}, {0});
  const auto add = b.op(OpClass::int_add, {5}, {6});
  // One of each kind runs and one of each is in one of the two units when the addition has its operand.
  warps_of(b, {{0, 1}, {2, 3}, {mul, add}});
  assembly::MachineConfig m = test::one_scheduler();
  m.sm.collectors = 2;
  m.sm.scheduler = "lrr";
  m.sm.timing[static_cast<unsigned>(OpClass::int_mul)] = {60, 1};
  m.sm.timing[static_cast<unsigned>(OpClass::sfu)].initiation = 200;
  m.sm.timing[static_cast<unsigned>(OpClass::fp64_add)].initiation = 400;
  std::map<std::uint64_t, Stall> charged;
  const auto r = test::record(
      b, "holder", m, [&](assembly::SmParts& parts) { parts.observers.push_back(std::make_unique<Charges>(charged)); });
  const std::uint64_t sfu = r.of(0, 1).dispatched;
  REQUIRE(r.of(2, mul).retired + 50 < sfu);
  REQUIRE(r.of(1, 3).dispatched > sfu);
  REQUIRE(r.of(2, add).issued == sfu);
  for (std::uint64_t c = r.of(2, mul).retired; c < sfu; ++c) {
    CAPTURE(c);
    CHECK(charged.at(c) == Stall::structural_sfu);
  }
}

TEST_CASE("reasons: a warp at a barrier waits there, and not for the instruction behind") {
  TraceBuilder b;
  b.op(OpClass::int_add, {1}, {0});
  const auto wait = b.barrier();
  const auto after = b.op(OpClass::int_add, {3}, {0});
  const auto late = b.op(OpClass::int_div, {2}, {2});
  const auto done = b.exit();
  b.launch(1, 64);
  b.begin_cta();
  for (unsigned warp = 0; warp < 2; ++warp) {
    b.begin_warp();
    b.execute(0);
    for (unsigned i = 0; warp == 1 && i < 3; ++i) b.execute(late);
    b.execute(wait);
    b.execute(after);
    b.execute(done);
    b.end_warp();
  }
  b.end_cta();
  assembly::MachineConfig m = test::one_scheduler();
  m.sm.schedulers = m.sm.sp_units = m.sm.sfu_units = m.sm.dp_units = 2;
  m.sm.fetch_width = 1;
  m.sm.buffer_entries = 1;
  m.sm.fetch_latency = 12;
  std::map<std::uint64_t, Stall> charged;
  const auto r = test::record(b, "at_barrier", m, [&](assembly::SmParts& parts) {
    parts.observers.push_back(std::make_unique<Charges>(charged));
  });
  REQUIRE(r.of(1, wait).issued > r.of(0, wait).issued + 40);
  for (std::uint64_t c = r.of(0, wait).issued + 1; c <= r.of(1, wait).issued; ++c) {
    CAPTURE(c);
    CHECK(charged.at(c) == Stall::barrier);
  }
}

TEST_CASE("reasons: a warp whose last instruction was a load waits for memory, one that computes is drained") {
  TraceBuilder b;
  const auto load = b.load(MemorySpace::global, 2, 1);
  const auto div = b.op(OpClass::int_div, {3}, {4});
  warps_of(b, {{load}, {div}});
  assembly::MachineConfig m = test::one_scheduler();
  m.sm.schedulers = m.sm.sp_units = m.sm.sfu_units = m.sm.dp_units = 2;
  std::map<std::uint64_t, Stall> of_load;
  const auto r = test::record(b, "last_load", m, [&](assembly::SmParts& parts) {
    parts.observers.push_back(std::make_unique<Charges>(of_load));
  });
  const std::uint64_t exit = r.of(0, 2).issued, back = r.of(0, load).retired;
  REQUIRE(back > exit + 50);
  for (std::uint64_t c = exit + 1; c < back; ++c) CHECK(of_load.at(c) == Stall::memory);
  // The other scheduler has nothing to wait for: its warp has issued all it had.
  CHECK(r.result.stall_cycles[static_cast<unsigned>(Stall::memory)] == back - exit - 1);
}
