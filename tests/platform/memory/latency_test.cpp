// SPDX-License-Identifier: Apache-2.0
// Known answers in cycles: hits, misses, merging, refusals.
#include "driver.h"

#include <regatta/test/catch.h>

using namespace regatta;
using namespace regatta::test;

namespace {

// Cycles a fetch of `sectors` keeps the DRAM bus, rounded up.
std::uint64_t bus_cycles(const memory::MemorySystemConfig& c, unsigned sectors) {
  const memory::Bandwidth b = c.channel_bandwidth();
  return (sectors * 32 * b.cycles + b.bytes - 1) / b.bytes;
}

}  // namespace

// A SystemC program elaborates once, so every variant is a test case of its own.
TEMPLATE_TEST_CASE_SIG("a one-sector L2 hit takes l2.latency and a miss dram.latency plus the bus", "",
                       ((unsigned L2, unsigned Interconnect, unsigned Dram), L2, Interconnect, Dram), (216, 24, 350),
                       (200, 30, 440), (10, 1, 100), (11, 1, 16)) {
  auto config = fixed_dram();
  config.l2.latency = L2;
  config.interconnect.latency = Interconnect;
  config.dram.latency = Dram;
  Bench bench(config, memory::L1Config{});
  Driver& d = bench.driver();
  const auto miss = d.add(5, AccessClass::data_load, 0x1000, 0x1);
  const auto hit = d.add(2000, AccessClass::data_load, 0x1000, 0x1);
  REQUIRE(bench.run() == "");
  CHECK(d.latency(miss) == Dram + bus_cycles(config, 1));
  CHECK(d.latency(hit) == L2);
  CHECK_FALSE(d.requests[hit].hit);
}

TEST_CASE("a hit in the L1 is answered at once with its latency") {
  Bench bench(fixed_dram(), caching());
  Driver& d = bench.driver();
  const auto miss = d.add(0, AccessClass::data_load, 0x1000, 0x1);
  const auto hit = d.add(3000, AccessClass::data_load, 0x1000, 0x8);
  const auto other = d.add(3001, AccessClass::data_load, 0x1080, 0x8);
  REQUIRE(bench.run() == "");
  CHECK_FALSE(d.requests[miss].hit);
  CHECK(d.requests[hit].hit);
  CHECK(d.latency(hit) == 35);
  CHECK_FALSE(d.requests[other].hit);
  CHECK(Bench::stat(*bench.l1[0], "read_hits") == 1);
  CHECK(Bench::stat(*bench.l1[0], "read_misses") == 2);
  CHECK(Bench::stat(*bench.l1[0], "bytes_read") == 96);
}

TEST_CASE("misses to one line share a fetch, up to the merge limit") {
  auto l1 = caching();
  l1.merge_limit = 3;
  Bench bench(fixed_dram(), l1);
  Driver& d = bench.driver();
  for (unsigned i = 0; i < 4; ++i) d.add(0, AccessClass::data_load, 0x4000, 0x1);
  REQUIRE(bench.run() == "");
  CHECK(Bench::stat(*bench.l1[0], "mshr_merges") == 2);
  CHECK(Bench::stat(*bench.l1[0], "reservation_failures") == 1);
  CHECK(Bench::stat(*bench.l1[0], "fills") == 1);
  // Sent in cycles 0, 1, 2; the answers leave one per cycle.
  CHECK(d.requests[1].done == d.requests[0].done + 1);
  CHECK(d.requests[2].done == d.requests[0].done + 2);
  // The fourth waits until the line is there (a cycle before the first answer is seen), then hits.
  CHECK(d.requests[3].sent == 3);
  CHECK(d.requests[3].done == d.requests[0].done - 1 + 35);
  CHECK(Bench::stat(*bench.l1[0], "read_hits") == 1);
}

TEST_CASE("without a free MSHR the request waits for one") {
  auto l1 = caching();
  l1.mshrs = 2;
  Bench bench(fixed_dram(), l1);
  Driver& d = bench.driver();
  for (unsigned i = 0; i < 4; ++i) d.add(0, AccessClass::data_load, 0x10000 + 0x80 * i, 0xf);
  REQUIRE(bench.run() == "");
  CHECK(Bench::stat(*bench.l1[0], "mshrs_max") == 2);
  CHECK(Bench::stat(*bench.l1[0], "reservation_failures") == 2);
  CHECK(d.requests[2].accepted == d.requests[0].done);  // both one cycle after the fill
}

