// SPDX-License-Identifier: Apache-2.0
//
// How many CTAs an SM holds: worked out by hand for the limits of gtx980.
#include <regatta/baseline/occupancy_residency.h>
#include <regatta/support/config.h>
#include <regatta/test/catch.h>

using namespace regatta;

namespace {

struct Case {
  unsigned registers;  ///< per thread
  unsigned shared;     ///< bytes per CTA
  unsigned threads;    ///< per CTA
  unsigned ctas;       ///< expected
  const char* bound;
};

// 32 CTAs, 64 warps, 2048 threads, 2048 warp registers allotted in eights, 98304 bytes allotted in 256s.
const Case cases[] = {
    {8, 0, 256, 8, "warps"},        // 8 warps a CTA
    {32, 0, 256, 8, "registers"},   // 256 warp registers a CTA: as many as the warps allow
    {33, 0, 256, 6, "registers"},   // rounded to 40
    {40, 0, 256, 6, "registers"},   //
    {41, 0, 256, 5, "registers"},   // 48
    {64, 0, 256, 4, "registers"},   //
    {128, 0, 256, 2, "registers"},  //
    {255, 0, 256, 1, "registers"},  // 256
    {16, 0, 32, 32, "CTAs"},        // 128 by registers, 64 by warps
    {64, 0, 32, 32, "registers"},   //
    {72, 0, 32, 28, "registers"},   //
    {255, 0, 32, 8, "registers"},   //
    {16, 0, 1024, 2, "warps"},      // 4 by registers
    {32, 0, 1024, 2, "registers"},  //
    {33, 0, 1024, 1, "registers"},  // 1280 a CTA
    {64, 0, 1024, 1, "registers"},  // all of them
    {65, 0, 1024, 0, "registers"},  // 2304
    {16, 0, 100, 16, "warps"},      // 4 warps, the last one partial
    {8, 0, 33, 32, "warps"},        // 2 warps
    {16, 1, 128, 16, "warps"},      // 256 bytes
    {16, 6144, 128, 16, "shared memory"},
    {16, 6145, 128, 15, "shared memory"},  // 6400
    {16, 12288, 128, 8, "shared memory"},
    {16, 49152, 128, 2, "shared memory"},
    {16, 49153, 128, 1, "shared memory"},
    {16, 98304, 128, 1, "shared memory"},
    {16, 98305, 128, 0, "shared memory"},
    {24, 0, 512, 4, "warps"},              // 5 by registers
    {32, 20000, 512, 4, "registers"},      // 20224 bytes: 4 as well
    {24, 32768, 768, 2, "warps"},          // 3 by registers and shared memory
    {24, 40000, 768, 2, "shared memory"},  // 40192
};

protocol::SmLimits limits() { return protocol::SmLimits{}; }

struct Plan {
  explicit Plan(const Case& c) {
    kernel.name = "k";
    launch.block = {c.threads, 1, 1};
    launch.shared_bytes_per_cta = c.shared;
    context.kernel = &kernel;
    context.launch = &launch;
    context.warps_per_cta = launch.warps_per_cta(32);
    context.registers_per_warp = (c.registers + 7) / 8 * 8;
  }
  trace::Kernel kernel;
  trace::Launch launch;
  protocol::KernelContext context;
};

}  // namespace

TEST_CASE("occupancy: registers, shared memory and threads of a CTA on gtx980") {
  for (const Case& c : cases) {
    CAPTURE(c.registers, c.shared, c.threads);
    const unsigned warps = (c.threads + 31) / 32;
    const models::Occupancy o = models::occupancy(limits(), warps, (c.registers + 7) / 8 * 8, c.shared);
    CHECK(o.ctas() == c.ctas);
    CHECK(o.bound() == c.bound);
  }
}

TEST_CASE("occupancy: threads bind where warps are plenty") {
  protocol::SmLimits l = limits();
  l.threads = 1000;
  const models::Occupancy o = models::occupancy(l, 4, 8, 0);
  CHECK(o.by_threads == 7);  // whole warps count: 128 threads
  CHECK(o.ctas() == 7);
  CHECK(o.bound() == "threads");
}

TEST_CASE("residency: launches until the plan is full, and again when a CTA has left") {
  models::OccupancyResidency residency("residency");
  for (const Case& c : cases) {
    CAPTURE(c.registers, c.shared, c.threads);
    Plan plan(c);
    if (c.ctas == 0) {
      CHECK_THROWS_AS(residency.plan(plan.context, limits()), support::ConfigError);
      continue;
    }
    const protocol::ResourcePlan answer = residency.plan(plan.context, limits());
    REQUIRE(answer.resident_ctas == c.ctas);
    CHECK(answer.active_ctas == c.ctas);
    CHECK(answer.registers == std::uint64_t{c.ctas} * plan.context.warps_per_cta * plan.context.registers_per_warp);
    using Kind = protocol::Residency::Action::Kind;
    std::vector<protocol::CtaStatus> resident;
    protocol::Residency::View view;
    view.ctas = &resident;
    view.ctas_waiting = 1000;
    while (residency.next(view).kind == Kind::launch) {
      resident.emplace_back();
      REQUIRE(resident.size() <= c.ctas);
    }
    CHECK(resident.size() == c.ctas);
    resident.pop_back();
    CHECK(residency.next(view).kind == Kind::launch);
    view.ctas_waiting = 0;
    CHECK(residency.next(view).kind == Kind::none);
  }
}

TEST_CASE("residency: a kernel that does not fit is refused with what binds") {
  models::OccupancyResidency residency("residency");
  Plan plan({65, 0, 1024, 0, ""});
  try {
    residency.plan(plan.context, limits());
    FAIL("not refused");
  } catch (const support::ConfigError& e) {
    CHECK(std::string(e.what()) ==
          "kernel k: not one CTA fits on this machine, bound by registers (a CTA has 32 warps of 72 registers and 0 "
          "bytes of shared memory; an SM 64 warps, 2048 threads, 2048 warp registers, 98304 bytes); regatta-annotate "
          "--max-registers 64 makes a kernel that fits");
  }
}

TEST_CASE("residency: what one CTA may have of the shared memory is said where it is less than all") {
  models::OccupancyResidency residency("residency");
  Plan plan({8, 60000, 256, 0, ""});
  protocol::SmLimits l = limits();
  l.shared_cta_bytes = 49152;
  try {
    residency.plan(plan.context, l);
    FAIL("not refused");
  } catch (const support::ConfigError& e) {
    CHECK(std::string(e.what()) ==
          "kernel k: not one CTA fits on this machine, bound by shared memory (a CTA has 8 warps of 8 registers and "
          "60000 bytes of shared memory; an SM 64 warps, 2048 threads, 2048 warp registers, 98304 bytes, 49152 of "
          "them for one CTA)");
  }
}
