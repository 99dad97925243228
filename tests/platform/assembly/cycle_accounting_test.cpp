// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

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
  m.sm.scheduler = "lrr";
  require_complete(test::simulate_baseline(test::mixed_trace("reasons_dual"), m), 1);
}
