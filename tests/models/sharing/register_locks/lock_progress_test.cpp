// SPDX-License-Identifier: Apache-2.0
//
// Freedom from deadlock: the register gate with its table, rule and owners runs random programs with barriers, in
// random order, in slots that get CTAs again and again.
#include <regatta/sharing/lock_rule.h>
#include <regatta/sharing/lock_table.h>
#include <regatta/sharing/owner_table.h>
#include <regatta/sharing/register_gate.h>
#include <regatta/test/clock.h>

#include <algorithm>
#include <random>
#include <vector>

#include "../sharing_blocks.h"

using namespace regatta;
using namespace regatta::test::sharing;
using models::LockGrant;
using protocol::RegisterId;

namespace {

enum class Step : std::uint8_t { own, shared, barrier };

/// Pairs of slots 0 and 2, 1 and 3, of three warps each. Private are R0 to R3.
class ProgressBench {
 public:
  explicit ProgressBench(LockGrant grant)
      : pairs_("pairs", 0, 2, 4),
        table_("table", test::clock(period)),
        rule_("rule", grant, test::clock(period)),
        owners_("owners"),
        gate_("gate", test::clock(period)),
        launch_(slots, warps_per_cta, 8),
        traits_(2) {
    table_.pairs.bind(pairs_);
    rule_.pairs.bind(pairs_);
    owners_.pairs.bind(pairs_);
    gate_.pairs.bind(pairs_);
    gate_.boundary.bind(pairs_);
    gate_.locks.bind(table_.locks);
    gate_.rule.bind(rule_.rule);
    gate_.owners.bind(owners_.owners);
    gate_.connect(closed_);
    gate_.attach(classes_);
    owners_.attach(classes_);
    for (unsigned i = 0; i < traits_.size(); ++i) {
      traits_[i].index = i;
      traits_[i].reads[0] = RegisterId(i == 0 ? 3 : 4);
      traits_[i].read_count = 1;
    }
    launch_.context.traits = &traits_;
    sc_core::sc_report_handler::set_actions("regatta/register_locks", sc_core::SC_ERROR, sc_core::SC_THROW);
    run_to(1);
  }

  /// A launch. False: warps are left and none can go on.
  bool run(unsigned seed, unsigned ctas) {
    random_.seed(seed);
    warps_.assign(slots * warps_per_cta, Warp{});
    closed_.warps.clear();
    table_.kernel_started(launch_.context);
    rule_.kernel_started(launch_.context);
    owners_.kernel_started(launch_.context);
    gate_.kernel_started(launch_.context);
    for (unsigned slot = 0; slot < slots; ++slot) begin(slot);
    left_ = ctas - slots;
    while (true) {
      start_late_warps();
      std::vector<unsigned> able;
      bool any = false;
      for (unsigned w = 0; w < warps_.size(); ++w) {
        any = any || warps_[w].state != State::none;
        if (warps_[w].state == State::running && closed_.warps.count(w) == 0) able.push_back(w);
      }
      if (able.empty()) return !any;
      go_on(able[random_() % able.size()]);
      check();
    }
  }
  /// Locks that were taken behind a partner that had ended, while its CTA held others.
  unsigned followed() const { return followed_; }
  double stat(const std::string& name) { return stat_of(gate_, name); }

 private:
  static constexpr unsigned slots = 4, warps_per_cta = 3;
  enum class State : std::uint8_t { none, launched, running, at_barrier, ended };
  struct Warp {
    std::vector<Step> steps;
    std::size_t next = 0;
    State state = State::none;
  };

