// SPDX-License-Identifier: Apache-2.0
// What an L1 does with each class of access under each policy.
#include "driver.h"

#include <regatta/test/catch.h>

#include <random>

using namespace regatta;
using namespace regatta::test;

namespace {

constexpr std::uint64_t local = std::uint64_t{2} << 48;

std::uint64_t l2_stat(Bench& bench, const char* name) {
  std::uint64_t sum = 0;
  for (auto& l2 : bench.l2) sum += Bench::stat(*l2, name);
  return sum;
}

}  // namespace

TEST_CASE("a sectored L1 fetches what is missing, a whole-line one the line") {
  auto l1 = caching();
  l1.fill = "sector";
  Bench bench(fixed_dram(), l1);
  Driver& d = bench.driver();
  const auto first = d.add(0, AccessClass::data_load, 0x1000, 0x3);
  const auto again = d.add(2000, AccessClass::data_load, 0x1000, 0x2);
  const auto other = d.add(2001, AccessClass::data_load, 0x1000, 0x6);
  const auto all = d.add(4000, AccessClass::data_load, 0x1000, 0x7);
  REQUIRE(bench.run() == "");
  CHECK_FALSE(d.requests[first].hit);
  CHECK(d.requests[again].hit);
  CHECK_FALSE(d.requests[other].hit);
  CHECK(d.requests[all].hit);
  CHECK(Bench::stat(*bench.l1[0], "sector_misses") == 1);
  CHECK(l2_stat(bench, "bytes_read") == 3 * 32);  // two sectors, then the one that was missing
}

TEST_CASE("requests for different sectors of a line are fetched apart, for the same ones together") {
  auto l1 = caching();
  l1.fill = "sector";
  Bench bench(fixed_dram(), l1);
  Driver& d = bench.driver();
  d.add(0, AccessClass::data_load, 0x1000, 0x1);
  d.add(0, AccessClass::data_load, 0x1000, 0x1);
  d.add(0, AccessClass::data_load, 0x1000, 0x2);
  d.add(3000, AccessClass::data_load, 0x1000, 0x3);
  REQUIRE(bench.run() == "");
  CHECK(Bench::stat(*bench.l1[0], "mshr_merges") == 1);
  CHECK(Bench::stat(*bench.l1[0], "fills") == 2);
  CHECK(d.requests[3].hit);
}

TEMPLATE_TEST_CASE_SIG("a load of sectors that several fetches bring fetches only what none does, and waits for all",
                       "", ((bool Merges), Merges), false, true) {
  const bool merges = Merges;
  auto l1 = caching();
  l1.fill = "sector";
  l1.sector_merge = merges;
  memory::MemorySystemConfig config = fixed_dram();
  config.l2.sector_merge = merges;
  Bench bench(config, l1);
  Driver& d = bench.driver();
  d.add(0, AccessClass::data_load, 0x1000, 0x1);
  d.add(0, AccessClass::data_load, 0x1000, 0x3);
  d.add(0, AccessClass::data_load, 0x1000, 0x7);
  d.add(0, AccessClass::data_load, 0x1000, 0x6);  // of two fetches that are on their way
  REQUIRE(bench.run() == "");
  CHECK(Bench::stat(*bench.l1[0], "fills") == 3);
  CHECK(Bench::stat(*bench.l1[0], "mshr_merges") == 1);
  std::uint64_t of_dram = 0;
  for (auto& l2 : bench.l2) of_dram += Bench::stat(*l2, "bytes_fetched");
  CHECK(of_dram == (merges ? 3u : 6u) * 32);
  CHECK(Bench::stat(*bench.l1[0], "bytes_fetched") == (merges ? 3u : 6u) * 32);
  for (unsigned i = 1; i < 3; ++i) CHECK(d.requests[i].done >= d.requests[i - 1].done);
  CHECK(d.requests[3].done >= d.requests[2].done);
}

