// SPDX-License-Identifier: Apache-2.0
//
// The residency policy of resource sharing alone: plans, launches, and which slots are pairs.
#include <regatta/sharing/paired_residency.h>
#include <regatta/support/config.h>

#include "../sharing_blocks.h"

using namespace regatta;
using namespace regatta::test::sharing;

namespace {

struct ResidencyBench {
  explicit ResidencyBench(const char* t = "0.1")
      : residency("residency", models::Threshold::parse("register_sharing.t", t)) {
    limits.ctas = 8;
    limits.warps = 48;
    limits.threads = 1536;
    limits.registers = 1024;
    limits.register_granularity = 2;
    limits.shared_bytes = limits.shared_cta_bytes = 49152;
    limits.sub_cores = 2;
  }
  protocol::ResourcePlan plan(unsigned warps_per_cta, unsigned registers, unsigned shared_bytes = 0) {
    Launch l(0, warps_per_cta, registers);
    l.launch.shared_bytes_per_cta = shared_bytes;
    return residency.plan(l.context, limits);
  }
  const SharingPlan& pairs() { return static_cast<const models::CtaPairs&>(residency).plan(); }

  models::PairedRegisters residency;
  protocol::SmLimits limits;
};

}  // namespace

TEST_CASE("paired residency alone: hotspot has six CTAs, in three pairs") {
  ResidencyBench b;
  const protocol::ResourcePlan plan = b.plan(8, 36);
  CHECK(plan.resident_ctas == 6);
  CHECK(plan.active_ctas == 6);
  CHECK(b.pairs().pairs == 3);
  CHECK(b.residency.private_registers() == 3);
  CHECK(plan.registers == 3 * 8 * (36 + 3));
  for (unsigned slot = 0; slot < 6; ++slot) {
    const auto member = b.residency.member(cta_at(slot));
    REQUIRE(member.has_value());
    CHECK(member->pair == slot % 3);
    CHECK(member->side == slot / 3);
    CHECK(b.residency.slot(*member) == cta_at(slot));
    CHECK(b.residency.slot(member->partner()) == cta_at((slot + 3) % 6));
  }
  CHECK_FALSE(b.residency.member(cta_at(6)).has_value());
  CHECK(stat_of(b.residency, "launches_shared") == 1);
}

TEST_CASE("paired residency alone: CTAs that share nothing have the first slots") {
  ResidencyBench b;
  CHECK(b.plan(8, 24).resident_ctas == 6);  // 5 fit, and 6 have threads
  CHECK(b.pairs().pairs == 1);
  for (unsigned slot = 0; slot < 4; ++slot) CHECK_FALSE(b.residency.member(cta_at(slot)).has_value());
  CHECK(b.residency.member(cta_at(4))->side == 0);
  CHECK(b.residency.member(cta_at(5))->side == 1);
  b.residency.cta_launched(Launch(6, 8, 24).cta(3));
  b.residency.cta_launched(Launch(6, 8, 24).cta(4));
  CHECK(stat_of(b.residency, "unshared_ctas") == 1);
  CHECK(stat_of(b.residency, "paired_ctas") == 1);
}

TEST_CASE("paired residency alone: no sharing where it brings no CTA") {
  ResidencyBench b;
  CHECK(b.plan(8, 16).resident_ctas == 6);  // bound by threads
  CHECK_FALSE(b.pairs().sharing());
  CHECK(b.plan(8, 36, 16384).resident_ctas == 3);  // bound by shared memory
  CHECK_FALSE(b.pairs().sharing());
  CHECK(b.plan(8, 36, 12288).resident_ctas == 4);  // three by registers, four by shared memory
  CHECK(b.pairs().pairs == 1);
}

TEST_CASE("paired residency alone: no sharing with a threshold of 1") {
  ResidencyBench b("1");
  CHECK(b.plan(8, 36).resident_ctas == 3);
  CHECK_FALSE(b.pairs().sharing());
}

