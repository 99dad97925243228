// SPDX-License-Identifier: Apache-2.0
//
// Warp schedulers, residency policies and observers that break their contract: the message names the block, what it
// answered and what was expected.
#include "wrong_parts.h"

using namespace regatta;
using Catch::Matchers::Contains;
using protocol::Residency;
using protocol::WarpMask;
using Kind = protocol::Residency::Action::Kind;

namespace {

class FunctionScheduler : public protocol::WarpScheduler {
 public:
  using Pick = std::function<unsigned(WarpMask)>;
  using May = std::function<Eligible(WarpMask)>;
  explicit FunctionScheduler(Pick pick, May may = {}) : pick_(std::move(pick)), may_(std::move(may)) {}
  unsigned pick(WarpMask ready) override { return pick_(ready); }
  void issued(unsigned) override {}
  void warp_added(unsigned, const protocol::ScheduledWarp&) override {}
  void warp_removed(unsigned) override {}
  bool restricts() const override { return static_cast<bool>(may_); }
  Eligible eligible(WarpMask ready) override { return may_(ready); }

 private:
  Pick pick_;
  May may_;
};

unsigned first(WarpMask ready) { return static_cast<unsigned>(__builtin_ctzll(ready)); }

std::string scheduled(const std::string& name, FunctionScheduler::Pick pick, FunctionScheduler::May may = {},
                      bool check_protocol = false) {
  return test::outcome(
      "scheduler_" + name,
      [&](assembly::SmParts& parts) {
        parts.scheduler = [pick, may] { return std::make_unique<FunctionScheduler>(pick, may); };
      },
      check_protocol);
}

const std::string scheduler_head = "regatta/warp_scheduler: sm0.pipeline scheduler 0 (FunctionScheduler) in cycle ";

/// Launches `resident` CTAs, or what `next` says.
class FunctionResidency : public sc_core::sc_module, public Residency {
 public:
  using Next = std::function<std::optional<Action>(const View&)>;
  using Change = std::function<void(protocol::ResourcePlan&)>;
  FunctionResidency(const sc_core::sc_module_name& name, unsigned resident, Next next, Change change = {})
      : sc_module(name), resident_(resident), next_(std::move(next)), change_(std::move(change)), changed_("changed") {}
  protocol::ResourcePlan plan(const protocol::KernelContext& c, const protocol::SmLimits& l) override {
    protocol::ResourcePlan plan = protocol::ResourcePlan::conventional(c, l, resident_);
    if (change_) change_(plan);
    return plan;
  }
  Action next(const View& view) override {
    if (next_) {
      if (const auto action = next_(view)) return *action;
    }
    return view.ctas_waiting != 0 && view.ctas->size() < resident_ ? Action{Kind::launch, {}} : Action{};
  }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  unsigned resident_;
  Next next_;
  Change change_;
  sc_core::sc_event changed_;
};

std::string resident(const std::string& name, unsigned ctas, FunctionResidency::Next next,
                     const assembly::MachineConfig& machine = {}, FunctionResidency::Change change = {}) {
  return test::outcome(
      "residency_" + name,
      [&](assembly::SmParts& parts) {
        parts.residency.reset();
        parts.residency = std::make_unique<FunctionResidency>("wrong", ctas, std::move(next), std::move(change));
      },
      false, machine);
}

const std::string residency_head = "regatta/residency: sm0.wrong in cycle ";

protocol::CtaSlot slot(unsigned n) { return protocol::CtaSlot(static_cast<std::uint16_t>(n)); }

/// As soon as a CTA is resident, `action`.
FunctionResidency::Next then(Residency::Action action) {
  return [action](const Residency::View& view) -> std::optional<Residency::Action> {
    if (view.ctas->empty()) return {};
    return action;
  };
}

class Interested : public protocol::Observer {
 public:
  explicit Interested(std::vector<protocol::Event> events) : events_(std::move(events)) {}
  std::vector<protocol::Event> interests() const override { return events_; }

 private:
  std::vector<protocol::Event> events_;
};

std::string observed(const std::string& name, std::vector<protocol::Event> events) {
  return test::outcome("observer_" + name, [&](assembly::SmParts& parts) {
    parts.observers.push_back(std::make_unique<Interested>(std::move(events)));
  });
}

}  // namespace

