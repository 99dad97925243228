// SPDX-License-Identifier: Apache-2.0
//
// What policies hand to warp schedulers and hear of them: priority classes, and the active set.
#include "harness.h"

#include <regatta/baseline/schedulers.h>
#include <regatta/protocol/sm_control.h>

#include <algorithm>
#include <map>
#include <set>

using namespace regatta;
using protocol::WarpMask;

namespace {

/// Lowest class first, then oldest (Owner Warp First). Knows its warps by what it was told.
class OwnerFirst : public protocol::WarpScheduler {
 public:
  explicit OwnerFirst(const std::map<unsigned, unsigned>& classes) : classes_(classes) {}
  unsigned pick(WarpMask ready) override {
    unsigned best = protocol::max_warps_per_scheduler;
    for (WarpMask m = ready; m != 0; m &= m - 1) {
      const auto w = static_cast<unsigned>(__builtin_ctzll(m));
      // Told of every class, and of every change.
      REQUIRE(warps_[w].priority_class == classes_.at(warps_[w].info.warp.value()));
      if (best == protocol::max_warps_per_scheduler || before(warps_[w], warps_[best])) best = w;
    }
    return best;
  }
  void issued(unsigned) override {}
  void warp_added(unsigned warp, const protocol::ScheduledWarp& added) override { warps_[warp] = added; }
  void warp_removed(unsigned) override {}
  void class_changed(unsigned warp, unsigned priority_class) override {
    warps_[warp].priority_class = priority_class;
    ++changes;
  }
  std::uint64_t changes = 0;

 private:
  static bool before(const protocol::ScheduledWarp& a, const protocol::ScheduledWarp& b) {
    return a.priority_class != b.priority_class ? a.priority_class < b.priority_class : a.age < b.age;
  }
  const std::map<unsigned, unsigned>& classes_;
  std::map<unsigned, protocol::ScheduledWarp> warps_;
};

/// CTAs of odd number are non-owners (2) at first; when a CTA ends, the warps that are left become owners (0).
class Classes : public protocol::LifecycleListener {
 public:
  explicit Classes(std::map<unsigned, unsigned>& classes) : classes_(classes) {}
  void attach(protocol::SmControl& control) override { control_ = &control; }
  void warp_started(const protocol::WarpInfo& warp) override {
    resident_.insert(warp.warp.value());
    set(warp.warp.value(), warp.cta_index % 2 == 0 ? 0 : 2);
  }
  void warp_finished(const protocol::WarpInfo& warp) override { resident_.erase(warp.warp.value()); }
  void cta_finished(const protocol::CtaInfo& cta) override {
    finished.push_back(cta.cta_index);
    for (const unsigned warp : resident_) set(warp, 0);
  }
  std::vector<std::uint64_t> finished;

 private:
  void set(unsigned warp, unsigned priority_class) {
    classes_[warp] = priority_class;
    control_->classify(protocol::WarpSlot(static_cast<std::uint16_t>(warp)), priority_class);
  }
  std::map<unsigned, unsigned>& classes_;
  std::set<unsigned> resident_;
  protocol::SmControl* control_ = nullptr;
};

/// Keeps the active set by what it hears, and compares it with what the policies say of themselves.
class ActiveSet : public protocol::LifecycleListener, public protocol::Observer {
 public:
  std::vector<protocol::Event> interests() const override { return {protocol::Event::issued}; }
  void active_set_changed(const protocol::WarpInfo& warp, bool inside) override {
    ++(inside ? entered : left);
    inside ? void(set_.insert(warp.warp.value())) : void(set_.erase(warp.warp.value()));
  }
  void warp_finished(const protocol::WarpInfo& warp) override { set_.erase(warp.warp.value()); }
  void issued(protocol::Cycle, const protocol::DynamicInstruction& d) override {
    REQUIRE(set_.count(d.warp.value()) == 1);
    std::size_t active = 0;
    for (const auto& s : schedulers) active += static_cast<std::size_t>(__builtin_popcountll(s->active()));
    REQUIRE(set_.size() == active);
  }
  std::vector<std::shared_ptr<models::TwoLevel>> schedulers;
  std::uint64_t entered = 0, left = 0;

 private:
  std::set<unsigned> set_;
};

}  // namespace

TEST_CASE("scheduler: a policy's classes reach an owner-first scheduler, and owners end first") {
  std::map<unsigned, unsigned> classes;
  Classes policy(classes);
  std::vector<std::shared_ptr<OwnerFirst>> schedulers;
  const auto r = test::simulate_with(test::mixed_trace("owner_first", 4), [&](const assembly::BuildContext& c) {
    assembly::SmParts parts = assembly::baseline_parts(c);
    parts.listeners.push_back(&policy);
    parts.scheduler = [&] {
      schedulers.push_back(std::make_shared<OwnerFirst>(classes));
      return schedulers.back();
    };
    return parts;
  });
  test::require_clean(r);
  REQUIRE(policy.finished.size() == 4);
  CHECK(policy.finished[0] % 2 == 0);
  std::uint64_t changes = 0;
  for (const auto& s : schedulers) changes += s->changes;
  CHECK(changes > 0);
}

TEST_CASE("scheduler: a scheme that holds a two-level policy hears who enters and leaves its active set") {
  // The observer outlives the run with the parts that own it: what it counted is kept beside it.
  ActiveSet* set = nullptr;
  test::FunctionScheme scheme([&](const assembly::BuildContext& c) {
    assembly::SmParts parts = assembly::baseline_parts(c);
    auto own = std::make_unique<ActiveSet>();
    set = own.get();
    parts.listeners.push_back(set);
    parts.observers.push_back(std::move(own));
    parts.scheduler = [set] {
      set->schedulers.push_back(std::make_shared<models::TwoLevel>(2));
      return set->schedulers.back();
    };
    return parts;
  });
  const trace::Reader reader(test::mixed_trace("active_set", 6));
  assembly::Simulation simulation({}, scheme, {}, reader);
  test::require_clean(simulation.run());
  CHECK(set->entered > 50);
  CHECK(set->left > 20);
}