TEST_CASE("paired residency alone: warps that do not divide evenly over the sub-cores share nothing") {
  ResidencyBench b;
  CHECK(b.plan(5, 48).resident_ctas == 4);
  CHECK_FALSE(b.pairs().sharing());
  b.limits.sub_cores = 1;
  CHECK(b.plan(5, 48).resident_ctas == 6);
  CHECK(b.pairs().pairs == 2);
}

TEST_CASE("paired residency alone: launches as long as there is a slot and a CTA") {
  ResidencyBench b;
  b.plan(8, 24);
  std::vector<protocol::CtaStatus> resident(5);
  protocol::Residency::View view;
  view.ctas = &resident;
  view.ctas_waiting = 3;
  CHECK(b.residency.next(view).kind == protocol::Residency::Action::Kind::launch);
  view.ctas_waiting = 0;
  CHECK(b.residency.next(view).kind == protocol::Residency::Action::Kind::none);
  resident.resize(6);
  view.ctas_waiting = 3;
  CHECK(b.residency.next(view).kind == protocol::Residency::Action::Kind::none);
}

TEST_CASE("paired residency alone: a CTA that does not fit is refused as in the baseline") {
  ResidencyBench b;
  CHECK(error_of([&] { b.plan(48, 64); }) ==
        "kernel k: not one CTA fits on this machine, bound by registers (a CTA has 48 warps of 64 registers and 0 "
        "bytes of shared memory; an SM 48 warps, 1536 threads, 1024 warp registers, 49152 bytes); regatta-annotate "
        "--max-registers 20 makes a kernel that fits");
}

namespace {

struct ScratchpadResidencyBench {
  explicit ScratchpadResidencyBench(const char* t = "0.1")
      : residency("residency", models::Threshold::parse("scratchpad_sharing.t", t)) {
    limits.ctas = 8;
    limits.warps = 48;
    limits.threads = 1536;
    limits.registers = 1024;
    limits.register_granularity = 2;
    limits.shared_bytes = limits.shared_cta_bytes = 16384;
    limits.shared_granularity = 128;
    limits.sub_cores = 2;
  }
  protocol::ResourcePlan plan(unsigned warps_per_cta, unsigned shared_bytes, unsigned registers = 4) {
    Launch l(0, warps_per_cta, registers);
    l.launch.shared_bytes_per_cta = shared_bytes;
    return residency.plan(l.context, limits);
  }
  const SharingPlan& pairs() { return static_cast<const models::CtaPairs&>(residency).plan(); }

  models::PairedScratchpad residency;
  protocol::SmLimits limits;
};

}  // namespace

TEST_CASE("paired residency alone: shared memory of pairs") {
  ScratchpadResidencyBench b;
  // 5,120 bytes: three CTAs, and 1,024 bytes left, which is two tenths of a CTA: two more.
  const protocol::ResourcePlan plan = b.plan(2, 5120);
  CHECK(plan.resident_ctas == 5);
  CHECK(b.pairs().pairs == 2);
  CHECK(b.residency.private_bytes() == 512);
  CHECK(b.residency.cta_bytes() == 5120);
  CHECK(plan.shared_bytes == 5120 + 2 * (5120 + 512));
  CHECK(plan.shared_bytes <= 16384);
}

TEST_CASE("paired residency alone: bytes are rounded up for a CTA, and the private part down to words") {
  ScratchpadResidencyBench b;
  const protocol::ResourcePlan plan = b.plan(2, 5001);
  CHECK(b.residency.cta_bytes() == 5120);
  CHECK(b.residency.private_bytes() == 500);
  CHECK(plan.resident_ctas == 5);
  CHECK(plan.shared_bytes == 5120 + 2 * (5120 + 500));
}

TEST_CASE("paired residency alone: kernels without shared memory, or bound by something else, share none") {
  ScratchpadResidencyBench b;
  CHECK(b.plan(8, 0).resident_ctas == 6);
  CHECK_FALSE(b.pairs().sharing());
  CHECK(b.plan(16, 5120).resident_ctas == 3);  // of threads
  CHECK_FALSE(b.pairs().sharing());
  CHECK(b.plan(8, 5120, 36).resident_ctas == 3);  // of registers
  CHECK_FALSE(b.pairs().sharing());
}
