// SPDX-License-Identifier: Apache-2.0
//
// Which line a register gets, where values go when they leave, and what annotations and faults do.
#include <regatta/test/bad_requests.h>

#include "bench.h"

using namespace regatta;
using protocol::AccessClass;
using test::Bench;
using test::Instruction;
using test::LastUse;
using test::pattern;
using test::PreloadSource;
using test::same;
using test::WarpValue;

namespace {

/// Address of a register in the space of SM 0 of 8 warps.
std::uint64_t address(unsigned warp, unsigned reg) {
  const models::RegisterMap map(Bench::one_shard(1));
  return map.address(map.index(test::warp_slot(warp), test::register_id(reg)));
}

/// Registers of warp 0 in bank 0, by number.
constexpr unsigned bank0(unsigned i) { return i * 8; }

std::vector<std::uint64_t> written(const Bench& b) {
  std::vector<std::uint64_t> w;
  for (const auto& s : b.memories[0]->seen) {
    if (s.access == AccessClass::register_write) w.push_back(s.address);
  }
  return w;
}

std::string origin_of(Bench& b, unsigned warp, unsigned reg, WarpValue& v) {
  protocol::Origin o;
  b.read(warp, reg, v, &o);
  return o.place;
}

}  // namespace

TEST_CASE("operand staging: lines come from the free list, then clean, then dirty ones, oldest first") {
  Bench b(Bench::one_shard(4), 64);
  // Four registers written back and fetched again are clean; two of them are written anew.
  for (unsigned i = 0; i < 4; ++i) {
    b.define(0, bank0(i), pattern(i));
    b.wait(3);
  }
  b.end(0);
  b.wait(2);
  for (unsigned i = 4; i < 8; ++i) {  // drives 0, 1, 2, 3 out, in this order
    b.define(0, bank0(i), pattern(i), LastUse::erase);
    b.wait(10);
  }
  CHECK(written(b) == std::vector<std::uint64_t>{address(0, bank0(0))});  // the erased line is free again
  CHECK(b.statistic("allocations_free") == 4 + 3);
  CHECK(b.statistic("evictions") == 1);
  b.end(0);
  b.wait(2);
  // 0 is in memory; 1, 2, 3 are dirty, one line is free. 0 comes back and is clean.
  b.preload(0, bank0(0));
  b.wait(30);
  b.end(0);
  b.wait(2);
  // A new register takes the clean line of 0 although 1 is older, and nothing is written.
  b.define(0, bank0(5), pattern(5));
  b.wait(10);
  CHECK(b.statistic("allocations_clean") == 1);
  CHECK(written(b).size() == 1);
  // The next ones take 1 and 2, in the order in which they were let go.
  b.define(0, bank0(6), pattern(6));
  b.wait(10);
  b.define(0, bank0(7), pattern(7));
  b.wait(10);
  CHECK(written(b) == std::vector<std::uint64_t>{address(0, bank0(0)), address(0, bank0(1)), address(0, bank0(2))});
  b.finish();
}

TEST_CASE("operand staging: a full write-back buffer stops allocation and nothing else") {
  test::Sizes c = Bench::one_shard(8);
  Bench b(c, 128);
  for (unsigned i = 0; i < 8; ++i) {
    b.define(0, bank0(i), pattern(i));
    b.wait(3);
  }
  b.end(0);
  b.wait(2);
  b.memory().take_nothing = true;
  for (unsigned i = 8; i < 12; ++i) {
    b.define(0, bank0(i), pattern(i));
    b.wait(5);
  }
  // Four lines wait to be written, the first of them at memory's door.
  CHECK(b.statistic("buffer_max") == 4);
  Instruction more(0, {}, {bank0(12)});
  CHECK(!b.shard().can_issue(more.dynamic));
  CHECK(b.client.available == 0);
  Instruction elsewhere(0, {}, {bank0(12) + 1});
  CHECK(b.shard().can_issue(elsewhere.dynamic));
  WarpValue v{};
  b.read(0, bank0(8), v);
  CHECK(same(v, pattern(8)));
  b.wait(20);
  CHECK(b.client.available == 0);
  b.memory().resume();
  b.wait(5);
  CHECK(b.client.available == 1);
  CHECK(b.shard().can_issue(more.dynamic));
  b.end(0);
  b.finish();
  for (unsigned i = 0; i < 4; ++i) CHECK(written(b)[i] == address(0, bank0(i)));
}

