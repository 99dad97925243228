// SPDX-License-Identifier: Apache-2.0
//
// A residency policy that launches CTAs without their warps, and admits these one by one.
#include <regatta/baseline/occupancy_residency.h>
#include <regatta/test/clock.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>

#include "wrong_parts.h"

using namespace regatta;
using Catch::Matchers::Contains;
using protocol::Residency;

namespace {

/// Occupancy, at most two CTAs. All warps of a CTA but the `late` last ones are admitted at once, these when the policy
/// is asked `cycles` cycles later; or never.
class LateWarps : public models::OccupancyResidency {
 public:
  LateWarps(const sc_core::sc_module_name& name, unsigned late, std::uint64_t cycles, support::ClockDomain& clock,
            bool wait = true)
      : OccupancyResidency(name), late_(late), cycles_(cycles), period_(clock.period()), wait_(wait), later_("later") {}
  protocol::ResourcePlan plan(const protocol::KernelContext& context, const protocol::SmLimits& limits) override {
    OccupancyResidency::plan(context, limits);
    resident_ = std::min(resident_, 2u);
    return protocol::ResourcePlan::conventional(context, limits, resident_);
  }
  const sc_core::sc_event& changed() const override { return later_; }
  bool follows_warps() const override { return true; }
  void cta_launched(const protocol::CtaInfo& cta) override {
    Cta& c = ctas_[cta.cta.value()];
    c.warps = cta.warps;
    c.admitted = 0;
    c.since = sc_core::sc_time_stamp();
  }
  void warp_started(const protocol::WarpInfo& warp) override { ++ctas_[warp.cta.value()].admitted; }
  Action next(const View& view) override {
    for (const protocol::CtaStatus& status : *view.ctas) {
      const unsigned slot = status.cta.value();
      Cta& c = ctas_[slot];
      CHECK(status.warps_waiting == c.warps - c.admitted);
      CHECK(status.warps_left >= status.warps_waiting);
      if (c.admitted == c.warps) continue;
      if (c.admitted >= c.warps - late_ && !is_time(c)) {
        // One event serves both CTAs: it may have been notified for the other one.
        if (cycles_ != never) later_.notify(time_of(c) - sc_core::sc_time_stamp());
        continue;
      }
      Action action;
      action.kind = Action::Kind::admit;
      action.cta = status.cta;
      action.warp_in_cta = c.admitted;
      return action;
    }
    Action action = OccupancyResidency::next(view);
    action.warps_wait = wait_;
    return action;
  }

  static constexpr std::uint64_t never = ~std::uint64_t{0};

 private:
  struct Cta {
    unsigned warps = 0, admitted = 0;
    sc_core::sc_time since;
  };
  bool is_time(const Cta& c) const { return cycles_ != never && sc_core::sc_time_stamp() >= time_of(c); }
  sc_core::sc_time time_of(const Cta& c) const { return c.since + static_cast<double>(cycles_) * period_; }

  unsigned late_;
  std::uint64_t cycles_;
  sc_core::sc_time period_;
  bool wait_;
  sc_core::sc_event later_;
  std::array<Cta, 2> ctas_;
};

test::FunctionScheme::Build late_warps(unsigned late, std::uint64_t cycles, bool wait = true) {
  return [late, cycles, wait](const assembly::BuildContext& c) {
    assembly::SmParts parts = assembly::baseline_parts(c);
    parts.residency.reset();
    auto residency = std::make_unique<LateWarps>("residency", late, cycles, c.clock, wait);
    parts.residency = std::move(residency);
    return parts;
  };
}

double admitted_stat(const assembly::SimulationResult& r, const char* name) {
  return r.stats.at("sm0.pipeline").at(name).get<double>();
}

/// Cycles of a run in a process of its own, so that this process can elaborate another one.
std::uint64_t cycles_elsewhere(const std::function<assembly::SimulationResult()>& run) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::uint64_t cycles = 0;
    try {
      cycles = run().cycles;
    } catch (...) {
      cycles = 0;
    }
    const bool written = write(ends[1], &cycles, sizeof cycles) == static_cast<ssize_t>(sizeof cycles);
    _exit(written ? 0 : 1);
  }
  std::uint64_t cycles = 0;
  REQUIRE(read(ends[0], &cycles, sizeof cycles) == static_cast<ssize_t>(sizeof cycles));
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  close(ends[0]);
  close(ends[1]);
  return cycles;
}

