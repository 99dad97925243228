// SPDX-License-Identifier: Apache-2.0
//
// The block by itself, driven over its ports only, as a test bench of an RTL twin would.
#include <regatta/test/clock.h>
#include "blocks_bench.h"

using namespace regatta::test::wir_blocks;

TEST_CASE("register allocator alone: registers are granted in order, one per cycle and port") {
  WirMachine wide = few_registers(8);
  wide.allocator_ports = 2;
  RegisterAllocator two_ports("two_ports", wide, test::clock(block_period));
  BlockUser<AllocationRequest, GrantedRegisters> two_user("two_user");
  two_user.lookups.bind(two_ports.allocation);
  AllocatorBench b(few_registers(8));
  two_ports.kernel_started(b.launch.context);

  block_run_to(5);
  GrantedRegisters g = b.user.get({3, false});
  for (unsigned i = 0; i < 3; ++i) {
    CHECK(g.regs[i] == physical_at(i));
    CHECK(g.waits[i] == i);
    CHECK(b.references(i) == 1);
  }
  b.user.get({0, false});
  block_run_to(6);
  g = b.user.get({1, false});
  CHECK(g.regs[0] == physical_at(3));
  CHECK(g.waits[0] == 2);  // the port is taken in cycles 6 and 7
  CHECK(b.references(3) == 1);
  CHECK(b.references(4) == 0);
  CHECK(b.view().in_use() == 4);
  CHECK(b.stat("allocations") == 4);
  CHECK(b.stat("registers_peak") == 4);
  block_run_to(10);
  CHECK(b.stat("register_cycles") == 3 * 1 + 4 * 4);

  g = two_user.get({4, false});
  for (unsigned i = 0; i < 4; ++i) CHECK(g.waits[i] == i / 2);
}

TEST_CASE("register allocator alone: it is busy if too few registers are free, and then the machine is low") {
  AllocatorBench b(few_registers(4));
  block_run_to(1);
  CHECK(b.take(3) == RegisterList{0, 1, 2});
  CHECK_FALSE(b.user.references->low());
  CHECK(b.is_busy(2));
  CHECK(b.user.references->low());
  CHECK(b.user.references->low_mode());
  CHECK(b.view().in_use() == 3);  // nothing was taken
  CHECK(b.stat("allocations") == 3);

  // The instruction needs fewer by now.
  b.user.get({0, true});
  CHECK_FALSE(b.user.references->low());
  CHECK_FALSE(b.user.references->low_mode());
  CHECK(b.take(1) == RegisterList{3});
  CHECK(b.user.references->low_mode());  // none is left
  block_run_to(11);
  CHECK(b.stat("low_register_cycles") == 10);
}

TEST_CASE("register allocator alone: what an instruction needs keeps the mode low until it has it") {
  AllocatorBench b(few_registers(4));
  block_run_to(1);
  CHECK(b.take(3) == RegisterList{0, 1, 2});
  CHECK(b.is_busy(3));
  b.release(0);
  block_run_to(3);
  CHECK(b.user.references->low());  // two are free
  CHECK(b.take(1) == RegisterList{3});
  CHECK(b.user.references->low());  // another instruction's grant changes nothing
  b.release(1);
  b.release(2);
  block_run_to(5);
  CHECK(b.user.references->low());
  block_run_to(6);
  CHECK_FALSE(b.user.references->low());
  CHECK(b.take(3) == RegisterList{0, 1, 2});
  CHECK(b.user.references->low());
  b.release(3);
  block_run_to(8);
  CHECK_FALSE(b.user.references->low());  // one register is enough again
}

TEST_CASE("register allocator alone: keepers are asked once for each past cycle of low-register mode") {
  AllocatorBench b(few_registers(4));
  block_run_to(10);
  CHECK(b.take(4) == RegisterList{0, 1, 2, 3});
  b.first.owned = {0, 1, 2, 3};
  b.first.gives[12] = 2;
  CHECK(b.first.asked.empty());  // not for the present cycle
  block_run_to(11);
  b.user.references->settle();
  b.user.references->settle();
  CHECK(b.first.asked == Cycles{10});

  // Register 2 is free two cycles after cycle 12, and then one is enough.
  block_run_to(20);
  b.user.references->settle();
  CHECK(b.first.asked == Cycles{10, 11, 12, 13});
  CHECK(b.second.asked == b.first.asked);
  CHECK(b.references(2) == 0);
  CHECK(b.view().free() == 1);
  CHECK_FALSE(b.user.references->low_mode());
  CHECK(b.stat("low_register_cycles") == 4);

  // An instruction needs two.
  CHECK(b.is_busy(2));
  b.second.gives[21] = 0;
  b.first.owned = {1, 3};
  block_run_to(30);
  b.user.references->settle();
  CHECK(b.first.asked == Cycles{10, 11, 12, 13, 20, 21, 22});
  CHECK(b.stat("low_register_cycles") == 4 + 3);
  CHECK(b.take(2) == RegisterList{2, 0});
}