TEST_CASE("operand staging: a register that is still in the write-back buffer is served from there") {
  Bench b(Bench::one_shard(8), 128);
  for (unsigned i = 0; i < 8; ++i) {
    b.define(0, bank0(i), pattern(i));
    b.wait(3);
  }
  b.end(0);
  b.wait(2);
  b.memory().take_nothing = true;
  for (unsigned i = 8; i < 11; ++i) {
    b.define(0, bank0(i), pattern(i), LastUse::evict);
    b.wait(5);
  }
  b.memory().seen.clear();
  // 0 has been sent and waits to be taken: it comes back clean. 2 has not: it comes back dirty and is not written.
  b.preload(0, bank0(0));
  b.preload(0, bank0(2));
  b.wait(20);
  REQUIRE(b.client.told.size() == 2);
  for (const auto& t : b.client.told) CHECK(t.source == PreloadSource::staged);
  CHECK(b.statistic("preloads_buffered") == 2);
  WarpValue v{};
  b.read(0, bank0(0), v);
  CHECK(same(v, pattern(0)));
  b.read(0, bank0(2), v);
  CHECK(same(v, pattern(2)));
  b.end(0);
  b.memory().resume();
  b.finish();
  // 0 and 1, and the two lines that made room for 0 and 2; 2 did not leave.
  for (std::uint64_t w : written(b)) CHECK(w != address(0, bank0(2)));
}

TEST_CASE("operand staging: a value on its way to memory that is defined anew is not written") {
  Bench b(Bench::one_shard(4), 64);
  for (unsigned i = 0; i < 4; ++i) {
    b.define(0, bank0(i), pattern(i));
    b.wait(3);
  }
  b.end(0);
  b.wait(2);
  b.memory().take_nothing = true;
  b.define(0, bank0(4), pattern(4));
  b.wait(5);
  b.define(0, bank0(5), pattern(5));
  b.wait(5);
  b.define(0, bank0(1), pattern(11));  // was driven out second
  b.wait(5);
  CHECK(b.statistic("evictions_cancelled") == 1);
  b.end(0);
  b.memory().resume();
  b.wait(60);
  for (const auto& s : b.memory().seen) CHECK(s.address != address(0, bank0(1)));
  b.preload(0, bank0(1));
  b.wait(40);
  WarpValue v{};
  b.read(0, bank0(1), v);
  CHECK(same(v, pattern(11)));
  b.finish();
}

TEST_CASE("operand staging: an invalidation cancels a value on its way to memory") {
  Bench b(Bench::one_shard(4), 64);
  for (unsigned i = 0; i < 4; ++i) {
    b.define(0, bank0(i), pattern(i));
    b.wait(3);
  }
  b.end(0);
  b.wait(2);
  b.memory().take_nothing = true;
  for (unsigned i = 4; i < 6; ++i) {  // 0 and 1 leave; 1 is not sent yet
    b.define(0, bank0(i), pattern(i));
    b.wait(5);
  }
  b.invalidate(0, bank0(1));
  b.wait(5);
  CHECK(b.statistic("evictions_cancelled") == 1);
  b.end(0);
  b.memory().resume();
  b.wait(60);
  for (const auto& s : b.memory().seen) CHECK(s.address != address(0, bank0(1)));
  b.finish();
}

TEST_CASE("operand staging: an invalidation drops every copy, and asks memory only where there is one") {
  Bench b(Bench::one_shard(4), 64);
  for (unsigned i = 0; i < 4; ++i) {
    b.define(0, bank0(i), pattern(i));
    b.wait(3);
  }
  b.end(0);
  b.wait(2);
  b.define(0, bank0(4), pattern(4));  // 0 leaves
  b.wait(20);
  b.end(0);
  b.memory().seen.clear();
  b.invalidate(0, bank0(0));
  b.invalidate(0, bank0(1));
  b.invalidate(0, bank0(5));  // never written
  b.wait(20);
  CHECK(b.client.told.size() == 3);
  for (const auto& t : b.client.told) CHECK(t.what == 'i');
  REQUIRE(b.memory().seen.size() == 1);
  CHECK(b.memory().seen[0].access == AccessClass::register_invalidate);
  CHECK(b.memory().seen[0].address == address(0, bank0(0)));
  // The line of 1 is free and not written back.
  b.define(0, bank0(6), pattern(6));
  b.wait(20);
  CHECK(b.memory().seen.size() == 1);
  CHECK(b.memory().lines.empty());
  b.end(0);
  b.finish();
}

