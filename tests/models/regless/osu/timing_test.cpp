// SPDX-License-Identifier: Apache-2.0
//
// When a staging unit answers: cases worked out by hand, cycle by cycle.
#include "bench.h"

using namespace regatta;
using test::Bench;
using test::Instruction;
using test::pattern;
using test::same;
using test::WarpValue;

TEST_CASE("operand staging: banks by the low bits of register and warp in its shard") {
  test::Sizes c;
  c.shards = 4;
  Bench b(c);
  for (unsigned w = 0; w < 64; ++w) {
    for (unsigned r = 0; r < 32; ++r) {
      REQUIRE(b.shard_of(w).bank_of(test::warp_slot(w), test::register_id(r)) == (w / 4 + r) % 8);
    }
  }
  CHECK(b.shard().banks() == 8);
  CHECK(b.shard().lines_per_bank() == 16);
}

TEST_CASE("operand staging: one read or write per bank and cycle, one tag lookup") {
  Bench b;
  for (unsigned r : {0u, 8u, 1u}) b.define(0, r, pattern(r));
  b.wait(10);
  WarpValue v{};
  // Reads are requested now and served from the next cycle on, one cycle each.
  CHECK(b.read(0, 0, v) == 2);
  CHECK(b.read(0, 8, v) == 3);
  CHECK(b.read(0, 1, v) == 2);
  CHECK(b.read(0, 0, v) == 4);
  // A write is served in the cycle of its arrival, when no read was given it.
  CHECK(b.write(0, 1, pattern(7)) == 1);
  b.wait();
  // The next three cycles of bank 0 are taken.
  CHECK(b.write(0, 8, pattern(8)) == 4);
  CHECK(b.bank_statistic(0, "conflicts") == 2);
  CHECK(b.bank_statistic(0, "read_wait") == 3);
  CHECK(b.bank_statistic(0, "write_conflicts") == 1 + 1);  // and one of the definitions above
  b.end(0);
  b.finish();
}

TEST_CASE("operand staging: a write that finds too much work is held, and answered when there is room") {
  test::Sizes c = Bench::one_shard(4);
  c.write_queue = 2;
  Bench b(c);
  b.define(0, 0, pattern(1));
  b.wait(5);
  WarpValue v{};
  for (unsigned i = 0; i < 4; ++i) b.read(0, 0, v);  // cycles 1 to 4 from now
  b.wait();
  CHECK(b.write(0, 0, pattern(2)) == ~std::uint64_t{0});
  CHECK(b.driver.holding);
  b.read(0, 0, v);
  CHECK(same(v, pattern(1)));  // not yet written
  b.wait(1);
  CHECK(b.driver.holding);
  b.wait(3);
  CHECK(!b.driver.holding);
  CHECK(b.driver.held_answers == 1);
  b.read(0, 0, v);
  CHECK(same(v, pattern(2)));
  b.end(0);
  b.finish();
}

TEST_CASE("operand staging: a preload takes a tag cycle that no read wants") {
  Bench b;
  b.define(0, 0, pattern(1));
  b.define(1, 7, pattern(2));  // bank 0 as well
  b.end(1);
  b.wait(5);
  WarpValue v{};
  const std::uint64_t start = b.now();
  b.preload(1, 7);
  for (unsigned i = 0; i < 3; ++i) b.read(0, 0, v);  // the tags of the next three cycles
  b.wait(10);
  REQUIRE(b.client.told.size() == 1);
  // Looked up in the fourth cycle from now, told when that is over.
  CHECK(b.client.told[0].cycle == start + 5);
  b.end(0);
  b.end(1);
  b.finish();
}

TEST_CASE("operand staging: a preload from memory takes its time there and a data cycle") {
  Bench b;
  b.memory().shortest = b.memory().longest = 10;
  // Bank 0 of warp 0: four lines, and a fifth register drives the first out.
  for (unsigned r : {0u, 8u, 16u, 24u}) {
    b.define(0, r, pattern(r));
    b.wait(3);
  }
  b.end(0);
  b.wait(2);
  b.define(1, 7, pattern(100));
  b.wait(10);
  REQUIRE(b.memory().seen.size() == 1);
  CHECK(b.memory().seen[0].access == protocol::AccessClass::register_write);
  CHECK(b.statistic("evictions") == 1);
  const std::uint64_t start = b.now();
  b.preload(0, 0);
  b.wait(40);
  REQUIRE(b.client.told.size() == 1);
  CHECK(b.client.told[0].source == test::PreloadSource::l1);
  // Queue 1, tag 1, request 1, memory 10 and its hop, data 1.
  CHECK(b.client.told[0].cycle == start + 15);
  WarpValue v{};
  b.read(0, 0, v);
  CHECK(same(v, pattern(0)));
  b.finish();
}
