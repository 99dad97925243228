// SPDX-License-Identifier: Apache-2.0
//
// Registers that go to memory and come back: what is sent when, and where results of loads go meanwhile.
#include "spill_bench.h"

using namespace regatta;
using namespace regatta::test::cta_blocks;
using protocol::AccessClass;

TEST_CASE("register spill alone: all registers of a CTA are written past the L1, and its place is free") {
  SpillBench b(2);
  b.memory.completes = true;
  b.start(0);
  b.fill(0, 100);
  b.switch_out(0);
  CHECK(b.windows.free_places() == 1);
  b.move(0, std::nullopt);
  CHECK(b.spill.moving());
  const std::uint64_t cycles = b.finish();
  CHECK(cycles >= 16);
  REQUIRE(b.memory.seen.size() == 16);
  for (unsigned i = 0; i < 16; ++i) {
    CAPTURE(i);
    CHECK(b.memory.seen[i].access == AccessClass::register_write);
    CHECK(b.memory.seen[i].bypass);
    CHECK(b.memory.seen[i].address == SpillBench::address(i / 8, i % 8));
    CHECK(b.line(i / 8, i % 8) == SpillBench::pattern(100 + i));
  }
  CHECK(b.windows.free_places() == 2);
  CHECK_FALSE(b.windows.has_place(cta_at(0)));
  CHECK(b.ended.cycles.size() == 1);
  CHECK(b.stat("lines_written") == 16);
  CHECK(b.stat("lines_read") == 0);
  CHECK(b.stat("moves") == 1);
  CHECK(b.stat("move_cycles") == double(cycles - 1));  // it ends in the cycle before
}

TEST_CASE("register spill alone: a CTA comes back with all its registers, and its lines are not kept") {
  SpillBench b(1);
  b.memory.longest = 40;
  b.file.held = 30;
  b.start(0);
  b.fill(0, 5);
  b.switch_out(0);
  b.move(0, std::nullopt);
  b.finish();
  b.start(1);  // what has the place meanwhile
  b.fill(1, 900);
  b.end(1);
  b.memory.seen.clear();
  b.move(std::nullopt, 0);
  b.finish();
  b.check_filled(0, 5);
  REQUIRE(b.memory.seen.size() == 16);
  for (const auto& request : b.memory.seen) {
    CHECK(request.access == AccessClass::register_read);
    CHECK(request.last);
    CHECK(request.bypass);
  }
  CHECK(b.memory.lines.empty());
  CHECK(b.memory.fault.empty());
  CHECK(b.stat("lines_read") == 16);
  CHECK(b.result(0, 3, SpillBench::pattern(1)) == Decision::write);
}

TEST_CASE("register spill alone: in an exchange the place is used when its last register is in memory") {
  SpillBench b(1);
  b.memory.longest = 30;
  b.start(0);
  b.fill(0, 10);
  b.switch_out(0);
  b.move(0, std::nullopt);
  b.finish();
  b.start(1);
  b.fill(1, 50);
  b.switch_out(1);
  b.memory.seen.clear();
  b.move(1, 0);
  b.finish();
  b.check_filled(0, 10);
  REQUIRE(b.memory.seen.size() == 32);
  for (unsigned i = 0; i < 32; ++i) {
    CHECK(b.memory.seen[i].access == (i < 16 ? AccessClass::register_write : AccessClass::register_read));
  }
  CHECK(b.windows.has_place(cta_at(0)));
  CHECK_FALSE(b.windows.has_place(cta_at(1)));
  // And back.
  b.switch_in(0);
  b.switch_out(0);
  b.move(0, 1);
  b.finish();
  b.check_filled(1, 50);
  CHECK(b.memory.fault.empty());
}

TEST_CASE("register spill alone: lines of another SM are elsewhere") {
  SpillBench b(1, 2, 8, {}, 1, 3);
  b.start(0);
  b.switch_out(0);
  b.move(0, std::nullopt);
  b.finish();
  CHECK(b.memory.seen.front().address == SpillBench::address(0, 0, 3));
}

TEST_CASE("register spill alone: no more lines are under way than the knob says") {
  RegisterSpillConfig config;
  config.requests = 1;
  SpillBench b(1, 2, 8, config);
  b.memory.shortest = b.memory.longest = 50;
  b.start(0);
  b.fill(0, 5);
  b.switch_out(0);
  b.move(0, std::nullopt);
  b.finish();
  b.memory.seen.clear();
  b.move(std::nullopt, 0);
  const std::uint64_t cycles = b.finish();
  b.check_filled(0, 5);
  // One after the other: 16 lines of 50 cycles.
  CHECK(cycles >= 16 * 50);
  CHECK(cycles < 16 * 60);
  for (std::size_t i = 1; i < 16; ++i) CHECK(b.memory.seen[i].cycle >= b.memory.seen[i - 1].cycle + 50);
}