TEST_CASE("register allocator alone: a released register is free after the latency, one per cycle") {
  AllocatorBench b(few_registers(4, 3));
  block_run_to(5);
  CHECK(b.take(4) == RegisterList{0, 1, 2, 3});
  CHECK(b.share({1}));
  block_run_to(7);
  b.release(1);  // it has another owner
  b.release(2);
  b.release(0);
  b.user.references->release(no_register);
  CHECK(b.references(1) == 1);
  block_run_to(9);
  CHECK(b.is_busy(1));
  block_run_to(10);
  CHECK(b.take(1) == RegisterList{2});
  CHECK(b.is_busy(1));
  block_run_to(11);
  CHECK(b.take(1) == RegisterList{0});
  block_run_to(20);
  CHECK(b.is_busy(1));
  CHECK(b.stat("references") == 1);
}

TEST_CASE("register allocator alone: an owner takes over a reference and gives up its earlier one") {
  AllocatorBench b(few_registers(4));
  block_run_to(1);
  CHECK(b.take(1) == RegisterList{0});
  b.user.references->replace(no_register, physical_at(0));
  CHECK(b.references(0) == 1);
  CHECK(b.share({0}));
  b.user.references->replace(physical_at(0), physical_at(1));
  CHECK(b.references(0) == 1);
  CHECK(b.stat("references") == 3);
}

TEST_CASE("register allocator alone: a full counter refuses all registers of a request, and no hold") {
  WirMachine config = few_registers(4);
  config.counter_bits = 2;
  AllocatorBench b(config);
  block_run_to(1);
  CHECK(b.take(2) == RegisterList{0, 1});
  CHECK(b.share({1}));
  CHECK(b.share({1}));
  CHECK(b.references(1) == 3);
  CHECK_FALSE(b.share({0, 1}));
  CHECK(b.references(0) == 1);
  CHECK(b.references(1) == 3);
  CHECK(b.stat("saturations") == 1);
  b.hold(1);
  CHECK(b.references(1) == 4);
  CHECK(b.holds(1) == 1);
  b.end_hold(1);
  CHECK(b.references(1) == 3);
  CHECK(b.holds(1) == 0);
  b.release(1);
  CHECK(b.share({0, 1}));
  CHECK(b.references(0) == 2);
  CHECK(b.references(1) == 3);
  CHECK(
      error_of([&] { b.hold(3); }) ==
      "allocator in cycle 1: a reference to physical register 3, which is free; referred to by nobody");  // it is free
}

TEST_CASE("register allocator alone: credits of readers return with the last one, which a refused one learns") {
  // Two warps of three registers fit: two registers may be held by readers alone.
  AllocatorBench b(few_registers(8));
  const ReaderCredits& credits = *b.user.credits.operator->();
  CHECK(credits.credits_left(2));
  CHECK_FALSE(credits.credits_left(3));
  block_run_to(1);
  CHECK(b.take(2) == RegisterList{0, 1});
  b.hold(0);
  b.hold(0);
  b.hold(1);
  CHECK(b.holds(0) == 2);
  CHECK(b.holds(1) == 1);
  CHECK(b.references(0) == 3);
  b.user.credits->promise(physical_at(0));
  CHECK(credits.credits_left(1));
  CHECK_FALSE(credits.credits_left(2));
  b.user.credits->promise(physical_at(1));
  CHECK(credits.credits_left(0));
  CHECK_FALSE(credits.credits_left(1));
  b.user.credits->refused();

  block_run_to(5);
  b.end_hold(0);
  CHECK_FALSE(credits.credits_left(1));
  block_run_to(6);
  CHECK(b.watch.cycles.empty());
  b.end_hold(0);
  CHECK(b.holds(0) == 0);
  CHECK(b.references(0) == 1);
  CHECK(credits.credits_left(1));
  CHECK_FALSE(credits.credits_left(2));
  block_run_to(9);
  CHECK(b.watch.cycles == Cycles{6});

  // Nobody was refused since.
  b.end_hold(1);
  CHECK(credits.credits_left(2));
  CHECK_FALSE(credits.credits_left(3));
  block_run_to(12);
  CHECK(b.watch.cycles == Cycles{6});

  // A refused one learns of every register without readers, with or without a credit.
  b.hold(0);
  b.user.credits->refused();
  b.end_hold(0);
  block_run_to(13);
  CHECK(b.watch.cycles == Cycles{6, 12});
  CHECK(credits.credits_left(2));
  CHECK_FALSE(credits.credits_left(3));
}

