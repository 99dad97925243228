// SPDX-License-Identifier: Apache-2.0
//
// The cycles of a port, against a set of those given away.
#include <regatta/test/catch.h>

#include <random>
#include <set>

#include "slot_port.h"

using regatta::models::SlotPort;

TEST_CASE("slot port: the first free cycle, whatever came before") {
  SlotPort port;
  std::set<std::uint64_t> given;
  std::mt19937 random(3);
  std::uint64_t now = 0;
  for (unsigned step = 0; step < 100000; ++step) {
    now += random() % 3 == 0 ? random() % (random() % 20 == 0 ? 100 : 3) : 0;
    const std::uint64_t at = now + random() % 4;
    if (random() % 3 != 0) continue;
    std::uint64_t expected = at;
    while (given.count(expected) != 0) ++expected;
    if (expected > now + 60) continue;  // the far end is looked at below
    REQUIRE(port.backlog(now, at) == expected - at);
    REQUIRE(port.reserve(now, at) == expected);
    given.insert(expected);
    REQUIRE(port.used_before(now) == (now != 0 && given.count(now - 1) != 0));
  }
}

TEST_CASE("slot port: any number of cycles ahead, each given away once") {
  SlotPort port;
  for (std::uint64_t i = 0; i < 300; ++i) REQUIRE(port.reserve(5, 5) == 5 + i);
  // What lay beyond the window is still taken when its time comes.
  for (std::uint64_t now = 6; now < 400; ++now) {
    REQUIRE(port.used_before(now) == (now - 1 < 305));
    REQUIRE(port.backlog(now, now) == (now < 305 ? 305 - now : 0));
  }
  REQUIRE(port.reserve(400, 400) == 400);
}

TEST_CASE("slot port: a job of two ports takes a cycle in which both are free") {
  SlotPort a, b;
  REQUIRE(a.reserve(0, 2) == 2);
  REQUIRE(b.reserve(0, 3) == 3);
  REQUIRE(SlotPort::reserve(a, b, 0, 2) == 4);
  REQUIRE(a.reserve(0, 2) == 3);
  REQUIRE(b.reserve(0, 2) == 2);
  REQUIRE(SlotPort::reserve(a, b, 0, 0) == 0);
  for (unsigned i = 0; i < 200; ++i) SlotPort::reserve(a, b, 0, 0);
  REQUIRE(a.reserve(0, 0) == b.reserve(0, 0));
}