TEST_CASE("register spill alone: room is for as many CTAs as the knob says") {
  RegisterSpillConfig config;
  config.ctas = 1;
  SpillBench b(2, 2, 8, config);
  protocol::SmLimits limits;
  CHECK(b.user.transfer->most_away(b.launch.context, limits) == 1);
  b.start(0);
  b.start(1);
  b.switch_out(0);
  CHECK(b.has_room(0));
  b.move(0, std::nullopt);
  b.finish();
  b.switch_out(1);
  CHECK_FALSE(b.has_room(1));
  CHECK(b.has_room(1, 0));  // in exchange
  b.move(1, 0);
  b.finish();
  CHECK_FALSE(b.has_room(0));
  b.move(std::nullopt, 1);
  b.finish();
  CHECK(b.has_room(0));
}

TEST_CASE("register spill alone: the result of a load goes where its register is") {
  SpillBench b(1);
  b.memory.completes = true;
  b.memory.shortest = b.memory.longest = 40;
  b.start(0);
  b.fill(0, 10);
  CHECK(b.result(0, 0, SpillBench::pattern(70)) == Decision::write);  // active
  b.switch_out(0);
  CHECK(b.result(0, 1, SpillBench::pattern(71)) == Decision::write);  // pending, in the file
  b.move(0, std::nullopt);
  run_for(4);
  // Some have left, some have not.
  REQUIRE(b.stat("lines_written") > 0);
  REQUIRE(b.stat("lines_written") < 12);
  CHECK(b.result(1, 7, SpillBench::pattern(72)) == Decision::write);  // goes there with the register
  CHECK(b.result(0, 0, SpillBench::pattern(73), 0x0000ffff) == Decision::drop);
  b.finish();
  run_for(200);
  Row merged = SpillBench::pattern(70);
  SpillBench::merge(merged, SpillBench::pattern(73), 0x0000ffff);
  CHECK(b.line(0, 0) == merged);
  CHECK(b.line(0, 1) == SpillBench::pattern(71));
  CHECK(b.line(1, 7) == SpillBench::pattern(72));
  CHECK(b.stat("merged_results") == 1);
  CHECK(b.result(0, 2, SpillBench::pattern(74), 0x1) == Decision::drop);  // away
  run_for(200);
  Row lane = SpillBench::pattern(12);
  lane[0] = SpillBench::pattern(74)[0];
  CHECK(b.line(0, 2) == lane);
  CHECK(b.stat("merged_results") == 2);
  // On its way back: some are there.
  b.move(std::nullopt, 0);
  while (b.stat("lines_read") < 3) run_for(1);
  CHECK(b.result(0, 0, SpillBench::pattern(75), 0xff) == Decision::write);
  CHECK(b.result(1, 7, SpillBench::pattern(76), 0xff00) == Decision::drop);  // waits for its register
  b.finish();
  CHECK(b.stat("held_results") == 1);
  SpillBench::merge(merged, SpillBench::pattern(75), 0xff);
  CHECK(b.file.row(0, 0) == merged);
  Row held = SpillBench::pattern(72);
  SpillBench::merge(held, SpillBench::pattern(76), 0xff00);
  CHECK(b.file.row(1, 7) == held);
  CHECK(b.file.row(0, 2) == lane);
  CHECK(b.memory.fault.empty());
}

TEST_CASE("register spill alone: a CTA comes back after the results that are merged into its lines") {
  SpillBench b(1);
  b.memory.shortest = b.memory.longest = 100;
  b.start(0);
  b.fill(0, 10);
  b.switch_out(0);
  b.move(0, std::nullopt);
  b.finish();
  const std::size_t sent = b.memory.seen.size();
  CHECK(b.result(1, 3, SpillBench::pattern(99)) == Decision::drop);
  b.move(std::nullopt, 0);
  b.finish();
  CHECK(b.file.row(1, 3) == SpillBench::pattern(99));
  // The line is read and written before any is read back.
  CHECK(b.memory.seen[sent].address == SpillBench::address(1, 3));
  CHECK(b.memory.seen[sent + 1].access == AccessClass::register_write);
  CHECK(b.memory.seen[sent + 1].address == SpillBench::address(1, 3));
}