TEST_CASE("register allocator alone: a recount names a register whose owners do not agree with its counter") {
  AllocatorBench b(few_registers(8));
  block_run_to(1);
  CHECK(b.take(3) == RegisterList{0, 1, 2});
  b.hold(1);
  b.first.owned = {0, 2};
  b.second.owned = {1};
  b.second.readers = {1};
  CHECK(b.allocator.recount().empty());
  CHECK(error_of([&] { b.user.references->check(); }).empty());

  b.second.lie = physical_at(2);
  const std::string two =
      "physical register 2 is counted 1 times (0 by readers) and referred to 2 times (0); referred to by first (1), "
      "second (1)";
  CHECK(b.allocator.recount() == two);
  CHECK(error_of([&] { b.user.references->check(); }) == "allocator in cycle 1: " + two);
  b.second.lie = no_register;
  b.second.readers.clear();
  CHECK(b.allocator.recount() ==
        "physical register 1 is counted 2 times (1 by readers) and referred to 1 times (0); referred to by second (1)");
  b.first.under_way = true;  // references that are on their way cannot be compared
  CHECK(b.allocator.recount().empty());
}

TEST_CASE("register allocator alone: a register that is still referred to at the end of a kernel is an error") {
  AllocatorBench b(few_registers(8));
  const auto finish = [&] { return error_of([&] { b.allocator.kernel_finished(b.launch.context); }); };
  block_run_to(1);
  CHECK(finish().empty());
  CHECK(b.take(2) == RegisterList{0, 1});
  CHECK(finish() ==
        "allocator in cycle 1: physical register 0 is counted 1 times (0 by readers) and referred to 0 times (0); "
        "referred to by nobody");
  b.first.owned = {0};
  b.second.owned = {1};
  b.second.stubborn = true;
  CHECK(finish() ==
        "allocator in cycle 1: 1 physical registers are still referred to when no warp is left, the first is 1; "
        "referred to by second (1)");
  CHECK(b.references(0) == 0);
  CHECK(b.references(1) == 1);
  b.second.stubborn = false;
  CHECK(finish().empty());
  CHECK(b.references(1) == 0);
}

TEST_CASE("register allocator alone: with capped registers the resident warps set the limit") {
  WirMachine config = few_registers(8);
  config.model = "rlpvc";
  AllocatorBench b(config);
  const WarpInfo warp;
  CHECK(b.view().limit() == 0);
  CHECK(b.is_busy(1));
  b.allocator.warp_started(warp);
  b.allocator.warp_started(warp);
  CHECK(b.view().limit() == 6);
  CHECK_FALSE(b.user.credits->credits_left(1));
  block_run_to(1);
  CHECK(b.take(4) == RegisterList{0, 1, 2, 3});
  CHECK(b.take(1) == RegisterList{4});
  CHECK(b.is_busy(2));
  b.first.owned = {0, 1, 2, 4};
  b.second.owned = {3};
  // Three registers for the warp that is left. The last keeper gives up first.
  b.allocator.warp_finished(warp);
  CHECK(b.view().limit() == 3);
  CHECK(b.second.owned.empty());
  CHECK(b.first.owned == RegisterList{0, 1, 2});
  CHECK(b.view().referenced() == 3);
  b.allocator.warp_finished(warp);
  CHECK(b.first.owned.empty());
  CHECK(error_of([&] { b.allocator.kernel_finished(b.launch.context); }).empty());
}
