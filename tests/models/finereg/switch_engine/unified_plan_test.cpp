// SPDX-License-Identifier: Apache-2.0
//
// The switch engine divides a unified memory: shared memory and registers of CTAs, registers of pending CTAs, the L1.
#include <regatta/support/config.h>
#include <regatta/test/clock.h>

#include "switch_bench.h"

using namespace regatta;
using namespace regatta::test::cta_blocks;

namespace {

/// Wants `each` registers for a pending CTA.
class WantingTransfer : public FakeTransfer {
 public:
  using FakeTransfer::FakeTransfer;
  std::uint64_t each = 0, given = ~std::uint64_t{0};
  std::uint64_t registers_wanted(const protocol::KernelContext&, unsigned ctas) const override { return each * ctas; }
  void set_registers(std::uint64_t registers) override { given = registers; }
};

models::UnifiedMemory memory_of(unsigned kilobytes) {
  models::UnifiedMemory m;
  m.bytes = kilobytes * 1024;
  m.least_l1 = 16 * 1024;
  m.l1_bytes = 256 * 1024;
  m.l1_ways = 32;
  return m;
}

/// Contexts of pending CTAs take 512 bytes for 8 warps.
struct UnifiedBench {
  UnifiedBench(bool moves, unsigned kilobytes, bool with_file) : engine("engine", config(), test::clock(period)) {
    engine.status.bind(monitor.access);
    engine.counts.bind(counter.target);
    if (moves) engine.transfer.bind(transfer);
    engine.set_unified_memory(memory_of(kilobytes), with_file);
    limits.shared_bytes = limits.shared_cta_bytes = 262144;
    run_to(0);
  }
  static CtaSwitchingConfig config() {
    CtaSwitchingConfig c;
    c.entry_bytes = 16;
    c.context_entries = 4;
    return c;
  }
  protocol::ResourcePlan plan(unsigned warps, unsigned registers, unsigned shared = 0) {
    Launch launch(0, warps, registers);
    launch.launch.shared_bytes_per_cta = shared;
    return engine.plan(launch.context, limits);
  }
  models::CtaStatusMonitor monitor{"monitor"};
  WantingTransfer transfer{"transfer"};
  FakeCounter counter{"counter"};
  models::SwitchEngine engine;
  protocol::SmLimits limits;  // 32 CTAs, 64 warps, 2,048 threads and registers
};

}  // namespace

TEST_CASE("switch engine alone: the L1 gives way to CTAs that Virtual Thread adds") {
  UnifiedBench b(false, 400, true);
  b.limits.registers = 3072;
  // 8 warps of 32 registers, 32 KB: 8 active by warps, 11 by the 384 KB (352 KB and three contexts), 12 by the file.
  const auto p = b.plan(8, 32);
  CHECK(p.active_ctas == 8);
  CHECK(p.resident_ctas == 11);
  CHECK(p.registers == 2816);
  CHECK(p.shared_bytes == 3 * 512);
  CHECK(p.l1_bytes == 40 * 1024);
  // Without pending CTAs the L1 would have 144 KB. Smaller CTAs leave more.
  const auto q = b.plan(8, 16);
  CHECK(q.active_ctas == 8);
  CHECK(q.resident_ctas == 23);  // 16 KB and a context: 384 KB less 8 x 16
  CHECK(q.l1_bytes == 24 * 1024);
}

TEST_CASE("switch engine alone: as CTAs grow, so does what the L1 gives up") {
  UnifiedBench b(false, 400, true);
  b.limits.registers = 3072;
  std::uint64_t l1 = ~std::uint64_t{0};
  for (const unsigned shared : {0u, 1024u, 2048u, 4096u}) {
    const auto p = b.plan(32, 32, shared);  // 128 KB of registers: two CTAs active
    CHECK(p.active_ctas == 2);
    CHECK(p.l1_bytes <= l1);
    CHECK(p.registers * 128 + p.shared_bytes + p.l1_bytes <= 400 * 1024);
    l1 = p.l1_bytes;
  }
}

TEST_CASE("switch engine alone: shared memory comes first, then registers of pending CTAs, then the L1") {
  UnifiedBench b(true, 272, false);
  b.transfer.away = 4;
  b.transfer.each = 100;
  // 8 warps of 64 registers: 4 active in the file of their own, 4 pending with 512 bytes of context each.
  auto p = b.plan(8, 64);
  CHECK(p.active_ctas == 4);
  CHECK(p.resident_ctas == 8);
  CHECK(p.registers == 2048);
  CHECK(b.transfer.given == 400);   // 51,200 bytes
  CHECK(p.l1_bytes == 216 * 1024);  // 278,528 - 2,048 - 51,200 = 225,280 bytes: 27 ways
  // 20 KB of shared memory a CTA: 8 of 20,480 and the contexts are 165,888 bytes; 262,144 - 165,888 hold 752 registers.
  p = b.plan(8, 64, 20480);
  CHECK(p.resident_ctas == 8);
  CHECK(b.transfer.given == 400);
  CHECK(p.l1_bytes == 56 * 1024);  // 278,528 - 165,888 - 51,200 = 61,440: 7 ways
  // They want more than there is: the L1 keeps its least share.
  b.transfer.each = 1000;
  p = b.plan(8, 64, 20480);
  CHECK(b.transfer.given == 752);
  CHECK(p.l1_bytes == 16 * 1024);
  // Shared memory takes all: none are left.
  p = b.plan(8, 64, 32768);
  CHECK(p.resident_ctas == 7);  // 7 x 32 KB and 3 contexts are 225.5 of 256 KB; an eighth does not fit
  CHECK(b.transfer.given == (262144 - 7 * 32768 - 3 * 512) / 128);
  CHECK(p.l1_bytes == 16 * 1024);
}

TEST_CASE("switch engine alone: fewer CTAs are active in a memory that is too small for them") {
  UnifiedBench b(false, 100, true);
  const auto p = b.plan(8, 32);  // 32 KB each, 84 KB for CTAs
  CHECK(p.active_ctas == 2);
  CHECK(p.resident_ctas == 2);
  CHECK(p.l1_bytes == 32 * 1024);
}

TEST_CASE("switch engine alone: a CTA that does not fit into a unified memory is refused with the numbers") {
  UnifiedBench b(false, 64, true);
  CHECK(error_of([&] { b.plan(8, 32, 20480); }) ==
        "kernel k: one CTA takes 53248 bytes of the unified memory, which has 49152 for CTAs (um.bytes less "
        "um.least_l1)");
}

TEST_CASE("switch engine alone: without a unified memory the L1 keeps its size") {
  UnifiedBench b(true, 272, false);
  b.engine.set_unified_memory({}, false);
  CHECK(b.plan(8, 64).l1_bytes == 0);
  CHECK(b.transfer.given == ~std::uint64_t{0});
}
