// SPDX-License-Identifier: Apache-2.0
//
// Gates that close whole warps: who is asked, when an opening takes effect, how it is counted.
#include "recorder.h"

#include <regatta/support/clock_domain.h>
#include <regatta/test/clock.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

using namespace regatta;
using test::Recording;
using test::TraceBuilder;
using trace::OpClass;

namespace {

const sc_core::sc_time period = assembly::MachineConfig{}.clock_period();

/// What a gate saw; outlives it.
struct Log {
  std::vector<std::uint64_t> first_issue_after;  ///< cycles from an opening to the warp's first issue
  bool asked_wrong = false;                      ///< about a warp that is closed
};

/// Lets one warp at a time issue `share` instructions, then the next that has some left; opens it `pause` cycles later.
class Turns : public protocol::IssueGate, public protocol::GateReporter {
 public:
  Turns(unsigned share, unsigned pause, Log& log)
      : share_(share),
        pause_(pause),
        log_(log),
        client_(
            test::machine_clock(), [](void* gate) { static_cast<Turns*>(gate)->open(); }, this) {}

  bool keeps_cycle_time() const override { return true; }
  void connect(protocol::GateListener& listener) override { listener_ = &listener; }
  void warp_started(const protocol::WarpInfo& warp) override {
    listener_->closed(warp.warp, true);
    waiting_.push_back(warp.warp);
    if (waiting_.size() == 1 && !turn_.has_value()) next();
  }
  bool may_issue(const protocol::DynamicInstruction& d) override {
    log_.asked_wrong = log_.asked_wrong || !turn_.has_value() || d.warp != *turn_;
    return true;
  }
  void issued(const protocol::DynamicInstruction& d) override {
    const std::uint64_t now = test::machine_clock().now();
    if (left_ == share_) log_.first_issue_after.push_back(now - opened_);
    if (d.traits->is_exit) {
      left_ = 0;
    } else if (--left_ == 0) {
      waiting_.push_back(d.warp);
    }
    if (left_ != 0) return;
    listener_->closed(d.warp, true);
    turn_.reset();
    next();
  }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  void next() {
    if (waiting_.empty()) return;
    client_.request(test::machine_clock().now() + pause_);
  }
  void open() {
    if (turn_.has_value() || waiting_.empty()) return;
    turn_ = waiting_.front();
    waiting_.erase(waiting_.begin());
    left_ = share_;
    opened_ = test::machine_clock().now();
    listener_->closed(*turn_, false);
  }

  unsigned share_, pause_;
  Log& log_;
  unsigned left_ = 0;
  std::uint64_t opened_ = 0;
  std::optional<protocol::WarpSlot> turn_;
  std::vector<protocol::WarpSlot> waiting_;
  protocol::GateListener* listener_ = nullptr;
  support::CycleClient client_;
  sc_core::sc_event changed_{"turns_changed"};
};

Recording run(TraceBuilder& b, const std::string& name, const assembly::MachineConfig& m, Log& log, unsigned share,
              unsigned pause) {
  return test::record(b, name, m, [&, share, pause](assembly::SmParts& parts) {
    parts.gates.push_back(std::make_unique<Turns>(share, pause, log));
  });
}

void independent_kernel(TraceBuilder& b, unsigned threads) {
  for (unsigned i = 0; i < 40; ++i) b.op(OpClass::int_add, {i + 1}, {100 + i % 16});
  b.exit();
  b.launch(1, threads);
  b.run_all();
}

}  // namespace

TEST_CASE("gate listener: closed warps are not asked about, and an opened one may issue a cycle later") {
  assembly::MachineConfig m;
  m.sm.schedulers = 1;
  m.sm.buffer_entries = 16;
  m.sm.collectors = 32;
  TraceBuilder b;
  independent_kernel(b, 128);
  Log log;
  const Recording r = run(b, "turns", m, log, 4, 30);
  CHECK_FALSE(log.asked_wrong);
  REQUIRE(log.first_issue_after.size() == 4 * 11);
  // After the first round, which fetch decides, an opened warp has its instructions at hand.
  for (std::size_t i = 4; i < log.first_issue_after.size(); ++i) CHECK(log.first_issue_after[i] == 1);
  // The pauses are the gate's, and the SM slept in them.
  CHECK(r.result.stall_cycles[static_cast<unsigned>(protocol::Stall::issue_gate)] >= 40 * 29);
}

TEST_CASE("gate listener: a warp closed at its issue issues no second instruction in that cycle") {
  assembly::MachineConfig m;
  m.sm.schedulers = 1;
  m.sm.issue_width = 2;
  m.sm.buffer_entries = 16;
  m.sm.collectors = 32;
  TraceBuilder b;
  independent_kernel(b, 64);
  Log log;
  const Recording r = run(b, "turns_of_one", m, log, 1, 3);
  CHECK_FALSE(log.asked_wrong);
  std::set<std::uint64_t> cycles;
  for (const test::Passage& p : r.passages) CHECK(cycles.insert(p.issued).second);
}

TEST_CASE("gate listener: a policy that keeps a set of warps going takes in those that are open") {
  assembly::MachineConfig m;
  m.sm.schedulers = 1;
  m.sm.scheduler = "two_level";
  m.scheduler.active_warps = 2;
  TraceBuilder b;
  independent_kernel(b, 512);
  Log log;
  const Recording r = run(b, "turns_two_level", m, log, 3, 2);
  CHECK_FALSE(log.asked_wrong);
  CHECK(r.passages.size() == 16 * 41);
}