/// Two CTAs of four warps, of which one is not admitted; then `wrong`.
class WrongAdmission : public LateWarps {
 public:
  WrongAdmission(const sc_core::sc_module_name& name, support::ClockDomain& clock, Action wrong)
      : LateWarps(name, 1, never, clock), wrong_(wrong) {}
  Action next(const View& view) override {
    const Action action = LateWarps::next(view);
    return action.kind != Action::Kind::admit && !view.ctas->empty() ? wrong_ : action;
  }

 private:
  Action wrong_;
};

std::string wrongly_admitted(const std::string& name, unsigned cta, unsigned warp) {
  Residency::Action action;
  action.kind = Residency::Action::Kind::admit;
  action.cta = protocol::CtaSlot(static_cast<protocol::CtaSlot::rep>(cta));
  action.warp_in_cta = warp;
  return test::outcome("admit_" + name, [&](assembly::SmParts& parts) {
    parts.residency.reset();
    parts.residency = std::make_unique<WrongAdmission>("wrong", test::machine_clock(), action);
  });
}

}  // namespace

TEST_CASE("admitted warps: all in the cycle of the launch, as without waiting") {
  const std::string path = test::mixed_trace("admit_all");
  const std::uint64_t plain = cycles_elsewhere([&] { return test::simulate_with(path, late_warps(0, 0, false)); });
  const assembly::SimulationResult r = test::simulate_with(path, late_warps(0, 0));
  test::require_clean(r);
  CHECK(plain > 0);
  CHECK(r.cycles == plain);
}

TEST_CASE("admitted warps: those that come later hold up barriers, and have no registers until then") {
  const std::string path = test::mixed_trace("admit_late");
  const std::uint64_t plain = cycles_elsewhere([&] { return test::simulate_with(path, late_warps(0, 0, false)); });
  constexpr unsigned late = 500;
  const assembly::SimulationResult r = test::simulate_with(path, late_warps(1, late));
  test::require_clean(r);
  // Twelve CTAs, two at a time, and no CTA is through its first barrier before its last warp has come.
  CHECK(r.cycles > 6 * late);
  CHECK(r.cycles > plain);
  CHECK(admitted_stat(r, "ctas") == 12);
  const double most = admitted_stat(r, "resident_registers_max"), mean = admitted_stat(r, "resident_registers_mean");
  CHECK(mean < most);
  CHECK(mean > most / 2);
}

TEST_CASE("admitted warps: a policy that never admits a warp is named") {
  const std::string said = test::outcome("admit_never", [&](assembly::SmParts& parts) {
    parts.residency.reset();
    parts.residency = std::make_unique<LateWarps>("stingy", 1, LateWarps::never, test::machine_clock());
  });
  CHECK_THAT(said, Contains("deadlock"));
  CHECK_THAT(said, Contains("3 of 4 warps have arrived, 1 not admitted"));
  CHECK_THAT(said, Contains("residency sm0.stingy has not admitted 1 warp of CTA slot 0, 1 warp of CTA slot 1"));
}

TEST_CASE("admitted warps: a warp that does not wait cannot be admitted") {
  CHECK_THAT(wrongly_admitted("twice", 0, 2), Contains("admits warp 2 of CTA slot 0; expected a warp that waits"));
}

TEST_CASE("admitted warps: a warp that the CTA has not cannot be admitted") {
  CHECK_THAT(wrongly_admitted("beyond", 0, 4), Contains("admits warp 4 of CTA slot 0; expected a warp that waits"));
}

TEST_CASE("admitted warps: a warp of no CTA cannot be admitted") {
  CHECK_THAT(wrongly_admitted("nobody", 1, 0),
             Contains("admits a warp of CTA slot 1, which is not resident; expected a resident CTA that is active"));
}