TEST_CASE("loads of one line to the L2 are merged there") {
  Bench bench(fixed_dram(), memory::L1Config{});
  Driver& d = bench.driver();
  for (unsigned i = 0; i < 8; ++i) d.add(0, AccessClass::data_load, 0x4000, 0xf);
  REQUIRE(bench.run() == "");
  std::uint64_t fetches = 0, merges = 0;
  for (auto& l2 : bench.l2) {
    fetches += Bench::stat(*l2, "fetches");
    merges += Bench::stat(*l2, "mshr_merges");
  }
  CHECK(fetches == 1);
  CHECK(merges == 7);
  // The answers share the port of the SM: 5 flits each.
  for (unsigned i = 1; i < 8; ++i) CHECK(d.requests[i].done == d.requests[i - 1].done + 5);
}

TEST_CASE("a store is answered when the L2 has taken it and its sectors are there afterwards") {
  Bench bench(fixed_dram(), caching());
  Driver& d = bench.driver();
  const auto load = d.add(0, AccessClass::data_load, 0x2000, 0xf);
  const auto store = d.add(2000, AccessClass::data_store, 0x2000, 0x3);
  const auto again = d.add(4000, AccessClass::data_load, 0x2000, 0x1);
  const auto fresh = d.add(6000, AccessClass::data_store, 0x900000, 0x3);
  const auto hit = d.add(8000, AccessClass::data_load, 0x900000, 0x1);
  REQUIRE(bench.run() == "");
  CHECK(d.requests[load].done != 0);
  // Out: hop, 24, 2 more flits than a header; back: one flit; one cycle in the L2; the hops of a load.
  CHECK(d.latency(store) == 6 + 2 * 24 + 2 + 1);
  CHECK(d.latency(store) == d.latency(fresh));
  CHECK_FALSE(d.requests[again].hit);  // write-evict
  // The whole line is fetched from the L2: three sectors more than the minimum.
  CHECK(d.latency(again) == 216 + 3);
  // Two of four sectors are valid; the other two come from DRAM.
  CHECK(d.latency(hit) == 350 + bus_cycles(bench.config(), 2) + 3);
  CHECK(Bench::stat(*bench.l1[0], "lines_dropped") == 1);
}

TEST_CASE("an atomic is performed at the L2") {
  Bench bench(fixed_dram(), memory::L1Config{});
  Driver& d = bench.driver();
  const auto miss = d.add(0, AccessClass::atomic, 0x2000, 0x1);
  const auto hit = d.add(2000, AccessClass::atomic, 0x2000, 0x1);
  REQUIRE(bench.run() == "");
  CHECK(d.latency(miss) == 350 + 1 + bus_cycles(bench.config(), 1));  // the request carries a sector
  CHECK(d.latency(hit) == 216 + 1);
}

TEST_CASE("a kernel boundary drops data and keeps registers") {
  Bench bench(fixed_dram(), caching());
  Driver& d = bench.driver();
  d.add(0, AccessClass::data_load, 0x2000);
  d.add(1, AccessClass::register_write, 0x800000, 0xf, 9);
  const auto before = d.add(2000, AccessClass::data_load, 0x2000);
  const auto boundary = d.add(3000, AccessClass::data_load, 0x2000);
  const auto value = d.add(3001, AccessClass::register_read, 0x800000);
  const auto pending = d.add(5000, AccessClass::data_load, 0x7000);
  const auto joined = d.add(5010, AccessClass::data_load, 0x7000);
  const auto after = d.add(8000, AccessClass::data_load, 0x7000);
  d.on_send = [&](Request& r) {
    if (&r == &d.requests[boundary] || &r == &d.requests[joined]) bench.l1[0]->invalidate_data();
  };
  REQUIRE(bench.run() == "");
  CHECK(d.requests[before].hit);
  CHECK_FALSE(d.requests[boundary].hit);
  CHECK(d.requests[value].hit);
  CHECK(d.requests[value].bytes[3] == byte_of(9, 3));
  CHECK_FALSE(d.requests[pending].hit);
  CHECK_FALSE(d.requests[joined].hit);  // fetched anew: what is under way belongs to the kernel before
  CHECK(Bench::stat(*bench.l1[0], "mshr_merges") == 0);
  CHECK(d.requests[after].hit);
}

TEST_CASE("an L1 that is off passes everything on") {
  memory::L1Config l1;
  l1.enabled = false;
  Bench bench(fixed_dram(), l1);
  Driver& d = bench.driver();
  d.add(0, AccessClass::register_write, 0x800000, 0xf, 9);
  const auto read = d.add(1, AccessClass::register_read, 0x800000);
  const auto drop = d.add(2, AccessClass::register_invalidate, 0x800000);
  REQUIRE(bench.run() == "");
  REQUIRE(d.requests[read].bytes.size() == 128);
  CHECK(d.requests[read].bytes[5] == byte_of(9, 5));
  CHECK_FALSE(d.requests[read].hit);
  CHECK(d.requests[drop].hit);
}