TEST_CASE("operand staging: a last preload drops the copy as it is read, and the line is the only one from then on") {
  Bench b(Bench::one_shard(4), 128);
  for (unsigned i = 0; i < 4; ++i) {
    b.define(0, bank0(i), pattern(i));
    b.wait(3);
  }
  b.end(0);
  b.wait(2);
  b.define(0, bank0(4), pattern(4), LastUse::erase);  // 0 leaves
  b.wait(20);
  REQUIRE(b.memory().lines.count(address(0, bank0(0))) == 1);
  b.preload(0, bank0(0), true);
  b.wait(30);
  CHECK(b.memory().seen.back().last);
  CHECK(b.memory().lines.empty());
  b.end(0);  // evict, not erase: it has to survive
  b.wait(2);
  for (unsigned i = 5; i < 9; ++i) {
    b.define(1, bank0(i) + 7, pattern(i));
    b.wait(10);
  }
  CHECK(b.memory().lines.count(address(0, bank0(0))) == 1);
  b.end(1);
  b.wait(2);
  b.preload(0, bank0(0));
  b.wait(40);
  WarpValue v{};
  b.read(0, bank0(0), v);
  CHECK(same(v, pattern(0)));
  // One that is staged and has a copy below: the copy is dropped by itself.
  b.end(0);
  b.wait(2);
  b.memory().seen.clear();
  b.preload(0, bank0(0), true);
  b.wait(20);
  REQUIRE(b.memory().seen.size() == 1);
  CHECK(b.memory().seen[0].access == AccessClass::register_invalidate);
  b.end(0, {bank0(0)});
  b.finish();
}

TEST_CASE("operand staging: marks act at the access that carries them") {
  Bench b(Bench::one_shard(1), 64);
  b.define(0, 0, pattern(1));
  b.wait(5);
  // The only line of bank 0 is erased by the read of the instruction that writes another register of the bank.
  Instruction wants(0, {}, {8});
  CHECK(!b.shard().can_issue(wants.dynamic));
  Instruction reads(0, {0}, {1});
  reads.marks.reads[0] = LastUse::erase;
  reads.marks.writes[0] = LastUse::evict;
  b.shard().issued(reads.dynamic, reads.marks);
  CHECK(!b.shard().can_issue(wants.dynamic));  // not read yet
  WarpValue v{};
  b.read(0, 0, v);
  CHECK(same(v, pattern(1)));
  CHECK(!b.shard().can_issue(wants.dynamic));  // the bank reads it in the next cycle
  const std::uint64_t told = b.client.available_at;
  REQUIRE(told > b.now());
  for (; b.now() < told; b.wait(1)) CHECK(!b.shard().can_issue(wants.dynamic));
  CHECK(b.shard().can_issue(wants.dynamic));
  // The written one is let go at its write.
  Instruction other(0, {}, {9});
  CHECK(!b.shard().can_issue(other.dynamic));
  b.write(0, 1, pattern(2));
  b.wait(2);
  CHECK(b.shard().can_issue(other.dynamic));
  // An instruction without active lanes writes nothing, and its marks still act.
  b.define(0, 8, pattern(3));
  b.wait(2);
  Instruction off(0, {}, {8}, 0);
  off.marks.writes[0] = LastUse::erase;
  CHECK(b.shard().can_issue(off.dynamic));
  b.shard().issued(off.dynamic, off.marks);
  b.wait(2);
  CHECK(b.statistic("erased") == 2);
  b.end(0);
  b.finish();
}

TEST_CASE("operand staging: a destination's own line is none for another destination") {
  Bench b(Bench::one_shard(2), 64);
  b.define(0, 8, pattern(1));
  b.wait(3);
  b.end(0);
  b.wait(3);
  b.define(0, 16, pattern(2));  // bank 0 has two lines: one is R8's, let go, the other R16's, owned
  b.wait(3);
  Instruction both(0, {}, {0, 8});
  CHECK(!b.shard().can_issue(both.dynamic));
  b.end(0, {16});
  b.wait(3);
  REQUIRE(b.shard().can_issue(both.dynamic));
  b.shard().issued(both.dynamic, both.marks);
  b.write(0, 0, pattern(3));
  b.write(0, 8, pattern(4));
  b.wait(5);
  WarpValue v{};
  b.read(0, 0, v);
  CHECK(same(v, pattern(3)));
  b.read(0, 8, v);
  CHECK(same(v, pattern(4)));
  CHECK(b.statistic("lost_writes") == 0);
  b.end(0);
  b.finish();
}

TEST_CASE("operand staging: a region's end waits for what is still to be read and written") {
  Bench b(Bench::one_shard(1), 64);
  b.define(0, 0, pattern(1));
  b.wait(3);
  Instruction last(0, {0}, {1});
  b.shard().issued(last.dynamic, last.marks);
  b.end(0, {0});
  WarpValue v{};
  b.read(0, 0, v);  // the last instruction's operands come after the region's end was told
  CHECK(same(v, pattern(1)));
  b.wait(50);
  Instruction wants(1, {}, {0});  // bank 1
  CHECK(!b.shard().can_issue(wants.dynamic));
  b.write(0, 1, pattern(2));
  b.wait(2);
  CHECK(b.shard().can_issue(wants.dynamic));
  b.preload(0, 1);
  b.wait(5);
  b.read(0, 1, v);
  CHECK(same(v, pattern(2)));
  b.end(0);
  b.finish();
}

