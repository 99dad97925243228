// SPDX-License-Identifier: Apache-2.0
//
// The residency policy of warp-level divergence alone: how many CTAs, and which warps start when.
#include <regatta/sharing/partial_residency.h>
#include <regatta/support/config.h>

#include <vector>

#include <regatta/test/clock.h>
#include <regatta/test/cta_blocks.h>

using namespace regatta;
using namespace regatta::test::cta_blocks;
using protocol::Residency;
using Kind = protocol::Residency::Action::Kind;

namespace {

/// As many free windows per slice as the test says.
class Room : public sc_core::sc_module, public models::WarpRoom {
 public:
  explicit Room(const sc_core::sc_module_name& name) : sc_module(name) {}
  unsigned slices() const override { return static_cast<unsigned>(free.size()); }
  unsigned slice_of(WarpSlot warp) const override { return warp.value() % slices(); }
  unsigned free_windows(unsigned slice) const override { return free[slice]; }
  std::vector<unsigned> free{4, 4};
};

struct PartialBench {
  PartialBench() : residency("residency", test::clock(period)) {
    residency.room.bind(room);
    run_to(0);
    limits.ctas = 8;
    limits.warps = 48;
    limits.threads = 1536;
    limits.registers = 1024;
    limits.register_granularity = 2;
    limits.shared_bytes = limits.shared_cta_bytes = 49152;
    limits.sub_cores = 2;
  }
  protocol::ResourcePlan plan(unsigned warps_per_cta, unsigned registers, unsigned shared_bytes = 0) {
    launch = Launch(0, warps_per_cta, registers);
    launch.launch.shared_bytes_per_cta = shared_bytes;
    launch.context.kernel = &launch.kernel;
    launch.context.launch = &launch.launch;
    return residency.plan(launch.context, limits);
  }
  Residency::Action next(const std::vector<unsigned>& resident, std::uint64_t waiting = 3) {
    std::vector<protocol::CtaStatus> ctas(resident.size());
    for (std::size_t i = 0; i < ctas.size(); ++i) ctas[i].cta = cta_at(resident[i]);
    Residency::View view;
    view.ctas = &ctas;
    view.ctas_waiting = waiting;
    return residency.next(view);
  }
  void start(unsigned warp) {
    --room.free[warp % 2];
    residency.warp_started(launch.warp(warp));
  }

  Room room{"room"};
  models::PartialResidency residency;
  protocol::SmLimits limits;
  Launch launch{0, 1, 1};
};

}  // namespace

TEST_CASE("partial residency alone: as many CTAs as the other limits allow, registers as there are") {
  PartialBench b;
  // hotspot: three CTAs by registers (14 warps in each half), six by threads.
  const protocol::ResourcePlan plan = b.plan(8, 36);
  CHECK(plan.resident_ctas == 6);
  CHECK(plan.active_ctas == 6);
  CHECK(plan.registers == 28 * 36);
  CHECK(b.plan(8, 36, 16384).resident_ctas == 3);  // of shared memory
  CHECK(b.plan(8, 4).resident_ctas == 6);
  CHECK(b.plan(8, 4).registers == 6 * 8 * 4);
  CHECK(b.plan(2, 250).resident_ctas == 4);  // four windows: one for each CTA at least
}

TEST_CASE("partial residency alone: a CTA that does not fit alone is refused as in the baseline") {
  PartialBench b;
  CHECK(error_of([&] { b.plan(48, 64); }) ==
        "kernel k: not one CTA fits on this machine, bound by registers (a CTA has 48 warps of 64 registers and 0 "
        "bytes of shared memory; an SM 48 warps, 1536 threads, 1024 warp registers, 49152 bytes); regatta-annotate "
        "--max-registers 20 makes a kernel that fits");
}

TEST_CASE("partial residency alone: a CTA for whose warps there are rows is launched whole") {
  PartialBench b;
  b.plan(8, 36);
  const Residency::Action action = b.next({});
  CHECK(action.kind == Kind::launch);
  CHECK_FALSE(action.warps_wait);
  b.residency.cta_launched(b.launch.cta(0));
  CHECK_FALSE(b.residency.partial().has_value());
  CHECK(stat_of(b.residency, "whole_ctas") == 1);
  CHECK(b.next({0}, 0).kind == Kind::none);
  CHECK(b.next({0, 1, 2, 3, 4, 5}).kind == Kind::none);
}

TEST_CASE("partial residency alone: one warp is enough for a launch, none is not") {
  PartialBench b;
  b.plan(8, 36);
  b.room.free = {0, 1};
  CHECK(b.next({0, 2}).kind == Kind::launch);
  CHECK(b.next({0, 2}).warps_wait);
  b.room.free = {0, 0};
  CHECK(b.next({0, 2}).kind == Kind::none);
}

TEST_CASE("partial residency alone: rows in one half do not help the warps of the other") {
  PartialBench b;
  b.plan(8, 36);
  b.room.free = {3, 8};
  const Residency::Action action = b.next({});
  CHECK(action.kind == Kind::launch);
  CHECK(action.warps_wait);
}

TEST_CASE("partial residency alone: warps enter as rows are given back, and only then the next CTA") {
  PartialBench b;
  b.plan(4, 36);
  b.room.free = {1, 1};
  REQUIRE(b.next({0}).warps_wait);
  b.residency.cta_launched(b.launch.cta(1));
  REQUIRE(b.residency.partial() == cta_at(1));
  // Warps 4 and 6 are in one half, 5 and 7 in the other.
  Residency::Action action = b.next({0, 1});
  CHECK(action.kind == Kind::admit);
  CHECK(action.cta == cta_at(1));
  CHECK(action.warp_in_cta == 0);
  b.start(4);
  action = b.next({0, 1});
  CHECK(action.kind == Kind::admit);
  CHECK(action.warp_in_cta == 1);
  b.start(5);
  CHECK(b.next({0, 1}).kind == Kind::none);
  run_to(30);
  b.room.free = {0, 5};
  action = b.next({0, 1});
  CHECK(action.warp_in_cta == 3);  // there are rows for the half of warp 3, and not for that of warp 2
  b.start(7);
  CHECK(b.next({0, 1}).kind == Kind::none);  // though there is room for warps of a third CTA
  run_to(50);
  b.room.free = {1, 4};
  CHECK(b.next({0, 1}).warp_in_cta == 2);
  b.start(6);
  CHECK_FALSE(b.residency.partial().has_value());
  CHECK(stat_of(b.residency, "partial_ctas") == 1);
  CHECK(stat_of(b.residency, "late_warps") == 2);
  CHECK(stat_of(b.residency, "late_cycles") == 30 + 50);
  CHECK(stat_of(b.residency, "partial_cycles") == 50);
  action = b.next({0, 1});
  CHECK(action.kind == Kind::launch);
  CHECK(action.warps_wait);
}

TEST_CASE("partial residency alone: a launch for which the grid had no CTA leaves nothing behind") {
  PartialBench b;
  b.plan(4, 36);
  b.room.free = {1, 1};
  REQUIRE(b.next({0}).warps_wait);
  b.room.free = {4, 4};
  REQUIRE(b.next({0}).kind == Kind::launch);
  b.residency.cta_launched(b.launch.cta(1));
  CHECK_FALSE(b.residency.partial().has_value());
}