  void begin(unsigned slot) {
    gate_.cta_launched(launch_.cta(slot));
    owners_.cta_launched(launch_.cta(slot));
    const unsigned barriers = random_() % 3;
    for (unsigned i = 0; i < warps_per_cta; ++i) {
      Warp& w = warps_[slot * warps_per_cta + i];
      w = Warp{};
      w.state = State::launched;
      for (unsigned b = 0; b <= barriers; ++b) {
        for (unsigned n = random_() % 3; n != 0; --n) w.steps.push_back(random_() % 3 == 0 ? Step::shared : Step::own);
        if (b != barriers) w.steps.push_back(Step::barrier);
      }
    }
  }
  /// Warps of a CTA start one after another.
  void start_late_warps() {
    for (unsigned w = 0; w < warps_.size(); ++w) {
      if (warps_[w].state != State::launched || random_() % 4 == 0) continue;
      owners_.warp_started(launch_.warp(w));
      gate_.warp_started(launch_.warp(w));
      warps_[w].state = State::running;
    }
    if (!is_any(State::running)) {
      for (unsigned w = 0; w < warps_.size(); ++w) {
        if (warps_[w].state == State::launched) return start_late_warps();
      }
    }
  }
  bool is_any(State state) const {
    return std::any_of(warps_.begin(), warps_.end(), [&](const Warp& w) { return w.state == state; });
  }
  void go_on(unsigned slot) {
    Warp& w = warps_[slot];
    if (w.next == w.steps.size()) return end(slot);
    if (w.steps[w.next] == Step::barrier) {
      w.state = State::at_barrier;
      return open_barrier(slot / warps_per_cta);
    }
    protocol::DynamicInstruction d;
    d.warp = warp_at(slot);
    d.traits = &traits_[w.steps[w.next] == Step::shared ? 1 : 0];
    if (!gate_.may_issue(d)) return;
    const double before = stat("acquires");
    const bool behind = owners_.role(cta_at(slot / warps_per_cta)) != WarpRole::owner;
    gate_.issued(d);
    const bool is_behind = owners_.role(cta_at(slot / warps_per_cta)) != WarpRole::owner;
    if (stat("acquires") != before && behind && is_behind) ++followed_;
    ++w.next;
  }
  void end(unsigned slot) {
    warps_[slot].state = State::ended;
    owners_.warp_finished(launch_.warp(slot));
    gate_.warp_finished(launch_.warp(slot));
    const unsigned cta = slot / warps_per_cta, first = cta * warps_per_cta;
    for (unsigned i = first; i < first + warps_per_cta; ++i) {
      if (warps_[i].state != State::ended) return open_barrier(cta);
    }
    for (unsigned i = first; i < first + warps_per_cta; ++i) warps_[i].state = State::none;
    owners_.cta_finished(launch_.cta(cta));
    if (left_ == 0) return;
    --left_;
    begin(cta);
  }
  void open_barrier(unsigned cta) {
    const unsigned first = cta * warps_per_cta;
    for (unsigned i = first; i < first + warps_per_cta; ++i) {
      if (warps_[i].state == State::running || warps_[i].state == State::launched) return;
    }
    for (unsigned i = first; i < first + warps_per_cta; ++i) {
      if (warps_[i].state != State::at_barrier) continue;
      warps_[i].state = State::running;
      ++warps_[i].next;
    }
  }
  /// Of the two warps of a pair at most one has the lock, and a closed warp has another one before it.
  void check() {
    for (const unsigned w : closed_.warps) {
      const unsigned cta = w / warps_per_cta, partner = cta < 2 ? cta + 2 : cta - 2;
      REQUIRE(warps_[w].state == State::running);
      bool held = false;
      for (unsigned i = 0; i < warps_per_cta; ++i) {
        const auto holder = table_.holder(cta % 2 * warps_per_cta + i);
        held = held || (holder && holder->value() / warps_per_cta == partner);
      }
      REQUIRE(held);
    }
  }

  FixedPairs pairs_;
  models::LockTable table_;
  models::PairLockRule rule_;
  models::OwnerTable owners_;
  models::RegisterGate gate_;
  Launch launch_;
  std::vector<protocol::InstructionTraits> traits_;
  Closed closed_;
  Classes classes_;
  std::mt19937 random_;
  std::vector<Warp> warps_;
  unsigned left_ = 0, followed_ = 0;
};

struct Found {
  unsigned stuck = 0, followed = 0;
  double waits = 0;
};

Found run(LockGrant grant, unsigned seeds) {
  ProgressBench b(grant);
  Found found;
  for (unsigned seed = 0; seed < seeds; ++seed) found.stuck += b.run(seed, 40) ? 0 : 1;
  found.followed = b.followed();
  found.waits = b.stat("waits");
  return found;
}

constexpr unsigned seeds = 300;

}  // namespace

TEST_CASE("register locks: by warp, random programs with barriers never stand still") {
  const Found found = run(LockGrant::warp, seeds);
  CHECK(found.stuck == 0);
  CHECK(found.followed > 100);
  CHECK(found.waits > 1000);
}

TEST_CASE("register locks: by CTA, random programs with barriers never stand still") {
  const Found found = run(LockGrant::cta, seeds);
  CHECK(found.stuck == 0);
  CHECK(found.followed == 0);
  CHECK(found.waits > 1000);
}

TEST_CASE("register locks: without the rule, random programs with barriers do stand still") {
  CHECK(run(LockGrant::always, seeds).stuck > seeds / 10);
}
