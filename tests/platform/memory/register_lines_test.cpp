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
