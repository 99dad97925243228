// SPDX-License-Identifier: Apache-2.0
#include <regatta/memory/tlb.h>

#include "driver.h"

#include <regatta/test/catch.h>

#include <algorithm>
#include <map>
#include <random>

using namespace regatta;
using namespace regatta::test;
using memory::PageSet;
using memory::Tlb;
using memory::TlbConfig;

namespace {

constexpr std::uint64_t page = 4096;

TlbConfig small(unsigned entries) {
  TlbConfig c;
  c.entries = entries;
  c.page_bytes = page;
  c.second_page_bytes = page;
  c.latency = 100;
  return c;
}

}  // namespace

TEST_CASE("a TLB miss takes its latency, then the page is there") {
  Tlb tlb(small(2));
  CHECK(tlb.translate(3 * page, 10) == 110);
  CHECK(tlb.translate(3 * page + 4095, 60) == 110);  // the same miss
  CHECK(tlb.translate(3 * page, 109) == 110);
  CHECK(tlb.translate(3 * page, 110) == 110);
  CHECK(tlb.translate(4 * page, 120) == 220);
  CHECK(tlb.translate(5 * page, 130) == 230);
  CHECK(tlb.translate(5 * page, 300) == 300);
  CHECK(tlb.translate(3 * page, 310) == 410);  // two pages have come since
  CHECK(tlb.hits() == 2);
  CHECK(tlb.misses() == 6);
  CHECK(tlb.merges() == 2);
  CHECK(tlb.walks() == 0);
}

TEST_CASE("a miss of the second level walks, as many at a time as there are walkers") {
  TlbConfig c = small(1);
  c.second_entries = 8;
  c.walk_latency = 300;
  c.walks = 2;
  Tlb tlb(c);
  CHECK(tlb.translate(0 * page, 0) == 400);
  CHECK(tlb.translate(1 * page, 0) == 400);
  CHECK(tlb.translate(2 * page, 0) == 700);
  CHECK(tlb.translate(0 * page, 1000) == 1100);  // the second level has it
  CHECK(tlb.walks() == 3);
}

TEST_CASE("pages of the first level in one of the second share its walk") {
  TlbConfig c = small(8);
  c.second_entries = 8;
  c.second_page_bytes = 4 * page;
  c.walk_latency = 300;
  c.walks = 1;
  Tlb tlb(c);
  CHECK(tlb.translate(0 * page, 0) == 400);
  CHECK(tlb.translate(1 * page, 50) == 400);
  CHECK(tlb.translate(4 * page, 50) == 700);  // after the first walk
  CHECK(tlb.translate(2 * page, 500) == 600);
  CHECK(tlb.walks() == 2);
}

TEST_CASE("a set of pages keeps the youngest") {
  std::mt19937 random(3);
  for (const std::size_t entries : {1, 3, 16}) {
    PageSet set(entries);
    std::vector<std::uint64_t> order;  // the youngest last
    for (unsigned i = 0; i < 3000; ++i) {
      const std::uint64_t p = random() % 24;
      const auto found = std::find(order.begin(), order.end(), p);
      REQUIRE(set.touch(p) == (found != order.end()));
      if (found != order.end()) {
        order.erase(found);
      } else {
        set.insert(p);
        if (order.size() == entries) order.erase(order.begin());
      }
      order.push_back(p);
    }
  }
}

TEST_CASE("a load that misses the L1 waits for its page, and one whose page is there passes it") {
  auto l1 = caching();
  l1.tlb = small(8);
  Bench bench(fixed_dram(), l1);
  Driver& d = bench.driver();
  const auto first = d.add(0, AccessClass::data_load, 0 * page);
  const auto hit = d.add(4000, AccessClass::data_load, 0 * page);  // in the L1: needs no translation
  const auto near = d.add(4001, AccessClass::data_load, 0 * page + 512);
  const auto far = d.add(8000, AccessClass::data_load, 1 * page);
  const auto passes = d.add(8001, AccessClass::data_load, 0 * page + 1024);
  REQUIRE(bench.run() == "");
  CHECK(d.requests[hit].hit);
  CHECK(d.latency(first) == d.latency(near) + 100);
  CHECK(d.latency(far) == d.latency(near) + 100);
  CHECK(d.requests[passes].done < d.requests[far].done);
  CHECK(Bench::stat(*bench.l1[0], "tlb_misses") == 2);
  CHECK(Bench::stat(*bench.l1[0], "tlb_hits") == 2);
}

TEST_CASE("requests wait for a place among those that wait for a translation") {
  auto l1 = caching();
  l1.tlb = small(64);
  l1.tlb.queue = 2;
  Bench bench(fixed_dram(), l1);
  Driver& d = bench.driver();
  for (unsigned i = 0; i < 5; ++i) d.add(0, AccessClass::data_load, i * page);
  REQUIRE(bench.run() == "");
  CHECK(Bench::stat(*bench.l1[0], "reservation_failures_miss_queue") == 2);  // the third and the fifth
  CHECK(d.requests[2].accepted >= 100);
  CHECK(d.requests[4].accepted >= 200);
}

// Stores and loads of a line must keep their order whatever the TLB does: a load that overtook the store before it
// would read from DRAM what the store has put into the L2.
TEMPLATE_TEST_CASE_SIG("requests of a page keep their order", "", ((unsigned Seed), Seed), 0, 1, 2) {
  auto l1 = caching();
  l1.tlb = small(2);
  l1.tlb.queue = 1 + 5 * Seed;
  l1.tlb.second_entries = 4;
  l1.tlb.walks = 1;
  l1.miss_queue = 1 + Seed;
  l1.fill = "sector";
  l1.data_store = "write_through";
  Bench bench(fixed_dram(), l1);
  Driver& d = bench.driver();
  std::mt19937 random(Seed);
  std::map<std::uint64_t, std::uint64_t> stored;
  std::vector<std::size_t> after_store;
  for (unsigned i = 0; i < 600; ++i) {
    const std::uint64_t address = random() % 6 * page + random() % 2 * 128;
    if (stored.count(address) == 0 || random() % 4 == 0) {
      d.add(0, AccessClass::data_store, address);
      stored[address] = i;
    } else {
      after_store.push_back(d.add(0, AccessClass::data_load, address));
    }
  }
  REQUIRE(bench.run() == "");
  for (const std::size_t i : after_store) CHECK(d.requests[i].supplier != protocol::Supplier::dram);
}