TEST_CASE("contract: a scheduler that picks a warp that is not ready") {
  const std::string said =
      scheduled("not_ready", [](WarpMask ready) { return static_cast<unsigned>(__builtin_ctzll(~ready)); });
  CHECK_THAT(said, Contains(scheduler_head));
  CHECK_THAT(said, Contains("pick() answers warp "));
  CHECK_THAT(said, Contains(" when asked about the ready warps 0x"));
  CHECK_THAT(said, Contains("; expected one of these, by its index in the scheduler"));
}

TEST_CASE("contract: a scheduler that picks beyond its warps") {
  CHECK_THAT(scheduled("beyond", [](WarpMask) { return 1000u; }), Contains("pick() answers warp 1000 when asked"));
}

TEST_CASE("contract: a scheduler that lets warps take part that are not ready") {
  const std::string said = scheduled("not_subset", first, [](WarpMask) {
    return protocol::WarpScheduler::Eligible{~WarpMask{0}, false};
  });
  CHECK_THAT(said, Contains(scheduler_head));
  CHECK_THAT(said, Contains("eligible() answers 0xffffffffffffffff when asked about the warps 0x"));
  CHECK_THAT(said, Contains("; expected some of these"));
}

TEST_CASE("contract: a scheduler that changes its mind without settling, with --check-protocol") {
  auto turn = std::make_shared<unsigned>(0);
  CHECK_THAT(scheduled(
                 "fickle", first,
                 [turn](WarpMask ready) {
                   return protocol::WarpScheduler::Eligible{++*turn % 2 != 0 ? ready : 0, false};
                 },
                 true),
             Contains("and answered 0x1 before, not settling; expected the same answer"));
}

TEST_CASE("contract: a scheme without a scheduler's policy") {
  CHECK_THROWS_WITH(
      test::outcome("no_policy", [](assembly::SmParts& parts) { parts.scheduler = [] { return nullptr; }; }),
      "the scheme's warp scheduler is null, expected a policy");
}

TEST_CASE("contract: a scheme with a null gate") {
  CHECK_THROWS_WITH(test::outcome("null_gate", [](assembly::SmParts& parts) { parts.gates.push_back(nullptr); }),
                    "scheme 'test' built an SM with a null gate");
}

TEST_CASE("contract: a scheme with a null observer") {
  CHECK_THROWS_WITH(
      test::outcome("null_observer", [](assembly::SmParts& parts) { parts.observers.push_back(nullptr); }),
      "scheme 'test' built an SM with a null observer");
}

TEST_CASE("contract: a scheme with a null client of the L1") {
  CHECK_THROWS_WITH(test::outcome("null_client", [](assembly::SmParts& parts) { parts.l1_clients.push_back(nullptr); }),
                    "scheme 'test' built an SM with a null socket among its L1 clients");
}

TEST_CASE("contract: a residency that switches out a CTA that does not exist") {
  const std::string said = resident("nobody", 2, then({Kind::switch_out, slot(40)}));
  CHECK_THAT(said, Contains(residency_head));
  CHECK_THAT(said, Contains("switches out CTA slot 40, which is not resident; expected a resident CTA that is active"));
}

TEST_CASE("contract: a residency that switches in a CTA that is active") {
  CHECK_THAT(
      resident("active", 2, then({Kind::switch_in, slot(0)})),
      Contains(
          "switches in CTA slot 0, which is active; expected a resident CTA that is draining, quiesced or parked"));
}

TEST_CASE("contract: a residency that switches a CTA out twice") {
  CHECK_THAT(resident("inactive", 2, then({Kind::switch_out, slot(0)})),
             Contains("switches out CTA slot 0, which is quiesced; expected a resident CTA that is active"));
}

TEST_CASE("contract: a residency that launches more than it said") {
  CHECK_THAT(resident("more", 1, then({Kind::launch, {}})),
             Contains("launches a CTA with 1 resident; expected no more than it said could be resident"));
}

TEST_CASE("contract: a residency that plans for more than the storage can hold") {
  assembly::MachineConfig machine;
  machine.register_file.registers = 48;  // of which a CTA of the trace takes 32
  CHECK_THAT(
      resident("storage", 2, {}, machine),
      Contains(
          "plan() says that the resident CTAs take 64 warp registers; expected no more than the storage holds, 48"));
}

