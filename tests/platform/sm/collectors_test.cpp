// SPDX-License-Identifier: Apache-2.0
//
// Collector units: how many there are, for whom, and that there is never one more in use.
#include <algorithm>
#include <map>
#include <random>

#include "recorder.h"

using namespace regatta;
using protocol::Unit;
using test::Passage;
using test::Recording;
using test::TraceBuilder;
using trace::MemorySpace;
using trace::OpClass;

namespace {

/// 32 warps of independent instructions of all kinds. `kinds` receives the unit of each, by static index.
TraceBuilder all_kinds(std::vector<Unit>& kinds) {
  TraceBuilder b;
  std::mt19937 random(7);
  for (unsigned i = 0; i < 80; ++i) {
    const unsigned d = 1 + 2 * (i % 20), s = 50 + 2 * static_cast<unsigned>(random() % 5);
    switch (random() % 5) {
      case 0:
        b.op(OpClass::sfu, {d}, {s});
        kinds.push_back(Unit::sfu);
        break;
      case 1:
        b.op(OpClass::fp64_add, {d, d + 1}, {s, s + 1});
        kinds.push_back(Unit::dp);
        break;
      case 2:
        b.load(MemorySpace::shared, d, s);
        kinds.push_back(Unit::lsu);
        break;
      default:
        b.op(OpClass::fp32_mad, {d}, {s, s + 1, 40});
        kinds.push_back(Unit::sp);
    }
  }
  b.exit();
  kinds.push_back(Unit::none);
  b.launch(8, 128, 4096);
  std::vector<std::uint64_t> addresses;
  for (unsigned lane = 0; lane < 64; ++lane) addresses.push_back(4 * lane);
  b.run_all(addresses);
  return b;
}

/// The most instructions that were in a unit at a time: issued and not dispatched, of `kind`, of `scheduler` (-1: any).
unsigned most(const Recording& r, const std::vector<Unit>& kinds, Unit kind, int scheduler) {
  std::map<std::uint64_t, int> change;
  for (const Passage& p : r.passages) {
    if (kinds[p.index] != kind || (scheduler >= 0 && static_cast<int>(p.scheduler) != scheduler)) continue;
    ++change[p.issued];
    --change[p.dispatched];
  }
  int now = 0, top = 0;
  for (const auto& [cycle, difference] : change) top = std::max(top, now += difference);
  return static_cast<unsigned>(top);
}

}  // namespace

TEST_CASE("collectors: each kind has its units, a scheduler its share where they divide") {
  assembly::MachineConfig m;
  m.sm.collectors = 0;
  m.sm.sp_collectors = 8;  // two of each of four schedulers
  m.sm.sfu_collectors = 4;
  m.sm.dp_collectors = 3;  // shared
  m.sm.memory_collectors = 1;
  std::vector<Unit> kinds;
  TraceBuilder b = all_kinds(kinds);
  const Recording r = test::record(b, "collectors_kinds", m);
  for (int s = 0; s < 4; ++s) {
    CAPTURE(s);
    CHECK(most(r, kinds, Unit::sp, s) == 2);
    CHECK(most(r, kinds, Unit::sfu, s) == 1);
  }
  CHECK(most(r, kinds, Unit::dp, -1) == 3);
  CHECK(most(r, kinds, Unit::lsu, -1) == 1);
}

TEST_CASE("collectors: generic units are a scheduler's own, for every kind") {
  assembly::MachineConfig m;
  m.sm.collectors = 3;
  std::vector<Unit> kinds;
  TraceBuilder b = all_kinds(kinds);
  const Recording r = test::record(b, "collectors_generic", m);
  std::vector<Unit> any(kinds.size(), Unit::sp);
  any.back() = Unit::none;
  for (int s = 0; s < 4; ++s) {
    CAPTURE(s);
    CHECK(most(r, any, Unit::sp, s) == 3);
  }
}

TEST_CASE("collectors: a kind's own units come first, then generic ones") {
  assembly::MachineConfig m;
  m.sm.collectors = 1;
  m.sm.sp_collectors = 4;  // one of each scheduler
  std::vector<Unit> kinds;
  TraceBuilder b = all_kinds(kinds);
  const Recording r = test::record(b, "collectors_both", m);
  std::vector<Unit> any(kinds.size(), Unit::sp);
  any.back() = Unit::none;
  for (int s = 0; s < 4; ++s) {
    CAPTURE(s);
    CHECK(most(r, kinds, Unit::sp, s) == 2);
    CHECK(most(r, any, Unit::sp, s) == 2);
    CHECK(most(r, kinds, Unit::sfu, s) == 1);
  }
}

TEST_CASE("collectors: a unit held by an instruction that waits for its pipeline stops its own kind only") {
  assembly::MachineConfig m;
  m.sm.collectors = 0;
  m.sm.sp_collectors = 4;
  m.sm.sfu_collectors = 4;
  m.sm.dp_collectors = 4;
  m.sm.memory_collectors = 4;
  m.sm.timing[static_cast<unsigned>(OpClass::sfu)].initiation = 50;
  m.sm.buffer_entries = 16;
  m.sm.fetch_width = 8;
  TraceBuilder b;
  for (unsigned i = 0; i < 3; ++i) b.op(OpClass::sfu, {}, {});  // 0..2: one runs, one waits, one finds no unit
  for (unsigned i = 3; i < 9; ++i) b.op(OpClass::int_add, {}, {});
  b.exit();
  b.launch(5, 32);
  for (unsigned warp = 0; warp < 5; ++warp) {
    b.begin_cta();
    b.begin_warp();
    // Warps 0 and 4 share a scheduler.
    for (unsigned i = warp == 0 ? 0 : 3; i < (warp == 0 ? 3u : 9u); ++i) b.execute(i);
    b.execute(9);
    b.end_warp();
    b.end_cta();
  }
  const Recording r = test::record(b, "collectors_held", m);
  REQUIRE(r.of(0, 0).scheduler == r.of(4, 3).scheduler);
  CHECK(r.of(0, 1).dispatched - r.of(0, 0).dispatched == 50);
  CHECK(r.of(0, 2).issued == r.of(0, 1).dispatched);
  CHECK(r.of(4, 8).issued < r.of(0, 1).dispatched);
}
