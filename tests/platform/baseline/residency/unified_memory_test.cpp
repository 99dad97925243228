// SPDX-License-Identifier: Apache-2.0
//
// What a launch takes of a unified memory, and what it leaves to the L1.
#include <regatta/baseline/occupancy_residency.h>
#include <regatta/support/config.h>
#include <regatta/test/catch.h>

using namespace regatta;
using models::UnifiedMemory;

namespace {

/// FineReg's 400 KB, of which the L1 can have 256 in ways of 8.
UnifiedMemory memory_of(unsigned kilobytes = 400) {
  UnifiedMemory m;
  m.bytes = kilobytes * 1024;
  m.least_l1 = 16 * 1024;
  m.l1_bytes = 256 * 1024;
  m.l1_ways = 32;
  return m;
}

struct Bench {
  explicit Bench(const UnifiedMemory& memory) : residency("residency", memory) {
    limits.registers = 3072;
    limits.shared_bytes = limits.shared_cta_bytes = 262144;
    kernel.name = "k";
    context.kernel = &kernel;
    context.launch = &launch;
  }
  protocol::ResourcePlan plan(unsigned warps, unsigned registers, unsigned shared) {
    launch.block = {warps * 32, 1, 1};
    launch.shared_bytes_per_cta = shared;
    context.warps_per_cta = warps;
    context.registers_per_warp = registers;
    return residency.plan(context, limits);
  }
  models::UnifiedOccupancyResidency residency;
  protocol::SmLimits limits;
  trace::Kernel kernel;
  trace::Launch launch;
  protocol::KernelContext context;
};

std::string refusal(const UnifiedMemory& m) {
  try {
    m.check("um");
  } catch (const support::ConfigError& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("unified memory: the L1 has the rest, in whole ways, up to its size") {
  const UnifiedMemory m = memory_of();
  CHECK(m.way() == 8192);
  CHECK(m.for_ctas() == 384 * 1024);
  CHECK(m.l1_share(0) == 256 * 1024);           // no more than it can have
  CHECK(m.l1_share(144 * 1024) == 256 * 1024);  // 400 - 256
  CHECK(m.l1_share(144 * 1024 + 1) == 248 * 1024);
  CHECK(m.l1_share(200 * 1024) == 200 * 1024);
  CHECK(m.l1_share(m.for_ctas()) == m.least_l1);
  for (std::uint64_t used = 0; used <= m.for_ctas(); used += 1000) {
    CHECK(m.l1_share(used) % m.way() == 0);
    CHECK(m.l1_share(used) >= m.least_l1);
    CHECK((m.l1_share(used) + used <= m.bytes));
  }
}

TEST_CASE("unified memory: CTAs take registers and shared memory, the L1 the rest") {
  Bench b(memory_of());
  // 8 warps of 32 registers: 32 KB; 8 CTAs by warps are 256 KB, and leave 144.
  auto p = b.plan(8, 32, 0);
  CHECK(p.resident_ctas == 8);
  CHECK(p.registers == 2048);
  CHECK(p.l1_bytes == 144 * 1024);
  // With 10 KB of shared memory each, 80 of these are taken.
  p = b.plan(8, 32, 10240);
  CHECK(p.resident_ctas == 8);
  CHECK(p.shared_bytes == 81920);
  CHECK(p.l1_bytes == 64 * 1024);
  // 20 KB each: 7 CTAs of 52 KB are 364 of 384; the L1 has 36 KB in ways of 8.
  p = b.plan(8, 32, 20480);
  CHECK(p.resident_ctas == 7);
  CHECK(p.active_ctas == 7);
  CHECK(p.l1_bytes == 32 * 1024);
  // Next to nothing.
  p = b.plan(1, 8, 0);
  CHECK(p.resident_ctas == 32);
  CHECK(p.l1_bytes == 256 * 1024);
}

TEST_CASE("unified memory: more CTAs than fit are not launched") {
  Bench b(memory_of(100));
  const auto p = b.plan(8, 32, 0);
  CHECK(p.resident_ctas == 2);  // 84 KB for CTAs
  CHECK(p.l1_bytes == 32 * 1024);
  using Kind = protocol::Residency::Action::Kind;
  std::vector<protocol::CtaStatus> resident(1);
  protocol::Residency::View view;
  view.ctas = &resident;
  view.ctas_waiting = 10;
  CHECK(b.residency.next(view).kind == Kind::launch);
  resident.emplace_back();
  CHECK(b.residency.next(view).kind == Kind::none);
}

TEST_CASE("unified memory: a CTA that does not fit is refused with the numbers") {
  Bench b(memory_of(64));
  try {
    b.plan(8, 32, 20480);
    FAIL("not refused");
  } catch (const support::ConfigError& e) {
    CHECK(std::string(e.what()) ==
          "kernel k: one CTA takes 53248 bytes of the unified memory, which has 49152 for CTAs (um.bytes less "
          "um.least_l1)");
  }
}

TEST_CASE("unified memory: sizes that do not fit together are refused") {
  CHECK(refusal(memory_of()).empty());
  UnifiedMemory m = memory_of();
  m.least_l1 = 12288;
  CHECK(
      refusal(m) ==
      "configuration: scheme um: um.least_l1 = 12288, expected whole ways of the L1, of 8192 bytes each, at least one "
      "and at most 262144 bytes (use --machine finereg_um)");
  m.least_l1 = 0;
  CHECK_FALSE(refusal(m).empty());
  m.least_l1 = 264 * 1024;
  CHECK_FALSE(refusal(m).empty());
  m.least_l1 = 256 * 1024;
  CHECK(refusal(m).empty());
  m.bytes = 256 * 1024;
  CHECK(refusal(m) == "configuration: scheme um: um.bytes = 262144, expected more than um.least_l1 = 262144");
}
