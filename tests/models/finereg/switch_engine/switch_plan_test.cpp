// SPDX-License-Identifier: Apache-2.0
//
// What bounds the CTAs of a launch under the switch engine.
#include <regatta/support/config.h>
#include <regatta/test/clock.h>

#include "switch_bench.h"

using namespace regatta;
using namespace regatta::test::cta_blocks;

namespace {

struct PlanBench {
  explicit PlanBench(bool moves, const CtaSwitchingConfig& config = {})
      : engine("engine", config, test::clock(period)) {
    engine.status.bind(monitor.access);
    engine.counts.bind(counter.target);
    if (moves) engine.transfer.bind(transfer);
    run_to(0);
  }
  protocol::ResourcePlan plan(unsigned warps, unsigned registers, unsigned shared = 0) {
    Launch launch(0, warps, registers);
    launch.launch.shared_bytes_per_cta = shared;
    return engine.plan(launch.context, limits);
  }
  models::CtaStatusMonitor monitor{"monitor"};
  FakeTransfer transfer{"transfer"};
  FakeCounter counter{"counter"};
  models::SwitchEngine engine;
  protocol::SmLimits limits;  // 32 CTAs, 64 warps, 2,048 threads and registers, 96 KB
};

}  // namespace

TEST_CASE("switch engine alone: without transfer engine the register file bounds the CTAs") {
  PlanBench b(false);
  // 2 warps of 8 registers: 32 CTAs are active, 128 fit into the file.
  const auto p = b.plan(2, 8);
  CHECK(p.active_ctas == 32);
  CHECK(p.resident_ctas == 128);
  CHECK(p.registers == 2048);
  // 8 warps of 16: 8 by warps, 16 by registers.
  CHECK(b.plan(8, 16).active_ctas == 8);
  CHECK(b.plan(8, 16).resident_ctas == 16);
  // Bound by registers: as in the baseline.
  CHECK(b.plan(8, 64).active_ctas == 4);
  CHECK(b.plan(8, 64).resident_ctas == 4);
  CHECK(b.plan(8, 64).registers == 2048);
}

TEST_CASE("switch engine alone: registers elsewhere make room for more CTAs, up to 128 and 512 warps") {
  PlanBench b(true);
  CHECK(b.plan(8, 64).active_ctas == 4);
  CHECK(b.plan(8, 64).resident_ctas == 64);  // 512 warps
  CHECK(b.plan(8, 64).registers == 2048);
  CHECK(b.plan(2, 8).resident_ctas == 128);
  CHECK(b.plan(1, 64).resident_ctas == 128);
  b.transfer.away = 3;
  CHECK(b.plan(8, 64).resident_ctas == 7);
}

TEST_CASE("switch engine alone: the knobs bound the CTAs, but not below those that are active") {
  CtaSwitchingConfig config;
  config.max_ctas = 10;
  config.max_warps = 30;
  PlanBench b(true, config);
  CHECK(b.plan(1, 8).resident_ctas == 32);  // as many as are active
  CHECK(b.plan(2, 64).resident_ctas == 16);
  CHECK(b.plan(4, 128).resident_ctas == 7);
}

TEST_CASE("switch engine alone: pending CTAs keep their shared memory, and their contexts take more") {
  CtaSwitchingConfig config;
  config.entry_bytes = 16;
  config.context_entries = 4;
  PlanBench b(true, config);
  // 8 warps x 4 entries x 16 bytes: 512 bytes of a context. 4 CTAs are active, the others have 512 bytes each.
  auto p = b.plan(8, 64);
  CHECK(p.resident_ctas == 64);
  CHECK(p.shared_bytes == 60 * 512);
  // 8,000 bytes, rounded to 8,192: 4 active, 7 more of 8,704 in 98,304 bytes.
  p = b.plan(8, 64, 8000);
  CHECK(p.resident_ctas == 11);
  CHECK(p.shared_bytes == 11 * 8192 + 7 * 512);
  // Bound by shared memory: nothing is gained.
  p = b.plan(8, 16, 32768);
  CHECK(p.active_ctas == 3);
  CHECK(p.resident_ctas == 3);
  CHECK(p.shared_bytes == 98304);
  // No room for one context.
  p = b.plan(8, 16, 24576);
  CHECK(p.active_ctas == 4);
  CHECK(p.resident_ctas == 4);
}

TEST_CASE("switch engine alone: a CTA that does not fit is refused with the numbers") {
  PlanBench b(true);
  CHECK(
      error_of([&] { b.plan(64, 64); }) ==
      "kernel k: not one CTA fits on this machine, bound by registers (a CTA has 64 warps of 64 registers and 0 bytes "
      "of shared memory; an SM 64 warps, 2048 threads, 2048 warp registers, 98304 bytes); regatta-annotate "
      "--max-registers 32 makes a kernel that fits");
}

TEST_CASE("switch engine alone: of a unified memory, CTAs come first and the L1 has the rest") {
  models::UnifiedMemory memory;
  memory.bytes = 400 * 1024;
  memory.least_l1 = 16 * 1024;
  memory.l1_bytes = 256 * 1024;
  memory.l1_ways = 32;
  PlanBench b(false);
  b.limits.registers = 3072;
  b.limits.shared_bytes = b.limits.shared_cta_bytes = 262144;
  b.engine.set_unified_memory(memory, true);
  // 1 CTA of 64 registers x 2 warps takes 16 KB of registers; 24 fill 384 KB.
  auto p = b.plan(2, 64);
  CHECK(p.active_ctas == 24);
  CHECK(p.resident_ctas == 24);
  CHECK(p.l1_bytes == 16 * 1024);
  // 40 KB of shared memory more: 6 CTAs of 56 KB leave 64 KB.
  p = b.plan(2, 64, 40 * 1024);
  CHECK(p.active_ctas == 6);
  CHECK(p.registers == 6 * 128);
  CHECK(p.l1_bytes == 64 * 1024);
  b.limits.registers = 4096;
  CHECK(error_of([&] { b.plan(64, 64); }) ==
        "kernel k: one CTA takes 524288 bytes of the unified memory, which has 393216 for CTAs (um.bytes less "
        "um.least_l1)");
}
