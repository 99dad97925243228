// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <regatta/memory/lookup_ports.h>
#include <regatta/test/catch.h>

#include <random>
#include <set>

using namespace regatta;
using namespace regatta::test;
using memory::LookupPorts;

TEST_CASE("ports with tags alone take so many requests in a cycle and none in advance") {
  LookupPorts ports(2, 0, 0, 128);
  CHECK(ports.earliest(5, 0x1000, 4) == 5);
  ports.take(5, 5, 0x1000, 4);
  CHECK(ports.open(5));
  CHECK(ports.earliest(5, 0x1000, 4) == 5);
  ports.take(5, 5, 0x1000, 4);
  CHECK_FALSE(ports.open(5));
  CHECK(ports.earliest(5, 0x2000, 1) == LookupPorts::never);
  CHECK(ports.open(6));
  CHECK(ports.earliest(6, 0x2000, 1) == 6);
}

TEST_CASE("a bank looks up one line in a cycle, and neighbouring lines are in different banks") {
  LookupPorts ports(4, 0, 4, 128);
  std::set<unsigned> banks;
  for (unsigned line = 0; line < 4; ++line) {
    banks.insert(ports.bank(0x8000 + line * 128));
    CHECK(ports.bank(0x8000 + line * 128 + 127) == ports.bank(0x8000 + line * 128));
  }
  CHECK(banks.size() == 4);
  ports.take(0, 0, 0x8000, 4);
  CHECK(ports.earliest(0, 0x8080, 4) == 0);
  CHECK(ports.earliest(0, 0x8000, 4) == 1);  // a cycle in advance
  ports.take(0, 1, 0x8000, 4);
  CHECK(ports.open(0));  // two of four have been sent
  CHECK(ports.earliest(0, 0x8080, 4) == 1);
  CHECK(ports.earliest(0, 0x8000, 4) == LookupPorts::never);  // but not two
  CHECK(ports.open(2));
}

TEST_CASE("sectors bound what several requests move in a cycle") {
  LookupPorts ports(4, 7, 0, 128);
  ports.take(0, 0, 0x0, 4);
  CHECK(ports.earliest(0, 0x80, 3) == 0);
  CHECK(ports.earliest(0, 0x80, 4) == 1);
  ports.take(0, 0, 0x80, 3);
  CHECK(ports.earliest(0, 0x100, 1) == 1);
}

TEST_CASE("an initiator may send as many requests in a cycle as there are tags, whenever they are looked up") {
  LookupPorts ports(2, 4, 0, 128);
  ports.take(0, 0, 0x0, 4);
  CHECK(ports.open(0));
  ports.take(0, 1, 0x80, 4);
  CHECK_FALSE(ports.open(0));
  CHECK(ports.open(1));
  CHECK(ports.earliest(1, 0x100, 4) == 2);
}

TEST_CASE("no stride of up to a thousand lines stays in few banks") {
  LookupPorts ports(4, 0, 4, 128);
  for (std::uint64_t stride = 1; stride <= 1000; ++stride) {
    unsigned in_bank[4] = {};
    for (std::uint64_t i = 0; i < 4096; ++i) ++in_bank[ports.bank(i * stride * 128)];
    for (const unsigned n : in_bank)
      if (n < 512) FAIL("stride " << stride << ": " << n << " of 4096, an even share is 1024");
  }
}

// Against the rule itself, in order of the requests, each at the earliest place that keeps all bounds.
TEST_CASE("random requests never break a bound, and none waits without reason") {
  std::mt19937 random(7);
  for (unsigned run = 0; run < 20; ++run) {
    const unsigned tags = 1 + random() % 4, sectors = random() % 2 != 0 ? 4 + random() % 5 : 0;
    const unsigned banks = random() % 2 != 0 ? 1u << random() % 4 : 0;
    LookupPorts ports(tags, sectors, banks, 128);
    struct Cycle {
      unsigned requests = 0, moved = 0;
      std::set<unsigned> banks;
    };
    std::vector<Cycle> cycles(2000);
    const auto fits = [&](const Cycle& c, std::uint64_t address, unsigned n) {
      return c.requests < tags && (sectors == 0 || c.moved + n <= sectors) &&
             (banks <= 1 || c.banks.count(ports.bank(address)) == 0);
    };
    std::uint64_t now = 0, last = 0;
    for (unsigned i = 0; i < 500; ++i) {
      const std::uint64_t address = (random() % 64) * 128;
      const unsigned n = 1 + random() % 4;
      now += random() % 2;
      std::uint64_t at = 0;
      while ((at = ports.earliest(now, address, n)) == LookupPorts::never) {
        REQUIRE_FALSE(fits(cycles[std::max(now, last)], address, n));
        ++now;
      }
      REQUIRE(at <= now + 1);
      REQUIRE(at >= last);
      if (at > now && at > last) REQUIRE_FALSE(fits(cycles[now], address, n));
      REQUIRE(fits(cycles[at], address, n));
      ports.take(now, at, address, n);
      ++cycles[at].requests;
      cycles[at].moved += n;
      cycles[at].banks.insert(ports.bank(address));
      last = at;
    }
  }
}

TEST_CASE("an L1 answers hits of a bank in turn, and those of different banks together") {
  auto l1 = caching();
  l1.tags = 4;
  l1.tag_banks = 4;
  Bench bench(fixed_dram(), l1);
  Driver& d = bench.driver();
  d.add(0, AccessClass::data_load, 0x1000);
  d.add(3000, AccessClass::data_load, 0x1000);
  d.add(3001, AccessClass::data_load, 0x1000);
  REQUIRE(bench.run() == "");
  // The driver sends one request in a cycle: a bank is never asked twice.
  CHECK(d.latency(1) == 35);
  CHECK(d.latency(2) == 35);
}
