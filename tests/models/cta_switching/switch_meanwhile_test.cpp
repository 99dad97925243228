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

TEST_CASE("switch engine alone: with launch_first, CTAs of the grid come before pending ones") {
  CtaSwitchingConfig config;
  config.launch_first = true;
  EngineBench b(false, config);
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
