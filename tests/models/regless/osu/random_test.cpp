// SPDX-License-Identifier: Apache-2.0
//
// Random programs: the values of all operands, and the lists, tags and counts in every cycle.
#include "random_program.h"

using namespace regatta;
using test::Bench;
using test::Program;
using test::Warp;

namespace {

void run(test::Sizes c, unsigned registers, unsigned seed, unsigned refusals, unsigned longest,
         unsigned cycles = 20000) {
  CAPTURE(c.entries, c.shards, registers, seed, refusals, longest);
  Bench b(c, registers, seed);
  for (auto& m : b.memories) {
    m->refusals = refusals;
    m->longest = longest;
    m->completes = seed % 2 == 0;
  }
  Program p(b, registers, seed);
  p.restarts = 20;
  std::uint64_t before = 0;
  for (unsigned i = 0; i < cycles; ++i) {
    p.cycle();
    if (i % 4000 == 3999) {  // nobody stands still
      REQUIRE(p.regions > before);
      before = p.regions;
    }
  }
  CHECK(p.checked > cycles / 20);
  CHECK(b.statistic("not_staged") == 0);
  CHECK(b.statistic("lost_writes") == 0);
  CHECK(b.statistic("preloads_l1") > 0);
  CHECK(b.statistic("invalidations") > 0);
  if (registers > c.lines_per_bank() * 8) CHECK(b.statistic("evictions") > 0);
  // No warp is stuck: each comes to the end of what it has begun.
  p.stop = true;
  for (const Warp& w : p.warps) {
    for (unsigned i = 0; i < 20000 && w.state != Warp::State::idle; ++i) p.cycle();
    CAPTURE(w.number, static_cast<int>(w.state), w.acknowledgements, w.pending.size());
    REQUIRE(w.state == Warp::State::idle);
  }
  b.finish();
}

}  // namespace

TEST_CASE("operand staging: random programs, tiny and cramped") { run(Bench::one_shard(2), 24, 1, 30, 60); }
TEST_CASE("operand staging: random programs, slow memory that refuses") { run(Bench::one_shard(3), 40, 2, 90, 400); }
TEST_CASE("operand staging: random programs, quick memory") { run(Bench::one_shard(4), 40, 3, 0, 3); }
TEST_CASE("operand staging: random programs, one line per bank") { run(Bench::one_shard(1), 16, 4, 20, 40); }
TEST_CASE("operand staging: random programs, four shards") {
  test::Sizes c;
  c.entries = 128;
  c.warps = 16;
  run(c, 40, 5, 30, 100, 8000);
}
TEST_CASE("operand staging: random programs, three shards of five banks, slow banks") {
  test::Sizes c;
  c.shards = 3;
  c.banks = 5;
  c.entries = 60;
  c.warps = 10;
  c.latency = 3;
  c.arbitration = 0;
  c.write_queue = 1;
  c.request_queue = 1;
  run(c, 30, 6, 50, 50);
}
