// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

#include <regatta/support/clock_domain.h>

#include <sys/wait.h>
#include <unistd.h>

using namespace regatta;
using protocol::Stall;

namespace {

void require_complete(const assembly::SimulationResult& r, unsigned schedulers) {
  test::require_clean(r);
  assembly::CycleStack sum{};
  for (const assembly::LaunchResult& l : r.launches) {
    std::uint64_t slots = 0;
    for (unsigned s = 0; s < protocol::stall_count; ++s) {
      slots += l.stall_cycles[s];
      sum[s] += l.stall_cycles[s];
    }
    REQUIRE(slots == l.cycles * schedulers);
  }
  REQUIRE(sum == r.stall_cycles);
  // The terms of the CPI stack add up to cycles per instruction.
  const auto stack = assembly::cpi_stack(r.stall_cycles, r.warp_instructions, r.schedulers);
  double cpi = 0;
  for (const auto& [reason, value] : stack.items()) {
    if (value.is_number()) cpi += value.get<double>();
  }
  REQUIRE(cpi * double(r.warp_instructions) * r.schedulers / schedulers ==
          Approx(double(r.cycles) * r.schedulers / schedulers));
}

}  // namespace

TEST_CASE("the reasons of a launch add up to cycles x schedulers x SMs, on one SM") {
  assembly::MachineConfig m;
  require_complete(test::simulate_baseline(test::mixed_trace("reasons_1"), m), m.sm.schedulers);
}

TEST_CASE("the reasons of a launch add up to cycles x schedulers x SMs, on four SMs of which one has no CTA") {
  assembly::MachineConfig m;
  m.sm.schedulers = 2;
  const auto r = test::simulate_baseline(test::mixed_trace("reasons_4", 3), m, 4);
  require_complete(r, 2 * 4);
  // An SM without a CTA is idle for the whole launch.
  REQUIRE(r.stats.at("sm3.pipeline").at("ctas") == 0);
  REQUIRE(r.stats.at("sm3.pipeline").at("stall_idle_cycles").get<std::uint64_t>() == 2 * r.cycles);
  REQUIRE(r.stats.at("sm0.pipeline").at("stall_idle_cycles").get<std::uint64_t>() < r.cycles);
}

TEST_CASE("the reasons of a launch add up with dual issue, one collector unit and a slow front end") {
  assembly::MachineConfig m;
  m.sm.schedulers = 1;
  m.sm.issue_width = 2;
  m.sm.collectors = 1;
  m.sm.fetch_latency = 9;
  m.sm.buffer_entries = 1;
  m.sm.fetch_width = 1;
  m.sm.scheduler = "lrr";
  require_complete(test::simulate_baseline(test::mixed_trace("reasons_dual"), m), 1);
}

namespace {

/// A gate that never says no and lets nobody sleep: something may have changed, in every cycle with a warp.
class Insomnia : public sc_core::sc_module, public protocol::IssueGate {
 public:
  Insomnia(const sc_core::sc_module_name& name, support::ClockDomain& clock)
      : sc_module(name),
        changed_("changed"),
        clock_(clock),
        client_(
            clock, [](void* gate) { static_cast<Insomnia*>(gate)->tick(); }, this) {}
  bool may_issue(const protocol::DynamicInstruction&) override { return true; }
  void warp_started(const protocol::WarpInfo&) override {
    if (warps_++ == 0) client_.request(clock_.now() + 1);
  }
  void warp_finished(const protocol::WarpInfo&) override { --warps_; }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  void tick() {
    changed_.notify(sc_core::SC_ZERO_TIME);
    if (warps_ != 0) client_.request(clock_.now() + 1);
  }
  sc_core::sc_event changed_;
  support::ClockDomain& clock_;
  support::CycleClient client_;
  unsigned warps_ = 0;
};

struct Accounts {
  std::uint64_t cycles = 0;
  assembly::CycleStack stack{};
};

Accounts account(const std::string& path, const assembly::MachineConfig& m, bool awake) {
  const auto r = test::simulate_with(
      path,
      [awake](const assembly::BuildContext& c) {
        assembly::SmParts parts = assembly::baseline_parts(c);
        if (awake) parts.gates.push_back(std::make_unique<Insomnia>("insomnia", c.clock));
        return parts;
      },
      m);
  test::require_clean(r);
  return {r.cycles, r.stall_cycles};
}

/// A process elaborates once: the run that may sleep is another's.
Accounts account_elsewhere(const std::string& path, const assembly::MachineConfig& m) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const Accounts a = account(path, m, false);
    _exit(write(ends[1], &a, sizeof a) == sizeof a ? 0 : 1);
  }
  Accounts a;
  REQUIRE(read(ends[0], &a, sizeof a) == sizeof a);
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(status == 0);
  close(ends[0]);
  close(ends[1]);
  return a;
}

void compare(const std::string& name, const assembly::MachineConfig& m) {
  const std::string path = test::mixed_trace(name);
  const Accounts asleep = account_elsewhere(path, m);
  const Accounts awake = account(path, m, true);
  REQUIRE(awake.cycles == asleep.cycles);
  for (unsigned s = 0; s < protocol::stall_count; ++s) {
    INFO(protocol::to_string(static_cast<Stall>(s)));
    REQUIRE(awake.stack[s] == asleep.stack[s]);
  }
}

}  // namespace

TEST_CASE("cycles slept through have the reason that they have to an SM that never sleeps") { compare("awake", {}); }

TEST_CASE("cycles slept through have the reason that they have to an SM that never sleeps, with scarce resources") {
  assembly::MachineConfig m;
  m.sm.schedulers = 2;
  m.sm.collectors = 1;
  m.sm.issue_width = 2;
  m.sm.fetch_latency = 11;
  m.sm.branch_latency = 7;
  m.sm.max_ctas = 2;
  m.sm.scheduler = "lrr";
  compare("awake_scarce", m);
}
