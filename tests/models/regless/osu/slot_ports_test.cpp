// SPDX-License-Identifier: Apache-2.0
//
// The cycles of two ports, against sets of those given away.
#include <regatta/regless/slot_ports.h>
#include <regatta/test/catch.h>

#include <random>
#include <set>

using regatta::models::SlotPorts;

TEST_CASE("slot ports: the first free cycle, whatever came before") {
  SlotPorts ports;
  std::set<std::uint64_t> given[2];
  std::mt19937 random(3);
  std::uint64_t now = 1;
  for (unsigned step = 0; step < 100000; ++step) {
    now += random() % 3 == 0 ? random() % (random() % 20 == 0 ? 100 : 3) : 0;
    const std::uint64_t at = now + random() % 4;
    const unsigned kind = random() % 5;
    if (kind < 2) {
      const auto port = static_cast<SlotPorts::Port>(kind);
      std::uint64_t expected = at;
      while (given[port].count(expected) != 0) ++expected;
      if (expected > now + 60) continue;  // the far end is looked at below
      REQUIRE(ports.backlog(port, now, at) == expected - at);
      REQUIRE(ports.reserve(port, now, at) == expected);
      given[port].insert(expected);
    } else if (kind == 2) {
      std::uint64_t expected = at;
      while (given[0].count(expected) + given[1].count(expected) != 0) ++expected;
      if (expected > now + 60) continue;
      REQUIRE(ports.reserve_both(now, at) == expected);
      for (auto& g : given) g.insert(expected);
    }
    for (const SlotPorts::Port port : {SlotPorts::tag, SlotPorts::data}) {
      REQUIRE(ports.used_before(port, now) == (given[port].count(now - 1) != 0));
    }
  }
}

TEST_CASE("slot ports: any number of cycles ahead, each given away once") {
  const auto port = GENERATE(SlotPorts::tag, SlotPorts::data);
  SlotPorts ports;
  for (std::uint64_t i = 0; i < 300; ++i) REQUIRE(ports.reserve(port, 5, 5) == 5 + i);
  // What lay beyond the window is still taken when its time comes.
  for (std::uint64_t now = 6; now < 400; ++now) {
    REQUIRE(ports.used_before(port, now) == (now - 1 < 305));
    REQUIRE(ports.backlog(port, now, now) == (now < 305 ? 305 - now : 0));
    REQUIRE(!ports.used_before(port == SlotPorts::tag ? SlotPorts::data : SlotPorts::tag, now));
  }
  REQUIRE(ports.reserve(port, 400, 400) == 400);
}

TEST_CASE("slot ports: a job of both takes a cycle in which both are free") {
  SlotPorts ports;
  REQUIRE(ports.reserve(SlotPorts::tag, 0, 2) == 2);
  REQUIRE(ports.reserve(SlotPorts::data, 0, 3) == 3);
  REQUIRE(ports.reserve_both(0, 2) == 4);
  REQUIRE(ports.reserve(SlotPorts::tag, 0, 2) == 3);
  REQUIRE(ports.reserve(SlotPorts::data, 0, 2) == 2);
  REQUIRE(ports.reserve_both(0, 0) == 0);
  for (unsigned i = 0; i < 200; ++i) ports.reserve_both(0, 0);
  REQUIRE(ports.reserve(SlotPorts::tag, 0, 0) == ports.reserve(SlotPorts::data, 0, 0));
}