TEST_CASE("write-through keeps the line with the sectors written, and allocates where it is told to") {
  auto l1 = caching();
  l1.fill = "sector";
  l1.data_store = "write_through";
  l1.data_store_miss = "allocate";
  Bench bench(fixed_dram(), l1);
  Driver& d = bench.driver();
  const auto store = d.add(0, AccessClass::data_store, 0x1000, 0x3);
  const auto hit = d.add(1000, AccessClass::data_load, 0x1000, 0x3);
  const auto miss = d.add(2000, AccessClass::data_load, 0x1000, 0xf);
  REQUIRE(bench.run() == "");
  CHECK_FALSE(d.requests[store].hit);  // answered by the L2
  CHECK(d.requests[hit].hit);
  CHECK_FALSE(d.requests[miss].hit);
  CHECK(l2_stat(bench, "writes") == 1);
  CHECK(Bench::stat(*bench.l1[0], "writebacks") == 0);
}

TEST_CASE("what bypasses the L1 is not answered there, and nothing of its line stays") {
  auto l1 = caching();
  l1.data_store = "write_back";
  l1.data_store_miss = "allocate";
  Bench bench(fixed_dram(), l1);
  Driver& d = bench.driver();
  const auto bypassing = [&](std::uint64_t cycle, AccessClass access, std::uint64_t address) {
    const auto i = d.add(cycle, access, address, 0x1);
    d.requests[i].bypass_l1 = true;
    return i;
  };
  d.add(0, AccessClass::data_store, 0x1000, 0x1);                           // kept, dirty
  const auto read_dirty = bypassing(1000, AccessClass::data_load, 0x1000);  // behind the write-back
  const auto read_again = bypassing(2000, AccessClass::data_load, 0x1000);
  const auto cached = d.add(3000, AccessClass::data_load, 0x1000, 0x1);  // fetches anew
  const auto during = d.add(4000, AccessClass::data_load, 0x2000, 0x1);  // under way when
  const auto passes = bypassing(4001, AccessClass::data_load, 0x2000);   // this one passes it
  const auto after = d.add(5000, AccessClass::data_load, 0x2000, 0x1);   // so that it was not kept
  const auto store = bypassing(6000, AccessClass::data_store, 0x2000);
  const auto gone = d.add(7000, AccessClass::data_load, 0x2000, 0x1);
  REQUIRE(bench.run() == "");
  for (const auto i : {read_dirty, read_again, cached, during, passes, after, store, gone}) {
    CAPTURE(i);
    CHECK_FALSE(d.requests[i].hit);
  }
  CHECK(d.requests[read_dirty].supplier == protocol::Supplier::l2);
  CHECK(Bench::stat(*bench.l1[0], "writebacks") == 1);
  CHECK(Bench::stat(*bench.l1[0], "bypassed_reads") == 3);
  CHECK(Bench::stat(*bench.l1[0], "mshr_merges") == 0);
  CHECK(Bench::stat(*bench.l1[0], "read_hits") == 0);
}

TEST_CASE("write-through without allocation leaves nothing behind") {
  auto l1 = caching();
  l1.data_store = "write_through";
  Bench bench(fixed_dram(), l1);
  Driver& d = bench.driver();
  d.add(0, AccessClass::data_store, 0x1000, 0x3);
  const auto miss = d.add(1000, AccessClass::data_load, 0x1000, 0x3);
  d.add(3000, AccessClass::data_store, 0x1000, 0x3);
  const auto hit = d.add(4000, AccessClass::data_load, 0x1000, 0x3);  // a write hit keeps the line
  REQUIRE(bench.run() == "");
  CHECK_FALSE(d.requests[miss].hit);
  CHECK(d.requests[hit].hit);
  CHECK(l2_stat(bench, "writes") == 2);
}

TEST_CASE("write-back stores are answered as hits and leave when their way is wanted") {
  auto l1 = caching();
  l1.size_bytes = 256;
  l1.ways = 1;
  l1.data_store = "write_back";
  l1.data_store_miss = "allocate";
  Bench bench(fixed_dram(), l1);
  Driver& d = bench.driver();
  const auto store = d.add(0, AccessClass::data_store, 0x1000, 0x3);
  const auto more = d.add(10, AccessClass::data_store, 0x1000, 0x4);
  const auto evict = d.add(1000, AccessClass::data_load, 0x1100, 0x1);  // the same set
  REQUIRE(bench.run() == "");
  CHECK(d.requests[store].hit);
  CHECK(d.latency(store) == 35);
  CHECK(d.requests[more].hit);
  CHECK_FALSE(d.requests[evict].hit);
  CHECK(Bench::stat(*bench.l1[0], "stores_absorbed") == 2);
  CHECK(Bench::stat(*bench.l1[0], "writebacks") == 1);
  CHECK(l2_stat(bench, "writes") == 1);
  CHECK(l2_stat(bench, "bytes_written") == 3 * 32);  // the dirty sectors, no others
}

