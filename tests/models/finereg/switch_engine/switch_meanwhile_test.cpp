// SPDX-License-Identifier: Apache-2.0
//
// What happens to other CTAs while a switch is under way, and what keeps a CTA from leaving.
#include "switch_bench.h"

using namespace regatta;
using namespace regatta::test::cta_blocks;

TEST_CASE("switch engine alone: a CTA that ends during a switch has a successor at once") {
  EngineBench b(false);
  b.act();
  b.stall(0);
  b.act();
  run_to(1);
  CHECK(b.act() == "out 0");
  run_to(5);
  b.end(1);
  CHECK(b.act() == "launch 1");
  CHECK(b.act().empty());  // the place of the switch is not given away
  run_to(21);
  CHECK(b.act() == "launch 2");
}

TEST_CASE("switch engine alone: during a switch, a ready CTA in the file comes before one of the grid") {
  EngineBench b(false);
  b.act();
  b.stall(0);
  b.act();
  run_to(1);
  b.act();
  run_to(21);
  CHECK(b.act() == "launch 2");
  b.quiesce(0);
  b.stall(1);
  b.act();
  run_to(22);
  CHECK(b.act() == "out 1");
  b.stall(0, false);
  b.end(2);
  CHECK(b.act() == "in 0");
  run_to(42);
  CHECK(b.act() == "launch 2");
}

TEST_CASE("switch engine alone: during a switch, a place that it needs is not given away") {
  EngineBench b(true);
  b.places.free = 2;
  CHECK(b.act() == "launch 0, launch 1");
  b.places.free = 1;
  b.stall(0);
  b.act();
  run_to(1);
  CHECK(b.act() == "out 0");  // registers stay: its successor takes the free place
  b.end(1);
  b.places.free = 1;
  CHECK(b.act().empty());
  b.places.free = 2;
  CHECK(b.act() == "launch 1");
  b.places.free = 1;
  run_to(21);
  CHECK(b.act() == "launch 2");
}

TEST_CASE("switch engine alone: the CTA that has made room does not take it back") {
  EngineBench b(false);
  b.act();
  b.stall(0);
  b.act();
  run_to(1);
  CHECK(b.act() == "out 0");
  b.quiesce(0);
  b.stall(0, false);
  run_to(21);
  CHECK(b.act() == "launch 2");
}

TEST_CASE("switch engine alone: another CTA in the slot of one that ended during the switch is left alone") {
  EngineBench b(true);
  b.places.free = 2;
  b.act();
  b.places.free = 0;
  b.stall(0);
  b.act();
  run_to(1);
  CHECK(b.act() == "out 0");
  run_to(3);
  b.end(0);
  b.end(1);
  b.places.free = 2;
  CHECK(b.act() == "launch 0");
  b.places.free = 1;
  run_to(21);
  CHECK(b.act() == "launch 1");
  CHECK(b.transfer.moves.empty());
  CHECK(b.at(0).active);
}

TEST_CASE("switch engine alone: CTAs of the grid take the place of stalled ones before pending ones do") {
  EngineBench b(false, CtaSwitchingConfig());
  b.waiting = 3;
  b.act();
  b.stall(0);
  b.act();
  run_to(1);
  CHECK(b.act() == "out 0");
  b.quiesce(0);
  b.stall(0, false);
  run_to(21);
  CHECK(b.act() == "launch 2");
  b.stall(1);
  b.act();
  run_to(22);
  CHECK(b.act() == "out 1");
  run_to(42);
  CHECK(b.act() == "in 0");  // the grid is empty
}

TEST_CASE("switch engine alone: when the registers of a stalled CTA find no room, it is exchanged for a pending one") {
  using Room = RegisterTransfer::Room;
  EngineBench b(true, CtaSwitchingConfig());
  // CTA 0's registers leave for CTA 2.
  b.places.free = 2;
  CHECK(b.act() == "launch 0, launch 1");
  b.places.free = 0;
  b.stall(0);
  b.act();
  run_to(1);
  CHECK(b.act() == "out 0");
  b.quiesce(0);
  b.act();
  b.transfer.end_move();
  b.places.free = 1;
  CHECK(b.act() == "moved 0");
  run_to(21);
  CHECK(b.act() == "launch 2");
  b.places.free = 0;
  b.transfer.moves.clear();
  // CTA 0 is ready, and CTA 1 stalls. There is no room to launch another one, but for an exchange there is.
  b.stall(0, false);
  b.stall(1);
  b.transfer.alone = Room::no;
  b.act();
  run_to(22);
  CHECK(b.act() == "out 1");
  CHECK(b.stat("depleted_cycles") == 0);
  b.quiesce(1);
  CHECK(b.act().empty());
  CHECK(b.transfer.moves == std::vector<std::string>{"out 1 in 0"});
}

TEST_CASE("switch engine alone: a pending CTA takes the place of one that ends before the grid does") {
  EngineBench b(false, CtaSwitchingConfig());
  b.act();
  b.stall(0);
  b.act();
  run_to(1);
  CHECK(b.act() == "out 0");
  b.quiesce(0);
  run_to(21);
  CHECK(b.act() == "launch 2");
  b.stall(0, false);
  b.end(2);
  CHECK(b.act() == "in 0");
}

TEST_CASE("switch engine alone: a CTA that holds what others wait for stays, and the next is tried") {
  EngineBench b(false);
  b.veto.holds = {{0, true}};
  b.act();
  b.stall(0);
  b.act();
  run_to(10);
  CHECK(b.act().empty());
  b.stall(1);
  CHECK(b.act().empty());
  run_to(11);
  CHECK(b.act() == "out 1");
  run_to(31);
  CHECK(b.act() == "launch 2");
  b.veto.holds.clear();
  CHECK(b.act() == "out 0");
}
