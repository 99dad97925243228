// SPDX-License-Identifier: Apache-2.0
//
// The residency policy of shared memory multiplexing alone: how many CTAs, and how many places for them.
#include <regatta/sharing/multiplexed_residency.h>

#include <random>

#include <regatta/test/cta_blocks.h>

using namespace regatta;
using namespace regatta::test::cta_blocks;
using models::MultiplexPlan;
using protocol::Residency;

namespace {

struct MultiplexBench {
  explicit MultiplexBench(const char* t = "0", unsigned most = 0)
      : residency("residency", models::Threshold::parse_or_zero("scratchpad_multiplexing.t", t), most) {
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
  const MultiplexPlan& of_launch() { return static_cast<const models::Multiplex&>(residency).plan(); }

  models::MultiplexedResidency residency;
  protocol::SmLimits limits;
};

}  // namespace

TEST_CASE("multiplexed residency alone: two CTAs for every place that shared memory has") {
  MultiplexBench b;
  // 5,120 bytes: three CTAs alone.
  const protocol::ResourcePlan plan = b.plan(2, 5120);
  CHECK(plan.resident_ctas == 6);
  CHECK(plan.active_ctas == 6);
  CHECK(plan.shared_bytes == 3 * 5120);
  CHECK(b.of_launch().places == 3);
  CHECK(b.residency.private_bytes() == 0);
  CHECK(b.residency.cta_bytes() == 5120);
  CHECK(b.plan(2, 2560).resident_ctas == 8);  // bound by CTAs; six places
  CHECK(b.of_launch().places == 6);
}

TEST_CASE("multiplexed residency alone: private bytes take room from the places") {
  MultiplexBench b("0.1");
  // Four CTAs take 4 x 512 private bytes, and 14,336 are left: three places of 4,608 bytes. Six would leave two.
  const protocol::ResourcePlan plan = b.plan(2, 5120);
  CHECK(b.residency.private_bytes() == 512);
  CHECK(plan.resident_ctas == 5);
  CHECK(b.of_launch().places == 3);
  CHECK(plan.shared_bytes == 5 * 512 + 3 * 4608);
  CHECK(plan.shared_bytes <= 16384);
}

TEST_CASE("multiplexed residency alone: a number of CTAs that is given") {
  CHECK(MultiplexBench("0", 5).plan(2, 5120).resident_ctas == 5);
}

TEST_CASE("multiplexed residency alone: more CTAs than two for a place, if they are asked for") {
  MultiplexBench b("0.1", 100);
  CHECK(b.plan(2, 5120).resident_ctas == 8);
  CHECK(b.of_launch().places == 2);  // 16,384 - 8 x 512 = 12,288 bytes
}

TEST_CASE("multiplexed residency alone: fewer CTAs than shared memory holds cannot be asked for") {
  MultiplexBench b("0", 1);
  CHECK(b.plan(2, 5120).resident_ctas == 3);
  CHECK_FALSE(b.of_launch().multiplexes());
}

TEST_CASE("multiplexed residency alone: nothing is in turn where other limits bind, or all is private") {
  MultiplexBench b;
  CHECK(b.plan(2, 0).resident_ctas == 8);
  CHECK_FALSE(b.of_launch().multiplexes());
  CHECK(b.plan(16, 5120).resident_ctas == 3);  // of threads
  CHECK_FALSE(b.of_launch().multiplexes());
  CHECK(b.plan(8, 5120, 50).resident_ctas == 2);  // of registers
  CHECK_FALSE(b.of_launch().multiplexes());
}

TEST_CASE("multiplexed residency alone: nothing is in turn with a private share of 1") {
  MultiplexBench b("1");
  CHECK(b.plan(2, 5001).resident_ctas == 3);
  CHECK_FALSE(b.of_launch().multiplexes());
}

TEST_CASE("multiplexed residency alone: every plan fits, and no larger one with the same rule does") {
  std::mt19937 dice(11);
  for (unsigned n = 0; n < 3000; ++n) {
    const unsigned whole = 1 + dice() % 200, own = dice() % whole, limit = 1 + dice() % 12, per_place = dice() % 4;
    const unsigned bytes = whole * (1 + dice() % 6) + dice() % whole;
    CAPTURE(whole, own, limit, per_place, bytes);
    const auto fits = [&](unsigned ctas, unsigned places) {
      return places != 0 && ctas * own + places * (whole - own) <= bytes &&
             (per_place == 0 || per_place * places >= ctas);
    };
    const MultiplexPlan plan = models::multiplex_ctas(bytes, whole, own, limit, per_place);
    REQUIRE(plan.ctas <= limit);
    REQUIRE(plan.places <= plan.ctas);
    REQUIRE(plan.ctas >= std::min(bytes / whole, limit));
    REQUIRE(plan.ctas * own + plan.places * (whole - own) <= bytes);
    if (plan.multiplexes()) REQUIRE_FALSE((plan.places < plan.ctas && fits(plan.ctas, plan.places + 1)));
    for (unsigned more = plan.ctas + 1; more <= limit; ++more) {
      for (unsigned places = 1; places <= more; ++places) REQUIRE_FALSE(fits(more, places));
    }
  }
}

TEST_CASE("multiplexed residency alone: launches as long as there is a slot and a CTA") {
  MultiplexBench b;
  b.plan(2, 5120);
  std::vector<protocol::CtaStatus> resident(5);
  Residency::View view;
  view.ctas = &resident;
  view.ctas_waiting = 3;
  CHECK(b.residency.next(view).kind == Residency::Action::Kind::launch);
  view.ctas_waiting = 0;
  CHECK(b.residency.next(view).kind == Residency::Action::Kind::none);
  resident.resize(6);
  view.ctas_waiting = 3;
  CHECK(b.residency.next(view).kind == Residency::Action::Kind::none);
  b.residency.cta_launched(Launch(6, 2, 4).cta(0));
  CHECK(stat_of(b.residency, "multiplexed_ctas") == 1);
  CHECK(stat_of(b.residency, "launches_multiplexed") == 1);
}
