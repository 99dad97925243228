// SPDX-License-Identifier: Apache-2.0
//
// The block by itself, driven over its ports only, as a test bench of an RTL twin would.
#include "blocks_bench.h"

using namespace regatta::test::wir_blocks;

TEST_CASE("signature buffer alone: a value entered before is a candidate, with one reference") {
  VsbBench b;
  const LaneValues value = lanes_with(100), other = lanes_with(101);
  const H3Hash hash(32, 32);
  REQUIRE(hash(value.data()) != hash(other.data()));
  block_run_to(1);
  VsbAnswer answer = b.get(value);
  CHECK(answer.hash == hash(value.data()));
  CHECK(answer.candidate == no_register);
  CHECK(b.references.take().empty());
  b.user.access->enter(answer.hash, physical_at(3));
  CHECK(b.references.take() == CallLog{"share 3"});
  CHECK(counted_by(*b.user.keeper.operator->()) == RegisterList{3});

  block_run_to(2);
  const LaneValues equal = value;
  answer = b.get(equal);
  CHECK(answer.hash == hash(value.data()));
  CHECK(answer.candidate == physical_at(3));
  CHECK(b.references.take() == CallLog{"share 3"});
  answer = b.get(other);
  CHECK(answer.hash == hash(other.data()));
  CHECK(answer.candidate == no_register);
  CHECK(b.references.take().empty());
  CHECK(b.stat("hits") == 1);
  CHECK(b.stat("misses") == 2);
  CHECK(b.stat("reads") == 3);
  CHECK(b.stat("hashes") == 3);
  CHECK(b.stat("writes") == 1);
}

TEST_CASE("signature buffer alone: a value in the place of another one replaces it") {
  VsbBench b;
  const H3Hash hash(32, 32);
  const LaneValues value = lanes_with(100);
  LaneValues other = value;
  do {
    ++other[0];
  } while (hash(other.data()) % 256 != hash(value.data()) % 256);
  REQUIRE(hash(other.data()) != hash(value.data()));
  block_run_to(1);
  b.user.access->enter(hash(value.data()), physical_at(3));
  CHECK(b.get(other).candidate == no_register);
  b.references.take();
  b.user.access->enter(hash(other.data()), physical_at(4));
  CHECK(b.references.take() == CallLog{"share 4", "release 3"});
  CHECK(b.get(value).candidate == no_register);
  CHECK(b.get(other).candidate == physical_at(4));
  b.references.take();
  b.user.access->evict(hash(value.data()));  // the place, whatever it holds
  CHECK(b.references.take() == CallLog{"release 4"});
  CHECK(counted_by(*b.user.keeper.operator->()).empty());
}

TEST_CASE("signature buffer alone: two values with one hash, and lanes that a warp does not have") {
  WirMachine config = block_config();
  config.hash_bits = 4;
  VsbBench b(config);
  const H3Hash hash(32, 4);
  const LaneValues value = lanes_with(100);
  LaneValues other = value;
  do {
    ++other[0];
  } while (hash(other.data()) != hash(value.data()));
  block_run_to(1);
  b.user.access->enter(hash(value.data()), physical_at(3));
  CHECK(b.get(other).candidate == physical_at(3));  // the user has to verify it

  LaneValues last_lane = value;
  do {
    ++last_lane[20];
  } while (hash(last_lane.data()) == hash(value.data()));
  CHECK(b.get(last_lane).hash != b.get(value).hash);
  b.launch.context.warp_size = 16;
  b.buffer.kernel_started(b.launch.context);
  CHECK(b.get(last_lane).hash == b.get(value).hash);
}