TEST_CASE("an atomic to a dirty line takes what is dirty along") {
  auto l1 = caching();
  l1.data_store = "write_back";
  l1.data_store_miss = "allocate";
  Bench bench(fixed_dram(), l1);
  Driver& d = bench.driver();
  d.add(0, AccessClass::data_store, 0x1000, 0x3);
  d.add(1000, AccessClass::atomic, 0x1000, 0x1);
  const auto after = d.add(3000, AccessClass::data_load, 0x1000, 0x1);
  REQUIRE(bench.run() == "");
  CHECK_FALSE(d.requests[after].hit);
  CHECK(Bench::stat(*bench.l1[0], "writebacks") == 1);
  CHECK(l2_stat(bench, "atomics") == 1);
}

// A SystemC program elaborates once, so every variant is a test case of its own.
TEMPLATE_TEST_CASE_SIG("stores in the L2 stay there, go on to DRAM, or pass it by", "",
                       ((bool Through, bool Allocate), Through, Allocate), (false, true), (false, false), (true, true),
                       (true, false)) {
  auto config = fixed_dram();
  config.l2.store = Through ? "write_through" : "write_back";
  config.l2.store_miss = Allocate ? "allocate" : "no_allocate";
  Bench bench(config, memory::L1Config{});
  Driver& d = bench.driver();
  d.add(0, AccessClass::data_store, 0x1000, 0x3);
  const auto load = d.add(2000, AccessClass::data_load, 0x1000, 0x1);
  d.add(4000, AccessClass::data_store, 0x1000, 0x1);  // finds the line by now
  REQUIRE(bench.run() == "");
  CHECK((d.latency(load) == config.l2.latency) == Allocate);
  std::uint64_t written = 0;
  for (auto& dram : bench.dram) written += Bench::stat(*dram, "bytes_written");
  CHECK(written == (Through ? 96 : Allocate ? 0 : 64));
  CHECK(l2_stat(bench, "write_hits") == 1);
}

TEST_CASE("local memory has policies of its own") {
  auto l1 = memory::L1Config{};  // global loads go past
  l1.local_policy = "cache";
  l1.local_store = "write_back";
  l1.local_store_miss = "allocate";
  Bench bench(fixed_dram(), l1);
  Driver& d = bench.driver();
  const auto store = d.add(0, AccessClass::local_store, local + 0x1000);
  const auto load = d.add(100, AccessClass::local_load, local + 0x1000);
  d.add(200, AccessClass::data_load, 0x1000);
  const auto global = d.add(2000, AccessClass::data_load, 0x1000);
  // A kernel boundary: the frames of finished threads are dead, nothing is written back.
  const auto after = d.add(4000, AccessClass::local_load, local + 0x1000);
  d.on_send = [&](Request& r) {
    if (&r == &d.requests[after]) bench.l1[0]->invalidate_data();
  };
  REQUIRE(bench.run() == "");
  CHECK(d.requests[store].hit);
  CHECK(d.requests[load].hit);
  CHECK_FALSE(d.requests[global].hit);
  CHECK_FALSE(d.requests[after].hit);
  CHECK(Bench::stat(*bench.l1[0], "writebacks") == 0);
  CHECK(Bench::stat(*bench.l1[0], "accesses_local_load") == 2);
}

