// SPDX-License-Identifier: Apache-2.0
//
// The switch engine by itself: which CTAs it exchanges, in which order and when.
#include <algorithm>

#include "switch_bench.h"

using namespace regatta;
using namespace regatta::test::cta_blocks;
using Room = RegisterTransfer::Room;

namespace {

/// Runs the present cycle, which is `at`: the engine has asked for it.
bool wakes(const EngineBench& b, std::uint64_t at) {
  run_present();
  return std::find(b.watch->cycles.begin(), b.watch->cycles.end(), at) != b.watch->cycles.end();
}

/// FineReg's, with two CTAs launched and no free place any more.
struct FullFile : EngineBench {
  explicit FullFile(const CtaSwitchingConfig& config = pending_first()) : EngineBench(true, config) {
    places.free = 2;
    CHECK(act() == "launch 0, launch 1");
    places.free = 0;
  }
  /// CTA 0's registers leave for CTA 2, which is launched, and is active in cycle 40.
  void evict_first() {
    stall(0);
    CHECK(act().empty());
    run_for(1);
    CHECK(act() == "out 0");
    quiesce(0);
    CHECK(act().empty());
    transfer.end_move();
    places.free = 1;
    CHECK(act() == "moved 0");
    run_to(40);
    CHECK(act() == "launch 2");
    places.free = 0;
    transfer.moves.clear();
  }
};

}  // namespace

TEST_CASE("switch engine alone: without transfer engine, contexts are exchanged and registers stay") {
  EngineBench b(false);
  CHECK(b.act() == "launch 0, launch 1");
  b.stall(0);
  CHECK(b.act().empty());
  run_to(1);
  CHECK(wakes(b, 1));
  CHECK(b.act() == "out 0");
  CHECK(b.monitor.context(cta_at(0)) == models::ContextAt::shared_memory);
  CHECK(b.monitor.registers(cta_at(0)) == models::RegistersAt::active_file);
  run_to(20);
  CHECK(b.act().empty());
  run_to(21);
  CHECK(wakes(b, 21));
  CHECK(b.act() == "launch 2");
  // What it waited for comes: it is ready, and goes before a CTA of the grid.
  b.quiesce(0);
  b.stall(0, false);
  b.stall(1);
  run_to(30);
  CHECK(b.act().empty());
  run_to(31);
  CHECK(b.act() == "out 1");
  run_to(51);
  CHECK(b.act() == "in 0");
  CHECK(b.stat("switches") == 2);
  CHECK(b.stat("context_switches") == 2);
  CHECK(b.stat("switch_cycles") == 40);
  CHECK(b.stat("launches") == 3);
  CHECK(b.stat("full_stalls") == 2);
  CHECK(b.stat("cycles_to_full_stall") == 30);
  CHECK(b.stat("longest_wait") == 21);
  CHECK(b.stat("wait_cycles") == 21);
  CHECK(b.counter.asked.empty());
}

TEST_CASE("switch engine alone: one switch at a time, the CTA that has been stalled for longest first") {
  EngineBench b(false);
  b.act();
  run_to(3);
  b.stall(1);
  b.act();
  run_to(5);
  b.stall(0);
  CHECK(b.act() == "out 1");
  for (unsigned cycle = 6; cycle < 25; ++cycle) {
    run_to(cycle);
    CHECK(b.act().empty());
  }
  run_to(25);
  CHECK(b.act() == "launch 2, out 0");
  CHECK(b.engine.counters().active_peak == 2);
  CHECK(b.engine.counters().resident_peak == 3);
}

TEST_CASE("switch engine alone: a CTA has to be stalled for switching.stall_cycles on end") {
  CtaSwitchingConfig config = pending_first();
  config.stall_cycles = 10;
  config.latency = 0;
  EngineBench b(false, config);
  b.act();
  b.stall(0);
  b.act();
  run_to(9);
  CHECK(b.act().empty());
  b.stall(0, false);
  CHECK(b.act().empty());
  run_to(12);
  b.stall(0);
  CHECK(b.act().empty());
  run_to(21);
  CHECK(b.act().empty());
  run_to(22);
  CHECK(wakes(b, 22));
  // No latency: its successor comes in the same cycle.
  CHECK(b.act() == "out 0, launch 2");
}