TEST_CASE("signature buffer alone: a full counter makes a candidate a miss, and keeps a register out") {
  VsbBench b;
  const LaneValues value = lanes_with(100), other = lanes_with(101);
  block_run_to(1);
  b.user.access->enter(b.get(value).hash, physical_at(3));
  b.references.take();
  b.references.full = {3, 4};
  CHECK(b.get(value).candidate == no_register);
  CHECK(b.references.take() == CallLog{"refuse 3"});
  CHECK(b.stat("hits") == 0);
  CHECK(b.stat("misses") == 2);
  b.user.access->enter(b.get(other).hash, physical_at(4));
  CHECK(b.references.take() == CallLog{"refuse 4"});
  CHECK(b.stat("writes") == 1);
  b.references.full.clear();
  CHECK(b.get(value).candidate == physical_at(3));
  CHECK(b.get(other).candidate == no_register);
}

TEST_CASE("signature buffer alone: ports are booked, and the third access of a cycle is in the next one") {
  VsbBench b;
  block_run_to(7);
  CHECK(b.user.access->book_read() == 7);
  CHECK(b.user.access->book_read() == 7);
  CHECK(b.user.access->book_read() == 8);
  CHECK(b.user.access->book_hash() == 7);  // one per scheduler
  CHECK(b.user.access->book_hash() == 7);
  CHECK(b.user.access->book_hash() == 8);
  CHECK(b.user.access->book_write(9) == 9);
  CHECK(b.user.access->book_write(9) == 9);
  CHECK(b.stat("write_waits") == 0);
  CHECK(b.user.access->book_write(9) == 10);
  CHECK(b.stat("write_waits") == 1);
  block_run_to(8);
  CHECK(b.user.access->book_read() == 8);
  CHECK(b.user.access->book_read() == 9);
  CHECK(b.user.access->book_write(8) == 10);
  CHECK(b.stat("write_waits") == 3);
}

TEST_CASE("signature buffer alone: in low-register mode a new register evicts and is not entered") {
  VsbBench b(one_entry());
  ReferenceKeeper& keeper = *b.user.keeper.operator->();
  const LaneValues value = lanes_with(100), other = lanes_with(101);
  block_run_to(1);
  b.user.access->enter(b.get(value).hash, physical_at(3));
  b.references.take();
  b.references.set_low(true);
  block_run_to(2);
  CHECK(b.get(value).candidate == physical_at(3));
  CHECK(b.references.take() == CallLog{"settle", "share 3"});
  const std::uint32_t hash = b.get(other).hash;
  b.references.take();
  b.user.access->enter(hash, physical_at(4));
  CHECK(b.references.take() == CallLog{"release 3"});
  CHECK(counted_by(keeper).empty());
  b.user.access->enter(hash, physical_at(4));
  CHECK(b.references.take().empty());
  CHECK(b.stat("low_evictions") == 2);
  CHECK(b.stat("writes") == 1);
  b.references.set_low(false);
  b.user.access->enter(hash, physical_at(4));
  CHECK(b.references.take() == CallLog{"share 4"});
}

TEST_CASE("signature buffer alone: an idle cycle gives up an entry, and one with an access gives up nothing") {
  VsbBench b(one_entry());
  ReferenceKeeper& keeper = *b.user.keeper.operator->();
  const LaneValues value = lanes_with(100);
  block_run_to(1);
  const std::uint32_t hash = b.get(value).hash;
  CHECK(given_up(keeper, 1).empty());
  block_run_to(2);
  b.user.access->enter(hash, physical_at(3));
  b.references.take();
  CHECK(given_up(keeper, 2).empty());
  CHECK(given_up(keeper, 3) == RegisterList{3});
  CHECK(given_up(keeper, 4).empty());
  CHECK(b.references.take().empty());  // the allocator releases it
  b.user.access->enter(hash, physical_at(5));
  b.references.take();
  give_up_times(keeper, 0);
  CHECK(b.references.take().empty());
  give_up_times(keeper, 1);
  CHECK(b.references.take() == CallLog{"release 5"});
  b.user.access->enter(hash, physical_at(6));
  b.references.take();
  keeper.give_up_all();
  CHECK(b.references.take() == CallLog{"release 6"});
  CHECK(counted_by(keeper).empty());
}