TEST_CASE("at a kernel boundary dirty global lines leave through the miss queue, however many") {
  auto l1 = caching();
  l1.data_store = "write_back";
  l1.data_store_miss = "allocate";
  l1.miss_queue = 2;
  Bench bench(fixed_dram(), l1);
  Driver& d = bench.driver();
  for (unsigned i = 0; i < 100; ++i) d.add(0, AccessClass::data_store, 0x10000 + 128 * std::uint64_t{i}, 0x5);
  const auto after = d.add(1000, AccessClass::data_load, 0x10000);
  d.on_send = [&](Request& r) {
    if (&r == &d.requests[after]) bench.l1[0]->invalidate_data();
  };
  REQUIRE(bench.run() == "");
  CHECK_FALSE(d.requests[after].hit);
  CHECK(Bench::stat(*bench.l1[0], "writebacks") == 100);
  CHECK(Bench::stat(*bench.l1[0], "miss_queue_max") <= 2);
  CHECK(l2_stat(bench, "bytes_written") == 100 * 64);
}

TEST_CASE("reservation failures are counted by what was missing") {
  const auto failures = [](Bench& bench, const char* reason) {
    return Bench::stat(*bench.l1[0], std::string("reservation_failures_") + reason);
  };
  auto l1 = caching();
  SECTION("MSHRs") {
    l1.mshrs = 1;
    Bench bench(fixed_dram(), l1);
    for (unsigned i = 0; i < 3; ++i) bench.driver().add(0, AccessClass::data_load, 0x4000 + 128 * i);
    REQUIRE(bench.run() == "");
    CHECK(failures(bench, "mshr") == 2);
    CHECK(Bench::stat(*bench.l1[0], "reservation_failures") == 2);
  }
}

TEST_CASE("reservation failures are counted by what was missing: waiters") {
  auto l1 = caching();
  l1.merge_limit = 1;
  Bench bench(fixed_dram(), l1);
  for (unsigned i = 0; i < 2; ++i) bench.driver().add(0, AccessClass::data_load, 0x4000);
  REQUIRE(bench.run() == "");
  CHECK(Bench::stat(*bench.l1[0], "reservation_failures_merge") == 1);
}

TEST_CASE("reservation failures are counted by what was missing: the miss queue") {
  auto l1 = caching();
  l1.miss_queue = 1;
  auto config = fixed_dram();
  config.interconnect.queue = 1;
  config.interconnect.flit_bytes = 4;  // a store takes 33 cycles to leave
  Bench bench(config, l1);
  for (unsigned i = 0; i < 6; ++i) bench.driver().add(0, AccessClass::data_store, 0x4000 + 128 * i);
  REQUIRE(bench.run() == "");
  CHECK(Bench::stat(*bench.l1[0], "reservation_failures_miss_queue") >= 2);
  CHECK(Bench::stat(*bench.l1[0], "reservation_failures_mshr") == 0);
}