TEST_CASE("switch engine alone: without a successor nothing is switched") {
  EngineBench b(false);
  b.waiting = 2;
  b.act();
  b.stall(0);
  b.stall(1);
  for (unsigned cycle = 0; cycle < 50; cycle += 5) {
    run_to(cycle);
    CHECK(b.act().empty());
  }
  CHECK(b.stat("switches") == 0);
  CHECK(b.stat("depleted_cycles") == 0);
}

TEST_CASE("switch engine alone: registers leave when the CTA is quiesced, and a CTA of the grid takes the place") {
  FullFile b;
  b.stall(0);
  b.act();
  run_to(1);
  CHECK(b.act() == "out 0");
  run_to(4);
  CHECK(b.act().empty());
  CHECK(b.transfer.moves.empty());
  b.quiesce(0);
  CHECK(b.act().empty());
  CHECK(b.transfer.moves == std::vector<std::string>{"out 0"});
  run_to(30);
  CHECK(b.act().empty());  // longer than the latency
  b.transfer.end_move();
  CHECK(wakes(b, 30));
  b.places.free = 1;
  CHECK(b.act() == "moved 0, launch 2");
  CHECK(b.monitor.registers(cta_at(0)) == models::RegistersAt::pending_file);
  CHECK(b.stat("evictions") == 1);
  CHECK(b.stat("switch_cycles") == 29);
}

TEST_CASE("switch engine alone: registers of two CTAs are exchanged") {
  FullFile b;
  b.evict_first();
  b.stall(0, false);  // its load came while it was away
  b.stall(1);
  b.act();
  run_to(41);
  CHECK(b.act() == "out 1");
  b.quiesce(1);
  CHECK(b.act().empty());
  CHECK(b.transfer.moves == std::vector<std::string>{"out 1 in 0"});
  run_to(70);
  b.transfer.end_move();
  CHECK(b.act() == "moved 1, in 0");
  CHECK(b.stat("exchanges") == 1);
  CHECK(b.stat("longest_wait") == 30);
  CHECK(b.stat("wait_cycles") == 30);
}

TEST_CASE("switch engine alone: a pending CTA whose registers are in the file goes first, then one into a free place") {
  FullFile b;
  b.evict_first();
  b.stall(0, false);
  // CTA 1 makes way for nothing but its context: place and successor are there.
  b.places.free = 1;
  b.stall(1);
  b.act();
  run_to(41);
  CHECK(b.act() == "out 1");
  CHECK(b.transfer.moves == std::vector<std::string>{"in 0"});  // at once: nothing has to be quiesced
  b.places.free = 0;
  run_to(50);
  b.transfer.end_move();
  CHECK(b.act().empty());
  run_to(61);
  CHECK(b.act() == "in 0");
  CHECK(b.stat("restores") == 1);
  // Now CTA 1 is ready in the file: contexts are exchanged, though CTA 0 would be ready too.
  b.quiesce(1);
  b.stall(1, false);
  b.stall(2);
  b.act();
  run_to(62);
  CHECK(b.act() == "out 2");
  run_to(82);
  CHECK(b.act() == "in 1");
  CHECK(b.transfer.moves.size() == 1);
  CHECK(b.stat("context_switches") == 1);
}

TEST_CASE(
    "switch engine alone: a CTA whose registers find no room stays active, and another that is stalled is tried") {
  FullFile b;
  b.transfer.rooms = {{0, Room::no}, {1, Room::no}};
  b.stall(0);
  b.act();
  run_to(10);
  CHECK(b.act().empty());
  run_to(40);
  b.stall(1);
  CHECK(b.act().empty());
  run_to(41);
  CHECK(b.act().empty());
  run_to(50);
  b.transfer.rooms[1] = Room::yes;
  CHECK(b.act() == "out 1");
  CHECK(b.stat("depleted_cycles") == 40);
  CHECK(b.stat("switches") == 1);
}

TEST_CASE("switch engine alone: registers are counted first, and a busy counter is asked again") {
  FullFile b;
  b.transfer.rooms = {{0, Room::not_counted}};
  b.counter.reply = LookupReply::busy;
  b.stall(0);
  b.act();
  run_to(1);
  CHECK(wakes(b, 1));
  CHECK(b.act().empty());
  CHECK(b.counter.asked.empty());
  run_to(2);
  CHECK(wakes(b, 2));
  b.counter.reply = LookupReply::later;
  CHECK(b.act().empty());
  CHECK(b.counter.asked == std::vector<unsigned>{0});
  run_to(3);
  CHECK(b.act().empty());
  CHECK(b.counter.asked.size() == 1);  // the request is under way
  run_to(9);
  b.transfer.rooms[0] = Room::yes;
  b.counter.answer();
  run_to(10);
  CHECK(wakes(b, 10));
  CHECK(b.act() == "out 0");
  CHECK(
      error_of([&] { b.counter.answer(); }) ==
      "engine in cycle 10: was given an answer with tag 0, which none of its open requests has; expected one answer to "
      "each accepted request, in a later cycle");
}