TEST_CASE("register spill alone: results beyond those that are kept wait, and are told of room") {
  RegisterSpillConfig config;
  config.results = 2;
  SpillBench b(1, 2, 8, config);
  b.memory.shortest = b.memory.longest = 60;
  b.start(0);
  b.fill(0, 10);
  b.switch_out(0);
  b.move(0, std::nullopt);
  b.finish();
  CHECK(b.result(0, 1, SpillBench::pattern(81)) == Decision::drop);
  CHECK(b.result(0, 2, SpillBench::pattern(82)) == Decision::drop);
  CHECK(b.result(0, 3, SpillBench::pattern(83)) == Decision::wait);
  CHECK(b.stat("waiting_results") == 1);
  const std::size_t before = b.changed.cycles.size();
  unsigned retries = 0;
  while (b.result(0, 3, SpillBench::pattern(83)) == Decision::wait) {
    REQUIRE(++retries < 500);
    run_for(1);
  }
  CHECK(b.changed.cycles.size() > before);
  run_for(300);
  for (unsigned r = 1; r < 4; ++r) CHECK(b.line(0, r) == SpillBench::pattern(80 + r));
}

TEST_CASE("register spill alone: a result that waits at a bank of the file goes first") {
  SpillBench b(1);
  b.start(0);
  b.fill(0, 10);
  b.switch_out(0);
  protocol::WarpAccess waiting;
  waiting.warp = warp_at(1);
  b.held = &waiting;
  b.move(0, std::nullopt);
  run_for(50);
  CHECK(b.stat("lines_written") == 0);
  b.held = nullptr;
  b.finish();
  CHECK(b.stat("lines_written") == 16);
}

TEST_CASE("register spill alone: warps that have exited are not moved, and their results are dropped") {
  SpillBench b(1);
  b.start(0);
  b.fill(0, 10);
  b.control.exited[0] = true;
  b.switch_out(0);
  b.move(0, std::nullopt);
  run_for(3);
  CHECK(b.result(0, 7, SpillBench::pattern(1)) == Decision::drop);
  b.finish();
  CHECK(b.stat("lines_written") == 8);
  CHECK(b.result(0, 7, SpillBench::pattern(1)) == Decision::drop);
  CHECK(b.stat("merged_results") == 0);
  b.end_warp(0);
  b.move(std::nullopt, 0);
  b.finish();
  CHECK(b.stat("lines_read") == 8);
  for (unsigned r = 0; r < 8; ++r) CHECK(b.file.row(1, r) == SpillBench::pattern(18 + r));
  CHECK(b.memory.fault.empty());
}

TEST_CASE("register spill alone: a CTA that ends while it is away leaves room") {
  RegisterSpillConfig config;
  config.ctas = 1;
  SpillBench b(2, 2, 8, config);
  b.start(0);
  b.start(1);
  b.control.exited[0] = b.control.exited[1] = true;
  b.switch_out(0);
  b.move(0, std::nullopt);
  b.finish();
  CHECK(b.stat("lines_written") == 0);
  b.switch_out(1);
  CHECK_FALSE(b.has_room(1));
  b.end(0);
  CHECK(b.has_room(1));
  run_for(2);
  CHECK(b.ended.cycles.size() == 2);
  // Its slot is another CTA's, which has no line.
  b.start(0);
  b.fill(0, 40);
  b.switch_out(0);
  b.move(0, std::nullopt);
  b.finish();
  CHECK(b.stat("lines_written") == 16);
  b.move(std::nullopt, 0);
  b.finish();
  b.check_filled(0, 40);
}

TEST_CASE("register spill alone: a CTA that ends before it has come back ends the move") {
  SpillBench b(1);
  b.memory.shortest = b.memory.longest = 30;
  b.start(0);
  b.control.exited[0] = b.control.exited[1] = true;
  b.switch_out(0);
  b.move(0, std::nullopt);
  b.finish();
  b.start(1);
  b.fill(1, 60);
  b.switch_out(1);
  b.move(1, 0);
  run_for(8);
  REQUIRE(b.spill.moving());
  b.end(0);
  b.finish();
  CHECK(b.stat("lines_written") == 16);
  CHECK(b.stat("lines_read") == 0);
  CHECK(b.windows.free_places() == 1);
  b.move(std::nullopt, 1);
  b.finish();
  b.check_filled(1, 60);
}

TEST_CASE("register spill alone: a CTA that ends while it leaves ends the move") {
  SpillBench b(2);
  b.start(0);
  b.control.exited[0] = true;
  b.control.exited[1] = true;
  b.switch_out(0);
  protocol::WarpAccess waiting;
  waiting.warp = warp_at(0);
  b.held = &waiting;
  b.move(0, std::nullopt);
  b.end(0);
  b.held = nullptr;
  b.finish();
  CHECK(b.windows.free_places() == 2);
  CHECK(b.has_room(0));
  b.start(0);
  CHECK(b.result(0, 1, SpillBench::pattern(1)) == Decision::write);
}