// A SystemC program elaborates once, so every seed is a test case of its own.
TEMPLATE_TEST_CASE_SIG("what leaves one level arrives at the next, on random traffic", "", ((unsigned Seed), Seed), 0,
                       1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) {
  std::mt19937 random(Seed);
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  memory::MemorySystemConfig c;
  c.machine_sms = c.simulated_sms = 1 + Seed % 3;
  c.l2.size_bytes = 8192u << pick(3);
  c.l2.ways = 2;
  c.l2.partitions = 1 + pick(4);
  c.l2.mshrs = 1 + pick(12);
  c.l2.merge_limit = 1 + pick(4);
  c.l2.queue = 1 + pick(6);
  c.l2.response_queue = 1 + pick(4);
  c.l2.dram_queue = 2 + pick(6);
  c.l2.store = pick(2) ? "write_back" : "write_through";
  c.l2.store_miss = pick(2) ? "allocate" : "no_allocate";
  c.dram.queue = 1 + pick(16);
  c.dram.bandwidth = 5000 + pick(200000);
  c.dram.scheduler = Seed % 3 == 0 ? "fixed" : Seed % 3 == 1 ? "fcfs" : "fr_fcfs";
  const char* const stores[] = {"write_evict", "write_through", "write_back"};
  memory::L1Config l1;
  l1.size_bytes = 1024;
  l1.ways = 2;
  l1.mshrs = 1 + pick(6);
  l1.merge_limit = 1 + pick(4);
  l1.miss_queue = 1 + pick(4);
  l1.fill_queue = 1 + pick(3);
  l1.response_queue = 1 + pick(3);
  l1.fill = pick(2) ? "sector" : "line";
  l1.local_policy = pick(4) ? "cache" : "bypass";
  l1.data_policy = pick(4) ? "cache" : "bypass";
  l1.data_store = stores[pick(l1.data_policy == "cache" ? 3 : 2)];
  l1.local_store = stores[pick(l1.local_policy == "cache" ? 3 : 2)];
  l1.data_store_miss = pick(2) ? "allocate" : "no_allocate";
  l1.local_store_miss = pick(2) ? "allocate" : "no_allocate";
  Bench bench(c, l1);
  for (unsigned s = 0; s < bench.sms; ++s) {
    Driver& d = *bench.drivers[s];
    d.response_delay = Seed % 5 == 0 ? pick(6) : 0;
    std::uint64_t cycle = 0;
    for (unsigned i = 0; i < 3000; ++i) {
      cycle += pick(8) == 0 ? pick(40) : pick(2);
      const auto sectors = static_cast<std::uint8_t>(1 + pick(15));
      const std::uint64_t data = 128 * std::uint64_t{pick(200)};
      const std::uint64_t frame = local + (std::uint64_t{s} << 20) + 128 * pick(40);
      const std::uint64_t registers = (std::uint64_t{s} << 24) + 0x800000 + 128 * pick(20);
      switch (pick(9)) {
        case 0:
        case 1:
          d.add(cycle, AccessClass::data_load, data, sectors);
          break;
        case 2:
          d.add(cycle, AccessClass::data_store, data, sectors);
          break;
        case 3:
          d.add(cycle, AccessClass::atomic, data, sectors);
          break;
        case 4:
          d.add(cycle, AccessClass::local_load, frame, sectors);
          break;
        case 5:
          d.add(cycle, AccessClass::local_store, frame, sectors);
          break;
        case 6:
          d.add(cycle, AccessClass::register_write, registers, 0xf);
          break;
        case 7:
          d.add(cycle, AccessClass::register_read, registers, 0xf);
          break;
        default:
          d.add(cycle, AccessClass::instruction, 0x4000000 + data, 0xf);
          break;
      }
    }
  }
  REQUIRE(bench.run() == "");
  const auto l1_stat = [&](const char* name) {
    std::uint64_t sum = 0;
    for (auto& x : bench.l1) sum += Bench::stat(*x, name);
    return sum;
  };
  const auto dram_stat = [&](const char* name) {
    std::uint64_t sum = 0;
    for (auto& x : bench.dram) sum += Bench::stat(*x, name);
    return sum;
  };
  // L2 traffic = the L1s' misses, what passes them by, and their write-backs.
  const std::uint64_t fetched = l1_stat("read_misses") - l1_stat("mshr_merges");
  const std::uint64_t stored = l1_stat("writes") - l1_stat("stores_absorbed");
  CHECK(l1_stat("fills") == fetched);
  CHECK(l2_stat(bench, "reads") == fetched + l1_stat("bypassed_reads"));
  CHECK(l2_stat(bench, "writes") + l2_stat(bench, "atomics") == stored + l1_stat("writebacks"));
  CHECK(l2_stat(bench, "read_hits") + l2_stat(bench, "read_misses") ==
        l2_stat(bench, "reads") + l2_stat(bench, "atomics"));
  CHECK(Bench::stat(*bench.interconnect, "request_packets") ==
        l2_stat(bench, "reads") + l2_stat(bench, "writes") + l2_stat(bench, "atomics"));
  // DRAM traffic = the L2's misses and write-backs.
  CHECK(l2_stat(bench, "fetches") == l2_stat(bench, "read_misses") - l2_stat(bench, "mshr_merges"));
  CHECK(dram_stat("reads") == l2_stat(bench, "fetches"));
  CHECK(dram_stat("writes") == l2_stat(bench, "writebacks"));
  CHECK(dram_stat("bytes_read") == l2_stat(bench, "bytes_fetched"));
  CHECK(dram_stat("bytes_written") == l2_stat(bench, "bytes_written_back"));
  CHECK(dram_stat("bytes_read") + dram_stat("bytes_written") > 0);
}
