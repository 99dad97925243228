// SPDX-License-Identifier: Apache-2.0
//
// The block by itself, driven over its ports only, as a test bench of an RTL twin would.
#include <regatta/test/clock.h>
#include "blocks_bench.h"

using namespace regatta::test::wir_blocks;

TEST_CASE("verify cache alone: a value read from its bank is compared until the register is written") {
  VerifyBench b;
  const LaneValues value = lanes_with(1);
  LaneValues other = value;
  ++other[31];
  block_run_to(1);
  CHECK_FALSE(b.get(5, value).hit);
  b.fill(5, value);

  block_run_to(2);
  VerifyAnswer answer = b.get(5, value);
  CHECK(answer.hit);
  CHECK(answer.equal);
  CHECK(answer.cycles == 1);
  answer = b.get(5, other);
  CHECK(answer.hit);
  CHECK_FALSE(answer.equal);
  CHECK(answer.cycles == 1);

  block_run_to(3);
  b.user.values->written(physical_at(69));  // another one with the same low bits
  CHECK(b.get(5, value).hit);
  b.user.values->written(physical_at(5));
  CHECK_FALSE(b.get(5, value).hit);
  CHECK(stat_of(b.cache, "hits") == 3);
  CHECK(stat_of(b.cache, "fills") == 1);
  CHECK(stat_of(b.cache, "misses") == 1);

  // What a narrower warp does not have is not compared.
  b.launch.context.warp_size = 16;
  b.cache.kernel_started(b.launch.context);
  block_run_to(10);
  CHECK_FALSE(b.get(5, value).hit);
  b.fill(5, value);
  CHECK(b.get(5, other).equal);
}

TEST_CASE("verify cache alone: lookups beyond the ports take further cycles") {
  VerifyBench b;
  const LaneValues value = lanes_with(1);
  b.fill(5, value);
  block_run_to(4);
  for (const unsigned cycles : {1u, 1u, 2u, 2u, 3u}) CHECK(b.get(5, value).cycles == cycles);
  block_run_to(5);
  CHECK(b.get(5, value).cycles == 2);  // a port of cycle 6
  CHECK(b.get(5, value).cycles == 3);
  block_run_to(20);
  CHECK_FALSE(b.get(6, value).hit);  // a miss takes a port, too
  CHECK(b.get(5, value).cycles == 1);
  CHECK(b.get(5, value).cycles == 2);
}

TEST_CASE("verify cache alone: what was used least recently leaves, and a model without the cache keeps nothing") {
  WirMachine config = block_config();
  config.model = "rlp";
  VerifyCache none("none", config, test::clock(block_period));
  VerifyUser none_user("none_user");
  none_user.lookups.bind(none.lookups);
  none_user.values.bind(none.values);
  config.model = "rlpv";
  config.verify_entries = 2;
  VerifyBench b(config);
  const LaneValues value = lanes_with(1);
  b.fill(1, value);
  b.fill(2, value);
  CHECK(b.get(1, value).hit);
  b.fill(3, value);
  CHECK(b.get(1, value).hit);
  CHECK_FALSE(b.get(2, value).hit);
  CHECK(b.get(3, value).hit);
  none_user.values->fill(physical_at(1), value.data());
  CHECK_FALSE(none_user.get(VerifyRequest{physical_at(1), value.data()}).hit);
}
