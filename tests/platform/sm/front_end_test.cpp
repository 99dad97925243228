// SPDX-License-Identifier: Apache-2.0
//
// How fast a warp's instructions arrive.
#include "recorder.h"

using namespace regatta;
using test::Recording;
using test::TraceBuilder;
using trace::OpClass;

namespace {

/// Cycles for 40 independent instructions of one warp, by their issues, once the front end is in its stride.
void fetch_bound(const std::string& name, unsigned width, unsigned latency) {
  CAPTURE(width, latency);
  assembly::MachineConfig m;
  m.sm.fetch_width = width;
  m.sm.fetch_latency = latency;
  m.sm.buffer_entries = 16;
  m.sm.collectors = 16;
  TraceBuilder b;
  for (unsigned i = 0; i < 60; ++i) b.op(OpClass::int_add, {i + 1}, {100 + i % 16});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, name, m);
  // A warp has one fetch under way: `width` instructions every `latency` cycles, of which one a cycle can issue.
  const std::uint64_t expected = 40 / width * std::max(latency, width);
  CHECK(r.gap(12, 52) == expected);
}

}  // namespace

TEST_CASE("fetch: one instruction a fetch, two cycles each") { fetch_bound("fetch_1_2", 1, 2); }
TEST_CASE("fetch: one instruction a fetch, five cycles each") { fetch_bound("fetch_1_5", 1, 5); }
TEST_CASE("fetch: two instructions a fetch keep up with issue") { fetch_bound("fetch_2_2", 2, 2); }
TEST_CASE("fetch: four instructions a fetch wait for issue") { fetch_bound("fetch_4_2", 4, 2); }
TEST_CASE("fetch: two instructions a fetch, eight cycles each") { fetch_bound("fetch_2_8", 2, 8); }

TEST_CASE("fetch: a small buffer holds fetch back, and never loses an instruction") {
  assembly::MachineConfig m;
  m.sm.buffer_entries = 1;
  m.sm.fetch_width = 1;
  TraceBuilder b;
  for (unsigned i = 0; i < 20; ++i) b.op(OpClass::int_add, {i + 1}, {100});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, "buffer", m);
  // Fetched when the one before has issued.
  for (unsigned i = 1; i < 20; ++i) CHECK(r.gap(i - 1, i) == m.sm.fetch_latency);
}

TEST_CASE("fetch: a branch is resolved before its warp fetches again") {
  assembly::MachineConfig m;
  m.sm.branch_latency = 9;
  TraceBuilder b;
  for (unsigned i = 0; i < 4; ++i) {
    b.op(OpClass::int_add, {i + 1}, {100});
    b.branch(2 * i + 2);
  }
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, "branch", m);
  for (unsigned i = 0; i < 3; ++i) CHECK(r.gap(2 * i + 1, 2 * i + 2) == m.sm.branch_latency + m.sm.fetch_latency);
}

TEST_CASE("fetch: warps of one scheduler take turns") {
  assembly::MachineConfig m;
  m.sm.schedulers = 1;
  m.sm.fetch_width = 1;
  m.sm.fetch_latency = 1;
  m.sm.collectors = 32;
  TraceBuilder b;
  for (unsigned i = 0; i < 40; ++i) b.op(OpClass::int_add, {i + 1}, {100 + i % 16});
  b.exit();
  b.launch(1, 128);
  b.run_all();
  const Recording r = test::record(b, "turns_of_fetch", m);
  // One instruction arrives a cycle, for four warps in turn.
  for (unsigned warp = 0; warp < 4; ++warp) {
    CAPTURE(warp);
    CHECK(r.of(warp, 30).issued - r.of(warp, 10).issued == 20 * 4);
  }
}