TEST_CASE("operand staging: lanes that a write leaves alone keep their values, and are nobody's before") {
  Bench b;
  b.define(0, 0, pattern(1));
  b.wait();
  b.define(0, 0, pattern(2), LastUse::none, 0xff00);
  WarpValue v{};
  b.read(0, 0, v);
  for (unsigned lane = 0; lane < 32; ++lane) {
    CHECK(v.lane[lane] == pattern(lane >= 8 && lane < 16 ? 2 : 1).lane[lane]);
  }
  b.end(0, {0});
  b.wait(3);
  b.define(0, 0, pattern(3), LastUse::none, 1);  // the same line, in all likelihood
  b.read(0, 0, v);
  CHECK(v.lane[0] == pattern(3).lane[0]);
  for (unsigned lane = 1; lane < 32; ++lane) CHECK(v.lane[lane] == 0xdeadf00d);
  b.end(0, {0});
  b.finish();
}

TEST_CASE("operand staging: what should not happen is told by where a value came from") {
  Bench b;
  WarpValue v{};
  CHECK(origin_of(b, 0, 3, v) == "not staged, bank");
  CHECK(v.lane[0] == 0xdeadf00d);
  CHECK(b.statistic("not_staged") == 1);
  b.write(0, 3, pattern(1));
  CHECK(b.statistic("lost_writes") == 1);
  b.preload(0, 3);  // never written: nothing to fetch
  b.wait(5);
  REQUIRE(b.client.told.size() == 1);
  CHECK(b.client.told[0].source == PreloadSource::staged);
  CHECK(b.statistic("preloads_undefined") == 1);
  CHECK(origin_of(b, 0, 3, v) == "unwritten line of staging bank");
  b.write(0, 3, pattern(1));
  CHECK(origin_of(b, 0, 3, v) == "staging bank");
  b.end(0);
  b.wait(3);
  b.unit.warp_finished(Bench::info(0));
  CHECK(origin_of(b, 0, 3, v) == "not staged, bank");
  b.finish();
  CHECK(b.memory().seen.empty());
}

TEST_CASE("operand staging: another warp in the slot finds nothing of the one before") {
  Bench b(Bench::one_shard(1), 64);
  b.define(0, 0, pattern(1));
  b.end(0);
  b.wait(5);
  b.define(0, 8, pattern(2));
  b.end(0);
  b.wait(30);
  REQUIRE(b.memory().lines.size() == 1);
  b.unit.warp_finished(Bench::info(0));
  b.wait(5);
  b.unit.warp_started(Bench::info(0));
  b.memory().seen.clear();
  b.preload(0, 0);
  b.wait(20);
  CHECK(b.memory().seen.empty());
  WarpValue v{};
  CHECK(origin_of(b, 0, 0, v) == "unwritten line of staging bank");
  b.end(0);
  b.finish();
}

TEST_CASE("operand staging: another warp in the slot does not find a value that still leaves for memory") {
  Bench b(Bench::one_shard(1), 64);
  b.define(0, 0, pattern(1));
  b.end(0);
  b.wait(5);
  b.memory().take_nothing = true;
  b.define(0, 8, pattern(2));
  b.wait(10);  // R0 was sent and is not taken
  b.unit.warp_finished(Bench::info(0));
  b.unit.warp_started(Bench::info(0));
  b.preload(0, 0);
  b.wait(10);
  CHECK(b.client.told.size() == 1);
  CHECK(b.statistic("preloads_buffered") == 0);
  WarpValue v{};
  CHECK(origin_of(b, 0, 0, v) == "unwritten line of staging bank");
  b.memory().resume();
  b.end(0);
  b.finish();
}

TEST_CASE("operand staging: sizes that do not divide, and warps of another width, are refused") {
  auto refused = [](const test::Sizes& c) -> std::string {
    try {
      c.validate(c);
    } catch (const support::ConfigError& e) {
      return e.what();
    }
    return "";
  };
  test::Sizes c;
  for (unsigned entries : {128u, 192u, 256u, 384u, 512u, 1024u, 2048u}) {
    c.entries = entries;
    CHECK(refused(c) == "");
  }
  c.entries = 500;
  CHECK(refused(c) ==
        "configuration: osu.entries = 500 is divided among 4 shards (sm.schedulers) of osu.banks = 8: expected a "
        "multiple of 32");
  Bench b;
  protocol::KernelContext wide;
  wide.registers_per_warp = 8;
  wide.warp_size = 64;
  CHECK_THROWS_AS(b.unit.kernel_started(wide), support::ConfigError);
}

TEST_CASE("operand staging: bad requests end in an error that names the socket") {
  Bench b(Bench::one_shard(4), 64);
  test::refuses_bad_operand_requests(b.driver.reads, "osu.reads", "osu.writes", 32, true);
  test::refuses_bad_operand_requests(b.driver.writes, "osu.reads", "osu.writes", 32, true);
}
