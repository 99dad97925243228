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

namespace {

/// A CTA of one warp and then another, which finds in the caches what the first one left there.
Recording second_warp(TraceBuilder& b, const std::string& name, assembly::MachineConfig m,
                      const std::vector<std::uint32_t>& path) {
  m.sm.max_ctas = 1;
  m.sm.buffer_entries = 16;
  m.sm.collectors = 32;
  m.sm.icache.line_bytes = m.sm.constant_cache.line_bytes = 64;
  b.launch(2, 32);
  for (unsigned cta = 0; cta < 2; ++cta) {
    b.begin_cta();
    b.begin_warp();
    for (const std::uint32_t i : path) b.execute(i);
    b.end_warp();
    b.end_cta();
  }
  return test::record(b, name, m);
}

/// Cycles between the issues of two instructions of the second CTA's warp, which has the first one's slot.
std::uint64_t second_gap(const Recording& r, std::uint32_t from, std::uint32_t to) {
  std::uint64_t at_from = 0, at_to = 0;
  for (const test::Passage& p : r.passages) {  // the last of each counts
    if (p.index == from) at_from = p.issued;
    if (p.index == to) at_to = p.issued;
  }
  return at_to - at_from;
}

std::vector<std::uint32_t> straight(std::uint32_t count) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < count; ++i) all.push_back(i);
  return all;
}

}  // namespace

TEST_CASE("fetch: a fetch ends with its line, and a new line takes the cache's latency") {
  assembly::MachineConfig m;
  m.sm.fetch_width = 3;
  m.sm.fetch_latency = 5;
  m.sm.icache.enabled = true;
  m.sm.icache.latency = 4;
  TraceBuilder b;
  for (unsigned i = 0; i < 48; ++i) b.op(OpClass::int_add, {i + 1}, {100 + i % 16});
  b.exit();
  const Recording r = second_warp(b, "fetch_lines", m, straight(49));
  // Eight instructions a line: three, three and two.
  CHECK(second_gap(r, 8, 40) == 4 * (3 * 5 + 4));
}

TEST_CASE("fetch: an instruction of a line of constants that the warp has not used last takes the cache's latency") {
  assembly::MachineConfig m;
  m.sm.fetch_width = 1;
  m.sm.fetch_latency = 5;
  m.sm.constant_cache.enabled = true;
  m.sm.constant_cache.latency = 6;
  TraceBuilder b;
  for (unsigned i = 0; i < 40; ++i) {
    const auto index = b.op(OpClass::int_add, {i + 1}, {100 + i % 16});
    // Two instructions of one line of constants, two of the other.
    b.kernel().instructions[index].operands.push_back(
        trace::Operand{trace::Operand::Kind::constant_bank, 1, false, i / 2 % 2 * 64});
  }
  b.exit();
  const Recording r = second_warp(b, "fetch_constants", m, straight(41));
  CHECK(second_gap(r, 8, 32) == 24 * 5 + 12 * 6);
  CHECK(r.result.stats.at("sm0.pipeline.constant_cache").at("misses") == 2);
  CHECK(r.result.stats.at("sm0.pipeline.execution").at("constant_instructions") == 2 * 40);
}

TEST_CASE("fetch: a launch has constants of its own") {
  assembly::MachineConfig m;
  m.sm.constant_cache.enabled = true;
  TraceBuilder b;
  const auto index = b.op(OpClass::int_add, {1}, {100});
  b.kernel().instructions[index].operands.push_back(trace::Operand{trace::Operand::Kind::constant_bank, 1, false, 0});
  b.exit();
  for (unsigned launch = 0; launch < 3; ++launch) {
    b.launch(2, 32);
    b.run_all();
  }
  const Recording r = test::record(b, "fetch_launches", m);
  const auto& cache = r.result.stats.at("sm0.pipeline.constant_cache");
  CHECK(cache.at("fills") == 3);
}

TEST_CASE("fetch: instructions that do not follow each other come one fetch after the other") {
  assembly::MachineConfig m;
  m.sm.fetch_width = 4;
  m.sm.fetch_latency = 7;
  m.sm.buffer_entries = 16;
  TraceBuilder b;
  for (unsigned i = 0; i < 40; ++i) b.op(OpClass::int_add, {i + 1}, {100 + i % 16});
  const auto done = b.exit();
  b.launch(1, 32);
  b.begin_cta();
  b.begin_warp();
  // Without a branch in between, as where lanes that were switched off come back.
  for (const std::uint32_t i : {0u, 10u, 11u, 30u, 31u, 32u, 33u, done}) b.execute(i);
  b.end_warp();
  b.end_cta();
  const Recording r = test::record(b, "fetch_jumps", m);
  CHECK(r.gap(0, 10) == 7);
  CHECK(r.gap(10, 11) == 1);
  CHECK(r.gap(10, 30) == 7);
  CHECK(r.gap(30, 33) == 3);
}

TEST_CASE("fetch: lines of the instruction cache are their own sectors of a line of the L1") {
  assembly::MachineConfig m;
  m.sm.icache.enabled = true;
  m.sm.icache.line_bytes = 64;
  TraceBuilder b;
  for (unsigned i = 0; i < 15; ++i) b.op(OpClass::int_add, {i + 1}, {100});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, "fetch_sectors", m);
  // 16 instructions of 8 bytes: two lines of 64 bytes, one of 128. The second is not there because the first is.
  CHECK(r.result.stats.at("sm0.l1").at("accesses_instruction") == 2);
  std::uint64_t fetched = 0;
  for (const auto& [group, stats] : r.result.stats.items()) {
    if (group.rfind("memory.l2_", 0) == 0) fetched += stats.at("bytes_fetched").get<std::uint64_t>();
  }
  CHECK(fetched == 128);
}
