// SPDX-License-Identifier: Apache-2.0
//
// What an SM does one after another, by the knobs: the launch of CTAs and their warps, arrivals at barriers, the
// addresses of constant loads, and the lines of an access.
#include "recorder.h"

#include <algorithm>

using namespace regatta;
using test::Recording;
using test::TraceBuilder;
using trace::OpClass;

namespace {

/// A launch whose warps all execute `steps`.
void launch(TraceBuilder& b, unsigned ctas, unsigned warps, const std::vector<std::uint32_t>& steps) {
  b.launch(ctas, warps * 32);
  for (unsigned c = 0; c < ctas; ++c) {
    b.begin_cta();
    for (unsigned w = 0; w < warps; ++w) {
      b.begin_warp();
      for (const std::uint32_t i : steps) b.execute(i);
      b.end_warp();
    }
    b.end_cta();
  }
}

/// CTAs of one instruction a warp; the instruction's index is 0.
Recording run_ctas(const std::string& name, unsigned ctas, unsigned warps, const assembly::MachineConfig& m) {
  TraceBuilder b;
  const auto add = b.op(OpClass::int_add, {1}, {1});
  launch(b, ctas, warps, {add, b.exit()});
  return test::record(b, name, m);
}

/// Cycles in which the first instructions issue, in order.
std::vector<std::uint64_t> first_issues(const Recording& r) {
  std::vector<std::uint64_t> all;
  for (const test::Passage& p : r.passages) {
    if (p.index == 0) all.push_back(p.issued);
  }
  return all;
}

}  // namespace

TEST_CASE("launcher: a CTA takes cta_launch cycles, each of its warps warp_launch more") {
  assembly::MachineConfig m;
  m.sm.cta_launch = 43;
  m.sm.warp_launch = 15;
  const Recording r = run_ctas("one_by_one", 3, 4, m);
  const std::vector<std::uint64_t> issued = first_issues(r);
  REQUIRE(issued.size() == 12);
  CHECK(issued[0] > 43 + 15);
  CHECK(issued[0] < 43 + 15 + 10);
  for (unsigned i = 1; i < 12; ++i) {
    CAPTURE(i);
    CHECK(issued[i] - issued[i - 1] == (i % 4 == 0 ? 43 + 15 : 15));
  }
}

TEST_CASE("launcher: a launch without work in its CTAs takes as long as the launcher") {
  assembly::MachineConfig m;
  m.sm.max_ctas = 2;
  m.sm.cta_launch = 200;
  m.sm.warp_launch = 1;
  const Recording r = run_ctas("empty", 20, 2, m);
  // Places are free long before the launcher is.
  CHECK(r.result.cycles >= 20 * 202);
  CHECK(r.result.cycles < 20 * 202 + 60);
}

TEST_CASE("launcher: a barrier waits for warps that have not been launched") {
  TraceBuilder b;
  const auto bar = b.barrier();
  const auto after = b.op(OpClass::int_add, {2}, {3});
  launch(b, 1, 4, {bar, after, b.exit()});
  assembly::MachineConfig m;
  m.sm.warp_launch = 50;
  const Recording r = test::record(b, "late_warps", m);
  for (unsigned w = 0; w < 4; ++w) {
    CHECK(r.of(w, after).issued == r.of(3, bar).issued + m.sm.barrier_latency);
  }
}

// An H100's bar.sync of n warps takes 12.6 + 2 n cycles.
TEMPLATE_TEST_CASE_SIG("barrier unit: arrivals are taken barrier_interval cycles apart", "", ((unsigned Warps), Warps),
                       1, 4, 16) {
  constexpr unsigned warps = Warps;
  TraceBuilder b;
  std::vector<std::uint32_t> steps;
  for (unsigned i = 0; i < 8; ++i) steps.push_back(b.op(OpClass::sfu, {1}, {1}));  // so that all are there, and fetched
  const auto bar = b.barrier();
  const auto after = b.op(OpClass::int_add, {2}, {3});
  steps.insert(steps.end(), {bar, after, b.exit()});
  launch(b, 1, warps, steps);
  assembly::MachineConfig m;
  m.sm.barrier_latency = 12;
  m.sm.barrier_interval = 40;  // longer than the warps are apart
  const Recording r = test::record(b, "barrier_unit_" + std::to_string(warps), m);
  std::uint64_t first = ~std::uint64_t{0}, opened = first;
  for (unsigned w = 0; w < warps; ++w) {
    first = std::min(first, r.of(w, bar).issued);
    opened = std::min(opened, r.of(w, after).issued);
  }
  CHECK(opened == first + std::uint64_t{warps} * 40 + 12);
}

TEMPLATE_TEST_CASE_SIG("constant unit: a load by register takes constant_word cycles for each different address", "",
                       ((unsigned Addresses), Addresses), 1, 4, 32) {
  constexpr unsigned addresses = Addresses;
  TraceBuilder b;
  const auto index = b.op(OpClass::int_add, {1}, {});
  const auto load = b.op(OpClass::constant_load, {2}, {1});
  const auto second = b.op(OpClass::constant_load, {3}, {1});
  const auto direct = b.op(OpClass::constant_load, {4}, {});
  const auto done = b.exit();
  b.set_rule([&](std::uint32_t i, unsigned lane, const std::vector<std::uint32_t>&) {
    return i == index ? 4 * (lane % addresses) : i;
  });
  launch(b, 1, 1, {index, load, second, direct, done});
  assembly::MachineConfig m;
  const unsigned latency = m.sm.timing[static_cast<unsigned>(OpClass::constant_load)].latency;
  m.sm.constant_word = 3;
  if (addresses == 4) m.sm.constant_latency = 50;
  const Recording r = test::record(b, "constant_unit_" + std::to_string(addresses), m);
  const std::uint64_t written = test::write_cycles(m);
  CHECK(r.of(0, load).retired - r.of(0, load).dispatched - written ==
        (addresses == 4 ? 50 : latency) + 3 * (addresses - 1));
  // One after another, while loads without a register are not in their way.
  CHECK(r.of(0, second).dispatched - r.of(0, load).dispatched == std::max(1u, 3 * addresses));
  CHECK(r.of(0, direct).dispatched <= r.of(0, direct).issued + test::read_cycles(m) + 1);
  CHECK(test::counter(r, "sm0.pipeline.execution", "constant_words") == 2 * addresses);
}

TEMPLATE_TEST_CASE_SIG("L1: an access to several lines takes l1.tags of them a cycle", "", ((unsigned Tags), Tags), 1,
                       2, 4) {
  constexpr unsigned tags = Tags;
  TraceBuilder b;
  const auto miss = b.load(trace::MemorySpace::global, 1, 1);
  const auto hit = b.load(trace::MemorySpace::global, 2, 1);
  const auto done = b.exit();
  b.launch(1, 32);
  b.begin_cta();
  b.begin_warp();
  const std::vector<std::uint64_t> lines = test::strided(std::uint64_t{1} << 30, 128);
  b.execute(miss, 0, lines);
  b.execute(hit, 0, lines);
  b.execute(done);
  b.end_warp();
  b.end_cta();
  assembly::MachineConfig m;
  m.l1.data_policy = "cache";
  m.l1.tags = tags;
  const Recording r = test::record(b, "l1_tags_" + std::to_string(tags), m);
  const std::uint64_t latency = r.of(0, hit).retired - r.of(0, hit).dispatched - test::write_cycles(m);
  CHECK(latency == m.l1.hit_latency + 32 / tags - 1);
  CHECK(test::counter(r, "sm0.l1", "read_hits") == 32);
}
