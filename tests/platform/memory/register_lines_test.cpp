// SPDX-License-Identifier: Apache-2.0
//
// Register lines in L1 and L2: who supplied them, and what becomes of those that nobody will read again.
#include <regatta/test/catch.h>

#include "driver.h"

using namespace regatta;
using protocol::Supplier;
using test::AccessClass;
using test::Bench;

namespace {

constexpr std::uint64_t first = std::uint64_t{6} << 48;

/// An L1 of one set: two lines.
memory::L1Config two_lines() {
  memory::L1Config c;
  c.size_bytes = 256;
  c.ways = 2;
  return c;
}

}  // namespace

TEST_CASE("register lines: a read tells who had the line") {
  Bench b(test::fixed_dram(), two_lines());
  test::Driver& d = b.driver();
  d.add(0, AccessClass::register_write, first, 0xf, 1);
  const std::size_t l1 = d.add(1000, AccessClass::register_read, first);
  d.add(2000, AccessClass::register_write, first + 1024, 0xf, 2);
  d.add(2100, AccessClass::register_write, first + 2048, 0xf, 3);  // drives the first out
  const std::size_t l2 = d.add(5000, AccessClass::register_read, first);
  const std::size_t again = d.add(8000, AccessClass::register_read, first);
  const std::size_t dram = d.add(10000, AccessClass::register_read, first + 4096);
  REQUIRE(b.run() == "");
  CHECK(d.requests[l1].supplier == Supplier::l1);
  CHECK(d.requests[l2].supplier == Supplier::l2);
  CHECK(d.requests[again].supplier == Supplier::l1);
  CHECK(d.requests[dram].supplier == Supplier::dram);
  CHECK(d.requests[l2].bytes[0] == test::byte_of(1, 0));
}

TEST_CASE("register lines: a last read drops the line in the L1, dirty or not") {
  Bench b(test::fixed_dram(), two_lines());
  test::Driver& d = b.driver();
  d.add(0, AccessClass::register_write, first, 0xf, 1);
  const std::size_t last = d.add(1000, AccessClass::register_read, first);
  d.requests[last].last = true;
  // Two more lines fit without a write-back: the first is gone.
  d.add(2000, AccessClass::register_write, first + 1024, 0xf, 2);
  d.add(3000, AccessClass::register_write, first + 2048, 0xf, 3);
  REQUIRE(b.run() == "");
  CHECK(d.requests[last].bytes[5] == test::byte_of(1, 5));
  CHECK(Bench::stat(*b.l1[0], "writebacks") == 0);
  CHECK(Bench::stat(*b.l1[0], "last_reads") == 1);
}

TEST_CASE("register lines: a last read that misses is kept neither in the L1 nor in the L2") {
  Bench b(test::fixed_dram(), two_lines());
  test::Driver& d = b.driver();
  d.add(0, AccessClass::register_write, first, 0xf, 1);
  d.add(1000, AccessClass::register_write, first + 1024, 0xf, 2);
  d.add(2000, AccessClass::register_write, first + 2048, 0xf, 3);  // the first leaves for the L2
  const std::size_t last = d.add(5000, AccessClass::register_read, first);
  d.requests[last].last = true;
  const std::size_t staying = d.add(8000, AccessClass::register_read, first + 1024);
  const std::size_t gone = d.add(10000, AccessClass::register_read, first);
  REQUIRE(b.run() == "");
  CHECK(d.requests[last].supplier == Supplier::l2);
  CHECK(d.requests[last].bytes[7] == test::byte_of(1, 7));
  CHECK(d.requests[staying].supplier == Supplier::l1);  // it did not have to make room
  CHECK(d.requests[gone].supplier == Supplier::dram);
  std::uint64_t dropped = 0;
  for (auto& p : b.l2) dropped += Bench::stat(*p, "last_reads");
  CHECK(dropped == 1);
}

namespace {

std::uint64_t total_of_l2(Bench& b, const std::string& name) {
  std::uint64_t all = 0;
  for (auto& p : b.l2) all += Bench::stat(*p, name);
  return all;
}

}  // namespace

