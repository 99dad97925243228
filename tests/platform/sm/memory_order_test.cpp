// SPDX-License-Identifier: Apache-2.0
//
// Barriers and fences.
#include <algorithm>

#include "recorder.h"

using namespace regatta;
using test::Recording;
using test::TraceBuilder;
using trace::MemorySpace;
using trace::OpClass;

namespace {

void barrier(const std::string& name, unsigned latency) {
  assembly::MachineConfig m;
  m.sm.barrier_latency = latency;
  TraceBuilder b;
  const std::uint32_t slow = b.op(OpClass::sfu, {1}, {1});
  b.op(OpClass::int_add, {1}, {1});
  const std::uint32_t bar = b.barrier();
  const std::uint32_t after = b.op(OpClass::int_add, {2}, {3});
  b.exit();
  b.launch(1, 128);
  b.begin_cta();
  for (unsigned warp = 0; warp < 4; ++warp) {
    b.begin_warp();
    // Warps arrive at different times: warp w takes w detours.
    for (unsigned i = 0; i < warp; ++i) b.execute(slow);
    for (std::uint32_t i = slow; i < b.kernel().instructions.size(); ++i) b.execute(i);
    b.end_warp();
  }
  b.end_cta();
  const Recording r = test::record(b, name, m);
  std::uint64_t last = 0;
  for (unsigned warp = 0; warp < 4; ++warp) last = std::max(last, r.of(warp, bar).issued);
  CHECK(r.of(0, bar).issued < last);
  // A scheduler each, so all of them go on at once.
  for (unsigned warp = 0; warp < 4; ++warp) CHECK(r.of(warp, after).issued == last + latency);
}

std::vector<std::uint64_t> words(std::uint64_t base) {
  std::vector<std::uint64_t> a;
  for (unsigned lane = 0; lane < 32; ++lane) a.push_back(base + lane * 4);
  return a;
}

}  // namespace

TEST_CASE("barrier: opens for all warps a fixed time after the last arrival") { barrier("barrier_1", 1); }
TEST_CASE("barrier: opens after its latency") { barrier("barrier_17", 17); }

TEST_CASE("barrier: warps that have ended are not waited for") {
  const assembly::MachineConfig m;
  TraceBuilder b;
  b.op(OpClass::int_add, {1}, {1});
  const std::uint32_t bar = b.barrier();
  const std::uint32_t after = b.op(OpClass::int_add, {2}, {3});
  const std::uint32_t done = b.exit();
  b.launch(1, 96);
  b.begin_cta();
  for (unsigned warp = 0; warp < 3; ++warp) {
    b.begin_warp();
    b.execute(0);
    if (warp != 1) {
      b.execute(bar);
      b.execute(after);
    }
    b.execute(done);
    b.end_warp();
  }
  b.end_cta();
  const Recording r = test::record(b, "barrier_ended", m);
  CHECK(r.of(0, after).issued >= std::max(r.of(0, bar).issued, r.of(2, bar).issued) + m.sm.barrier_latency);
}

TEST_CASE("barrier: barriers of different numbers do not meet") {
  const assembly::MachineConfig m;
  TraceBuilder b;
  const std::uint32_t slow = b.op(OpClass::int_div, {1}, {1});
  const std::uint32_t first = b.barrier(1, 64);
  const std::uint32_t second = b.barrier(2, 64);
  const std::uint32_t after = b.op(OpClass::int_add, {2}, {3});
  const std::uint32_t done = b.exit();
  b.launch(1, 128);
  b.begin_cta();
  for (unsigned warp = 0; warp < 4; ++warp) {
    b.begin_warp();
    if (warp >= 2) {
      b.execute(slow);
      b.execute(slow);
    }
    b.execute(warp < 2 ? first : second);
    b.execute(after);
    b.execute(done);
    b.end_warp();
  }
  b.end_cta();
  const Recording r = test::record(b, "barrier_numbers", m);
  const std::uint64_t fast = std::max(r.of(0, first).issued, r.of(1, first).issued);
  const std::uint64_t late = std::max(r.of(2, second).issued, r.of(3, second).issued);
  for (unsigned warp : {0u, 1u}) {
    CHECK(r.of(warp, after).issued >= fast + m.sm.barrier_latency);
    CHECK(r.of(warp, after).issued < r.of(2, slow).retired);
  }
  for (unsigned warp : {2u, 3u}) CHECK(r.of(warp, after).issued >= late + m.sm.barrier_latency);
}

TEST_CASE("barrier: a count is of the program's warps, two to a wavefront of 64 lanes") {
  assembly::MachineConfig m;
  m.sm.lanes = 64;
  TraceBuilder b(64);
  const std::uint32_t slow = b.op(OpClass::int_div, {1}, {1});
  const std::uint32_t bar = b.barrier(1, 64);
  const std::uint32_t after = b.op(OpClass::int_add, {2}, {3});
  const std::uint32_t done = b.exit();
  b.launch(1, 128);
  b.begin_cta();
  for (unsigned warp = 0; warp < 2; ++warp) {
    b.begin_warp();
    if (warp == 1) b.execute(slow);
    // The other warp of this wavefront left without the barrier; of this one 8 lanes come, and it counts whole.
    b.execute(bar, 0xff);
    b.execute(after, 0xff);
    b.execute(done);
    b.end_warp();
  }
  b.end_cta();
  const Recording r = test::record(b, "barrier_halves", m);
  CHECK(r.of(0, after).issued >= r.of(1, bar).issued + m.sm.barrier_latency);
  CHECK(r.of(1, bar).issued > r.of(0, bar).issued);
}

TEST_CASE("fence: waits for its own warp's stores, and for no other's") {
  const assembly::MachineConfig m;
  TraceBuilder b;
  const std::uint32_t store = b.store(MemorySpace::global, 1, 2);
  const std::uint32_t load = b.load(MemorySpace::global, 3, 4);
  const std::uint32_t fence = b.fence();
  const std::uint32_t after = b.op(OpClass::int_add, {5}, {6});
  const std::uint32_t done = b.exit();
  b.launch(1, 96);
  b.begin_cta();
  for (unsigned warp = 0; warp < 3; ++warp) {
    b.begin_warp();
    if (warp == 0) b.execute(store, 0, words(0x10000));
    if (warp == 1) b.execute(load, 0, words(0x20000));
    b.execute(fence);
    b.execute(after);
    b.execute(done);
    b.end_warp();
  }
  b.end_cta();
  const Recording r = test::record(b, "fence", m);
  // A store has left the SM once its lines are sent, but is not done before the L2 has it.
  CHECK(r.of(0, store).retired < r.of(0, fence).issued);
  CHECK(r.of(0, fence).issued - r.of(0, store).retired > 20);
  // A load is done when it has its value.
  CHECK(r.of(1, fence).issued == r.of(1, load).retired);
  CHECK(r.of(1, fence).issued - r.of(1, load).issued >= m.memory.l2.latency);
  // Nothing to wait for.
  CHECK(r.of(2, fence).issued < r.of(0, store).retired);
  for (unsigned warp = 0; warp < 3; ++warp) CHECK(r.of(warp, after).issued > r.of(warp, fence).issued);
}

TEST_CASE("store: without a fence nothing waits for it") {
  TraceBuilder b;
  b.store(MemorySpace::global, 1, 2);
  b.op(OpClass::int_add, {1}, {6});
  b.exit();
  b.launch(1, 32);
  b.run_all(words(0x10000));
  const Recording r = test::record(b, "store");
  CHECK(r.gap(0, 1) == 1);
}
