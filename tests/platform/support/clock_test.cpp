// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/clock.h>
#include <regatta/test/catch.h>

#include "thrown.h"

using namespace sc_core;
using regatta::support::ClockDomain;

TEST_CASE("cycles and time") {
  const ClockDomain clock(sc_time(800, SC_PS));
  CHECK(clock.period() == sc_time(800, SC_PS));
  CHECK(clock.time(5) == sc_time(4, SC_NS));
  CHECK(clock.cycles(sc_time(4, SC_NS)) == 5);
  CHECK(clock.cycles(sc_time(3999, SC_PS)) == 4);
  CHECK(clock.cycles_up(sc_time(3999, SC_PS)) == 5);
  CHECK(clock.cycles_up(sc_time(4, SC_NS)) == 5);
  CHECK(clock.cycles(SC_ZERO_TIME) == 0);
  CHECK(clock.on_edge(sc_time(1600, SC_PS)));
  CHECK_FALSE(clock.on_edge(sc_time(1601, SC_PS)));
  CHECK(clock.edge_at_or_after(sc_time(1601, SC_PS)) == sc_time(2400, SC_PS));
  CHECK(clock.until_edge(sc_time(1601, SC_PS)) == sc_time(799, SC_PS));
  CHECK(clock.until_edge(sc_time(1600, SC_PS)) == SC_ZERO_TIME);
}

TEST_CASE("no drift over a long run") {
  const ClockDomain clock = ClockDomain::from_mhz(1216);
  CHECK(clock.period() == sc_time(822, SC_PS));
  for (const std::uint64_t cycles : {std::uint64_t{1}, std::uint64_t{1000003}, std::uint64_t{10000000000000}}) {
    CHECK(clock.cycles(clock.time(cycles)) == cycles);
  }
  CHECK(clock.mhz() > 1216.0);
  CHECK(clock.mhz() < 1217.0);
}

TEST_CASE("impossible clocks are refused") {
  CHECK(thrown([] { ClockDomain clock(SC_ZERO_TIME); }) == "clock period: expected more than 0 s, found 0 s");
  CHECK(thrown([] { ClockDomain::from_mhz(0); }).find("found 0 MHz") != std::string::npos);
  CHECK(thrown([] { ClockDomain::from_mhz(-1); }).find("found -1 MHz") != std::string::npos);
  CHECK(thrown([] { ClockDomain::from_mhz(1e9); }).find("clock frequency: expected more than 0 and up to") == 0);
}