TEST_CASE("contract: a residency that makes too many warps active") {
  assembly::MachineConfig machine;
  machine.sm.max_warps = 4;
  CHECK_THAT(resident("warps", 2, {}, machine),
             Contains("makes CTA slot 1 active, so that 8 warps are; expected at most 4 (sm.warps)"));
}

TEST_CASE("contract: a residency without room for a CTA that does not say so") {
  CHECK_THAT(resident("none", 0, {}), Contains("plan() says that 0 CTAs of 4 warps can be resident; "
                                               "expected at least 1 CTA"));
}

TEST_CASE("contract: a residency that plans for no active CTA") {
  CHECK_THAT(resident("no_active", 2, {}, {}, [](protocol::ResourcePlan& plan) { plan.active_ctas = 0; }),
             Contains("plan() says that 0 of 2 resident CTAs can be active; expected at least 1 and at most 2"));
}

TEST_CASE("contract: a residency that plans for more active CTAs than resident ones") {
  CHECK_THAT(resident("active_beyond", 2, {}, {}, [](protocol::ResourcePlan& plan) { plan.active_ctas = 3; }),
             Contains("plan() says that 3 of 2 resident CTAs can be active; expected at least 1 and at most 2"));
}

TEST_CASE("contract: a residency that plans for more active CTAs than the SM schedules") {
  assembly::MachineConfig machine;
  machine.sm.max_ctas = 1;
  CHECK_THAT(resident("active_limit", 2, {}, machine),
             Contains("plan() says that 2 of 2 resident CTAs can be active; expected at least 1 and at most 1"));
}

TEST_CASE("contract: a residency that plans for more shared memory than there is") {
  CHECK_THAT(resident("shared", 2, {}, {}, [](protocol::ResourcePlan& plan) { plan.shared_bytes = 1u << 30; }),
             Contains("plan() says that the resident CTAs take 1073741824 bytes of shared memory; expected at most"));
}

TEST_CASE("contract: a residency that leaves the L1 a part of a way") {
  CHECK_THROWS_WITH(resident("l1", 2, {}, {}, [](protocol::ResourcePlan& plan) { plan.l1_bytes = 100; }),
                    Contains("the residency policy leaves 100 bytes to sm0.l1, expected a multiple of one way's "));
}

TEST_CASE("contract: a residency that makes more CTAs active than it planned") {
  CHECK_THAT(resident("planned", 2, {}, {}, [](protocol::ResourcePlan& plan) { plan.active_ctas = 1; }),
             Contains("makes CTA slot 1 active, so that 2 CTAs are; expected at most 1 (its plan())"));
}

TEST_CASE("contract: a residency that has moved a CTA that is not quiesced") {
  CHECK_THAT(resident("moved", 2, then({Kind::moved, slot(0)})),
             Contains("has moved CTA slot 0, which is active; expected a resident CTA that is quiesced"));
}

TEST_CASE("contract: a residency that knows more actions than there are") {
  CHECK_THAT(resident("unknown", 2, then({static_cast<Kind>(9), {}})),
             Contains("next() answers action 9; expected none, launch, switch_out, moved, switch_in or admit"));
}

TEST_CASE("contract: a residency that does not settle") {
  CHECK_THAT(resident("chasing", 2,
                      [](const Residency::View& view) -> std::optional<Residency::Action> {
                        if (view.ctas->empty()) return {};
                        const protocol::CtaStatus& cta = view.ctas->front();
                        return Residency::Action{cta.active ? Kind::switch_out : Kind::switch_in, cta.cta};
                      }),
             Contains("next() has asked for 17 actions in this cycle; expected none in the end"));
}

TEST_CASE("contract: an observer that names an event twice") {
  CHECK_THAT(observed("twice", {protocol::Event::issued, protocol::Event::issued}),
             Contains("regatta/observer: Interested in cycle 0: interests() names event 9 twice; expected each event "
                      "once, from 0 to 17"));
}

TEST_CASE("contract: an observer that names an event that there is not") {
  CHECK_THAT(observed("unknown", {static_cast<protocol::Event>(200)}),
             Contains("interests() names event 200; expected"));
}