TEST_CASE("register lines past the L1: they are in the L2, and none stays in the L1") {
  Bench b(test::fixed_dram(), two_lines());
  test::Driver& d = b.driver();
  const auto past = [&d](std::uint64_t cycle, AccessClass access, std::uint64_t address, unsigned char fill = 0) {
    const std::size_t i = d.add(cycle, access, address, 0xf, fill);
    d.requests[i].bypass_l1 = true;
    return i;
  };
  // Two lines of a block that uses the L1: they stay there.
  d.add(0, AccessClass::register_write, first, 0xf, 1);
  d.add(10, AccessClass::register_write, first + 128, 0xf, 2);
  std::vector<std::size_t> reads;
  for (unsigned i = 0; i < 8; ++i) {
    const std::uint64_t line = first + 4096 + i * 128;
    past(1000 + 2 * i, AccessClass::register_write, line, static_cast<unsigned char>(10 + i));
    reads.push_back(past(1001 + 2 * i, AccessClass::register_read, line));  // right behind
  }
  const std::size_t kept = d.add(5000, AccessClass::register_read, first);
  const std::size_t kept_too = d.add(5100, AccessClass::register_read, first + 128);
  REQUIRE(b.run() == "");
  for (unsigned i = 0; i < 8; ++i) {
    CAPTURE(i);
    const test::Request& r = d.requests[reads[i]];
    CHECK_FALSE(r.hit);
    CHECK(r.supplier == Supplier::l2);
    for (unsigned byte = 0; byte < 128; ++byte) {
      REQUIRE(r.bytes[byte] == test::byte_of(static_cast<unsigned char>(10 + i), byte));
    }
  }
  CHECK(d.requests[kept].supplier == Supplier::l1);
  CHECK(d.requests[kept_too].supplier == Supplier::l1);
  memory::L1Cache& l1 = *b.l1[0];
  CHECK(Bench::stat(l1, "bypassed_reads") == 8);
  CHECK(Bench::stat(l1, "bytes_bypassed") == 8 * 128);
  CHECK(Bench::stat(l1, "array_writes") == 2);
  CHECK(Bench::stat(l1, "stores_absorbed") == 2);
  CHECK(Bench::stat(l1, "fills") == 0);
  CHECK(Bench::stat(l1, "read_misses") == 0);
  CHECK(Bench::stat(l1, "writebacks") == 0);
  CHECK(Bench::stat(l1, "reads") == 10);
  CHECK(Bench::stat(l1, "writes") == 10);
  CHECK(total_of_l2(b, "reads") == 8);
  CHECK(total_of_l2(b, "writes") == 8);
}

TEST_CASE("register lines past the L1: a last read drops the line in the L2") {
  Bench b(test::fixed_dram(), two_lines());
  test::Driver& d = b.driver();
  const auto past = [&d](std::uint64_t cycle, AccessClass access, bool last, unsigned char fill = 0) {
    const std::size_t i = d.add(cycle, access, first, 0xf, fill);
    d.requests[i].bypass_l1 = true;
    d.requests[i].last = last;
    return i;
  };
  past(0, AccessClass::register_write, false, 3);
  const std::size_t last = past(1000, AccessClass::register_read, true);
  const std::size_t gone = past(3000, AccessClass::register_read, false);
  past(6000, AccessClass::register_write, false, 4);
  const std::size_t anew = past(7000, AccessClass::register_read, false);
  REQUIRE(b.run() == "");
  CHECK(d.requests[last].bytes[5] == test::byte_of(3, 5));
  CHECK(d.requests[gone].supplier == Supplier::dram);
  CHECK(d.requests[anew].bytes[5] == test::byte_of(4, 5));
  CHECK(total_of_l2(b, "last_reads") == 1);
  CHECK(Bench::stat(*b.l1[0], "last_reads") == 0);
}

TEST_CASE("register lines past an L1 that caches and writes back: all come back as they were written") {
  memory::L1Config config = test::caching();
  config.size_bytes = 512;
  config.ways = 2;
  config.fill = "sector";
  config.data_store = "write_back";
  config.data_store_miss = "allocate";
  config.miss_queue = 2;
  Bench b(test::fixed_dram(), config);
  test::Driver& d = b.driver();
  std::vector<std::pair<std::size_t, unsigned char>> reads;
  for (unsigned i = 0; i < 200; ++i) {
    const std::uint64_t at = 3 * i, line = first + i % 20 * 128;
    const auto fill = static_cast<unsigned char>(i);
    d.requests[d.add(at, AccessClass::register_write, line, 0xf, fill)].bypass_l1 = true;
    d.add(at, AccessClass::data_load, 0x1000 + i % 7 * 128, 0x3);
    d.add(at, AccessClass::data_store, 0x1000 + i % 5 * 128, 0x1);
    const std::size_t read = d.add(at, AccessClass::register_read, line);
    d.requests[read].bypass_l1 = true;
    reads.emplace_back(read, fill);
  }
  REQUIRE(b.run() == "");
  for (const auto& [read, fill] : reads) {
    CAPTURE(read);
    REQUIRE(d.requests[read].bytes[9] == test::byte_of(fill, 9));
  }
  CHECK(Bench::stat(*b.l1[0], "writebacks") > 0);
}