TEST_CASE("gate listener: a barrier's opening is told once per warp, when the warp may go on") {
  struct Opened {
    std::map<unsigned, std::uint64_t> cycle;
    std::uint64_t last_arrival = 0;
  } seen;
  class Ears : public protocol::IssueGate {
   public:
    explicit Ears(Opened& seen) : seen_(seen) {}
    bool keeps_cycle_time() const override { return true; }
    bool may_issue(const protocol::DynamicInstruction&) override { return true; }
    void issued(const protocol::DynamicInstruction& d) override {
      const std::uint64_t now = test::machine_clock().now();
      if (d.traits->is_barrier) seen_.last_arrival = std::max(seen_.last_arrival, now);
      if (d.traits->index == 2) CHECK(now >= seen_.cycle.at(d.warp.value()));
    }
    void barrier_opened(const protocol::WarpInfo& w) override {
      CHECK(seen_.cycle.emplace(w.warp.value(), test::machine_clock().now()).second);
    }
    const sc_core::sc_event& changed() const override { return changed_; }

   private:
    Opened& seen_;
    sc_core::sc_event changed_{"ears_changed"};
  };
  assembly::MachineConfig m;
  m.sm.barrier_latency = 7;
  TraceBuilder b;
  b.op(OpClass::int_add, {1}, {100});
  b.barrier();
  b.op(OpClass::int_add, {2}, {101});
  b.exit();
  b.launch(1, 128);
  b.run_all();
  test::record(b, "barrier_told", m,
               [&](assembly::SmParts& parts) { parts.gates.push_back(std::make_unique<Ears>(seen)); });
  REQUIRE(seen.cycle.size() == 4);
  for (const auto& [warp, cycle] : seen.cycle) CHECK(cycle == seen.last_arrival + m.sm.barrier_latency);
}

namespace {

/// Refuses every instruction when it is first asked about it, until `wait` cycles later.
class Pauses : public protocol::IssueGate, public protocol::GateReporter {
 public:
  struct Seen {
    std::uint64_t refusals = 0;
    bool asked_early = false;
    std::map<std::pair<unsigned, std::uint64_t>, std::uint64_t> until;  ///< by warp and sequence
  };
  Pauses(unsigned wait, Seen& seen) : wait_(wait), seen_(seen) {}
  bool keeps_cycle_time() const override { return true; }
  void connect(protocol::GateListener& listener) override { listener_ = &listener; }
  bool may_issue(const protocol::DynamicInstruction& d) override {
    const std::uint64_t now = test::machine_clock().now();
    const auto [entry, is_new] = seen_.until.emplace(std::make_pair(d.warp.value(), d.sequence), now + wait_);
    if (!is_new) {
      seen_.asked_early = seen_.asked_early || now < entry->second;
      return true;
    }
    ++seen_.refusals;
    listener_->pause(d.warp, protocol::Cycle(now + wait_));
    return false;
  }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  unsigned wait_;
  Seen& seen_;
  protocol::GateListener* listener_ = nullptr;
  sc_core::sc_event changed_{"pauses_changed"};
};

}  // namespace

TEST_CASE("gate listener: a paused warp is asked about again in the cycle that was said") {
  assembly::MachineConfig m;
  m.sm.schedulers = 1;
  m.sm.buffer_entries = 16;
  m.sm.collectors = 32;
  TraceBuilder b;
  independent_kernel(b, 32);
  Pauses::Seen seen;
  const Recording r = test::record(
      b, "pauses", m, [&](assembly::SmParts& parts) { parts.gates.push_back(std::make_unique<Pauses>(7, seen)); });
  CHECK_FALSE(seen.asked_early);
  CHECK(seen.refusals == 41);
  REQUIRE(r.passages.size() == 41);
  for (const test::Passage& p : r.passages) CHECK(p.issued == seen.until.at({p.warp, p.sequence}));
  // One warp, whose instructions are there: each waits in the gate, and the SM sleeps meanwhile.
  for (std::uint32_t i = 10; i + 1 < 40; ++i) CHECK(r.gap(i, i + 1) == 8);
  CHECK(r.result.stall_cycles[static_cast<unsigned>(protocol::Stall::issue_gate)] >= 30 * 7);
}

TEST_CASE("gate listener: others issue while a warp is paused, and a policy that keeps a set going does not swap it") {
  assembly::MachineConfig m;
  m.sm.schedulers = 1;
  m.sm.scheduler = "two_level";
  m.scheduler.active_warps = 2;
  m.sm.buffer_entries = 16;
  m.sm.collectors = 32;
  TraceBuilder b;
  independent_kernel(b, 128);
  Pauses::Seen seen;
  const Recording r = test::record(b, "pauses_two_level", m, [&](assembly::SmParts& parts) {
    parts.gates.push_back(std::make_unique<Pauses>(3, seen));
  });
  CHECK_FALSE(seen.asked_early);
  REQUIRE(r.passages.size() == 4 * 41);
  // Two warps at a time, to their end: had they been taken for waiting, all four would take turns.
  std::set<unsigned> in_first_half;
  for (std::size_t i = 0; i < r.passages.size() / 4; ++i) in_first_half.insert(r.passages[i].warp);
  CHECK(in_first_half.size() == 2);
}