TEST_CASE("switch engine alone: an answer at once needs no second look") {
  FullFile b;
  b.transfer.rooms = {{0, Room::not_counted}};
  b.counter.reply = LookupReply::answered;
  b.stall(0);
  b.act();
  run_to(1);
  CHECK(b.act().empty());  // this stand-in does not say yes by itself
  CHECK(b.counter.asked == std::vector<unsigned>{0});
}

TEST_CASE("switch engine alone: a CTA that ends while it drains leaves its place to the one that comes") {
  FullFile b;
  b.evict_first();
  b.stall(0, false);
  b.stall(1);
  b.act();
  run_to(41);
  CHECK(b.act() == "out 1");
  run_to(45);
  b.end(1);
  b.places.free = 1;
  CHECK(b.act().empty());
  CHECK(b.transfer.moves == std::vector<std::string>{"in 0"});
  run_to(70);
  b.transfer.end_move();
  CHECK(b.act() == "in 0");
  CHECK(b.monitor.context(cta_at(1)) == models::ContextAt::nowhere);
}

TEST_CASE("switch engine alone: a CTA that ends while its registers leave is not said to have moved") {
  FullFile b;
  b.stall(0);
  b.act();
  run_to(1);
  CHECK(b.act() == "out 0");
  b.quiesce(0);
  b.act();
  run_to(5);
  b.end(0);
  b.transfer.end_move();
  b.places.free = 1;
  CHECK(b.act().empty());
  run_to(21);
  CHECK(b.act() == "launch 0");
}

TEST_CASE("switch engine alone: the successor of a CTA that ends is a pending one, then one of the grid") {
  FullFile b;
  b.evict_first();
  b.stall(0, false);
  b.end(1);
  // Its place is free: the pending CTA comes before one of the grid.
  b.places.free = 1;
  CHECK(b.act().empty());
  CHECK(b.transfer.moves == std::vector<std::string>{"in 0"});
  b.places.free = 0;
  run_to(44);
  b.transfer.end_move();
  CHECK(b.act() == "in 0");  // no context leaves, so no latency
  // CTA 0 and 2 are active. One ends; no CTA is pending: the grid's next.
  b.end(2);
  b.places.free = 1;
  CHECK(b.act() == "launch 1");
}

TEST_CASE("switch engine alone: when no place is free, one that waits in the file leaves it") {
  FullFile b;
  b.evict_first();
  // CTA 1 is switched out for CTA 0, which has a free place; then CTA 2 ends, and CTA 1 still waits.
  b.stall(0, false);
  b.stall(1);
  b.places.free = 1;
  b.act();
  run_to(41);
  CHECK(b.act() == "out 1");
  b.transfer.end_move();
  b.places.free = 0;
  run_to(61);
  CHECK(b.act() == "in 0");
  b.transfer.moves.clear();
  run_to(70);
  b.end(2);
  CHECK(b.act().empty());
  CHECK(b.transfer.moves.empty());  // not quiesced
  b.quiesce(1);
  run_to(71);
  CHECK(b.act().empty());
  CHECK(b.transfer.moves == std::vector<std::string>{"out 1"});
  run_to(80);
  b.transfer.end_move();
  b.places.free = 1;
  run_to(90);
  CHECK(b.act() == "moved 1, launch 2");
}

TEST_CASE("switch engine alone: the bytes of a context are those of the SIMT stacks of warps that are left") {
  CtaSwitchingConfig config = pending_first();
  config.entry_bytes = 10;
  EngineBench b(false, config);
  b.act();
  b.control.resume[0] = {5, 9, 30};
  b.control.resume[1] = {};  // it has exited, and waits for a load
  b.stall(0);
  b.act();
  run_to(1);
  Residency::View view;
  view.ctas = &b.ctas;
  view.ctas_waiting = b.waiting;
  view.active_ctas = 2;
  Residency::Action a = b.engine.next(view);
  CHECK(a.kind == Kind::switch_out);
  CHECK(a.context_bytes == 40);
}
