// SPDX-License-Identifier: Apache-2.0
//
// The access logic by itself: moves of one CTA and of two, what they take, and results that come meanwhile.
#include "mover_bench.h"

using namespace regatta;
using namespace regatta::test::cta_blocks;
using Room = models::RegisterTransfer::Room;

namespace {

/// CTA 0 has left with R1, R2 of warp 0 and R5 of warp 1.
struct Departed : MoverBench {
  explicit Departed(unsigned places = 1, unsigned entries = 8) : MoverBench(places, entries) {
    start(0);
    fill(0, 100);
    fill(1, 200);
    live.sets = {{0, 0b110}, {1, 0b100000}};
    switch_out(0);
    move(0, std::nullopt);
    finish();
  }
  /// Back in the file, with these values in the registers that were live.
  void comes_back(const Row& r1, const Row& r2, const Row& r5) {
    move(std::nullopt, 0);
    finish();
    CHECK(file.row(0, 1) == r1);
    CHECK(file.row(0, 2) == r2);
    CHECK(file.row(1, 5) == r5);
    CHECK(free_space.free() == pending.entries());
  }
};

}  // namespace

TEST_CASE("mover alone: live registers leave, chained, one per cycle, and come back") {
  MoverBench b(2, 8);
  b.start(0);
  b.fill(0, 100);
  b.fill(1, 200);
  b.live.sets = {{0, 0b110}, {1, 0b100000}};
  b.switch_out(0);
  CHECK(b.user.transfer->room_for(cta_at(0), std::nullopt) == Room::yes);
  b.move(0, std::nullopt);
  CHECK(b.mover.moving());
  CHECK(b.finish() <= 8);
  CHECK(b.free_space.free() == 5);
  const PendingChain chain = b.pointers.get(cta_at(0));
  CHECK(chain.first == 0);
  CHECK(chain.count == 3);
  CHECK(b.pending.tag(0).reg == 1);
  CHECK(b.pending.tag(0).next == 1);
  CHECK(b.pending.tag(1).reg == 2);
  CHECK_FALSE(b.pending.tag(1).end);
  CHECK(b.pending.tag(2).warp == 1);
  CHECK(b.pending.tag(2).reg == 5);
  CHECK(b.pending.tag(2).end);
  CHECK(b.windows.free_places() == 2);
  for (Row& row : b.file.rows) row.fill(0xdead);
  b.move(std::nullopt, 0);
  CHECK(b.finish() <= 12);
  CHECK(b.file.row(0, 1) == MoverBench::pattern(101));
  CHECK(b.file.row(0, 2) == MoverBench::pattern(102));
  CHECK(b.file.row(1, 5) == MoverBench::pattern(205));
  CHECK(b.file.row(0, 0)[0] == 0xdead);  // what is not live is not moved
  CHECK(b.free_space.free() == 8);
  CHECK(b.stat("moves") == 2);
  CHECK(b.stat("moved_out") == 3);
  CHECK(b.stat("moved_in") == 3);
  b.mover.kernel_finished(b.launch.context);
}

TEST_CASE("mover alone: duration of a move") {
  // Specification C5: 4 + the larger number, when nothing stands in the way.
  const unsigned out = 30, in = 14;
  MoverBench b(1, 64, 1, 32);
  b.start(0);
  b.live.sets[0] = (std::uint64_t{1} << in) - 1;
  b.switch_out(0);
  b.move(0, std::nullopt);
  b.finish();
  b.start(1);
  b.live.sets[1] = ((std::uint64_t{1} << out) - 1) << 2;
  b.switch_out(1);
  b.move(1, 0);
  const std::uint64_t cycles = b.finish();
  CHECK(cycles >= out);
  CHECK(cycles <= 4 + out + in / 2);
  CHECK(b.stat("move_cycles") > 0);
}

TEST_CASE("mover alone: two CTAs exchange a place, without a free entry") {
  MoverBench b(1, 3);
  b.start(0);
  b.fill(0, 100);
  b.fill(1, 200);
  b.live.sets = {{0, 0b110}, {1, 0b100000}};
  b.switch_out(0);
  b.move(0, std::nullopt);
  b.finish();
  CHECK(b.free_space.free() == 0);
  b.start(1);
  b.fill(2, 300);
  b.fill(3, 400);
  b.live.sets[2] = 0b10;
  b.live.sets[3] = 0b100001;
  b.switch_out(1);
  CHECK(b.user.transfer->room_for(cta_at(1), cta_at(0)) == Room::yes);
  CHECK(b.user.transfer->room_for(cta_at(1), std::nullopt) == Room::no);
  b.move(1, 0);
  b.finish();
  CHECK(b.file.row(0, 1) == MoverBench::pattern(101));
  CHECK(b.file.row(0, 2) == MoverBench::pattern(102));
  CHECK(b.file.row(1, 5) == MoverBench::pattern(205));
  CHECK(b.free_space.free() == 0);
  b.live.sets[0] = 0b10;
  b.live.sets[1] = 0b11;
  b.move(0, 1);
  b.finish();
  CHECK(b.file.row(2, 1) == MoverBench::pattern(301));
  CHECK(b.file.row(3, 0) == MoverBench::pattern(400));
  CHECK(b.file.row(3, 5) == MoverBench::pattern(405));
}

TEST_CASE("mover alone: whether registers find room") {
  Departed b(2, 8);
  b.start(1);
  b.live.sets[2] = 0b11111;
  CHECK(b.user.transfer->room_for(cta_at(1), std::nullopt) == Room::yes);
  b.live.sets[3] = 1;
  CHECK(b.user.transfer->room_for(cta_at(1), std::nullopt) == Room::no);
  CHECK(b.user.transfer->room_for(cta_at(1), cta_at(0)) == Room::yes);
  b.live.known = false;
  CHECK(b.user.transfer->room_for(cta_at(1), std::nullopt) == Room::not_counted);
}

TEST_CASE("mover alone: a CTA without live registers has no chain") {
  MoverBench b(1, 4);
  b.start(0);
  b.switch_out(0);
  b.move(0, std::nullopt);
  b.finish();
  CHECK(b.free_space.free() == 4);
  CHECK(b.pointers.get(cta_at(0)).count == 0);
  b.move(std::nullopt, 0);
  b.finish();
  CHECK(b.file.mapping.mapped(warp_at(0)));
}

TEST_CASE("mover alone: a result for a CTA that is away goes to its entry, or nowhere") {
  Departed b;
  const Row value = MoverBench::pattern(900);
  Row merged = MoverBench::pattern(102);
  std::copy_n(value.begin(), 16, merged.begin());
  CHECK(b.result(0, 2, value, 0xffff) == Decision::drop);
  run_to(cycle() + 1);
  CHECK(b.result(0, 3, value) == Decision::drop);  // not live
  CHECK(b.stat("merged_results") == 1);
  CHECK(b.stat("dead_results") == 1);
  b.comes_back(MoverBench::pattern(101), merged, MoverBench::pattern(205));
  // Back in the file, and on: written there.
  CHECK(b.result(0, 2, value) == Decision::write);
  b.switch_in(0);
  CHECK(b.result(0, 2, value) == Decision::write);
}

TEST_CASE("mover alone: one result per cycle; a second waits, and is told when to ask again") {
  Departed b;
  run_to(50);
  const Row value = MoverBench::pattern(900);
  CHECK(b.result(0, 1, value) == Decision::drop);
  CHECK(b.result(0, 2, value) == Decision::wait);
  run_to(51);
  run_present();
  REQUIRE(!b.watch.cycles.empty());
  CHECK(b.watch.cycles.back() == 51);
  CHECK(b.result(0, 2, value) == Decision::drop);
  CHECK(b.stat("waiting_results") == 1);
  b.comes_back(value, value, MoverBench::pattern(205));
}

TEST_CASE("mover alone: a result that comes before its register was read opens the entry") {
  MoverBench b(1, 8);
  b.file.held = 100;
  b.file.longest = 30;
  b.start(0);
  b.fill(0, 100);
  b.fill(1, 200);
  b.live.sets = {{0, 0b110}, {1, 0b100000}};
  b.switch_out(0);
  const Row value = MoverBench::pattern(900);
  CHECK(b.result(1, 5, value, 0xf) == Decision::write);  // nothing has begun
  b.move(0, std::nullopt);
  run_to(cycle() + 1);
  CHECK(b.result(1, 5, value, 0xff00) == Decision::drop);
  CHECK(b.stat("early_results") == 1);
  run_to(cycle() + 1);
  CHECK(b.result(1, 5, value, 0xf0000) == Decision::drop);  // and again, into the entry
  b.finish();
  Row merged = MoverBench::pattern(205);
  for (unsigned lane = 8; lane < 20; ++lane) merged[lane] = value[lane];
  b.move(std::nullopt, 0);
  b.finish();
  CHECK(b.file.row(1, 5) == merged);
  CHECK(b.file.row(0, 1) == MoverBench::pattern(101));
}

TEST_CASE("mover alone: a result that waits at a bank is written before the registers are read") {
  MoverBench b(1, 8);
  b.start(0);
  b.fill(0, 100);
  b.live.sets[0] = 1;
  protocol::WarpAccess access;
  access.warp = warp_at(0);
  b.held = &access;
  b.switch_out(0);
  b.move(0, std::nullopt);
  run_for(10);
  CHECK(b.file.accesses == 0);
  b.file.row(0, 0) = MoverBench::pattern(7);
  b.held = nullptr;
  b.finish();
  b.move(std::nullopt, 0);
  b.finish();
  CHECK(b.file.row(0, 0) == MoverBench::pattern(7));
}

TEST_CASE("mover alone: a CTA that ends while it is away gives its entries back") {
  Departed b;
  b.end(0);
  CHECK(b.free_space.free() == 8);
  CHECK(b.mover.check().empty());
  CHECK(b.pointers.get(cta_at(0)).count == 0);
  b.mover.kernel_finished(b.launch.context);
}

TEST_CASE("mover alone: a CTA that ends while it leaves gives back what it had, and the other comes") {
  Departed b(1, 3);
  b.start(1);
  b.fill(2, 300);
  b.live.sets[2] = 0b111;
  b.switch_out(1);
  b.move(1, 0);
  run_for(2);
  b.end(1);
  b.finish();
  CHECK(b.free_space.free() == 3);
  CHECK(b.file.row(0, 1) == MoverBench::pattern(101));
  CHECK(b.file.row(1, 5) == MoverBench::pattern(205));
  CHECK(b.windows.free_places() == 0);
}

TEST_CASE("mover alone: a CTA that ends while it comes gives back what is left of it") {
  Departed b(1, 8);
  b.move(std::nullopt, 0);
  run_for(2);
  b.end(0);
  b.finish();
  CHECK(b.free_space.free() == 8);
  CHECK(b.windows.free_places() == 1);
}

TEST_CASE("mover alone: what cannot be is refused with the numbers") {
  Departed b;
  const std::string expected = ", expected one move at a time, of a CTA whose live registers are known";
  b.start(1);
  b.live.known = false;
  CHECK(error_of([&] { b.move(1, std::nullopt); }) == "mover in cycle " + std::to_string(cycle()) +
                                                          ": asked for a move of registers that were not counted" +
                                                          expected);
  b.live.known = true;
  b.end(1);
  b.move(std::nullopt, 0);
  CHECK(error_of([&] { b.move(std::nullopt, 0); }) ==
        "mover in cycle " + std::to_string(cycle()) + ": asked for a move of registers during another one" + expected);
}

TEST_CASE("mover alone: entries that a launch leaves behind are reported") {
  Departed b;
  CHECK(error_of([&] { b.mover.kernel_finished(b.launch.context); }) ==
        "mover in cycle " + std::to_string(cycle()) +
            ": the launch has ended with 3 entries of the pending file taken, expected none");
}

TEST_CASE("mover alone: a chain without its end is reported") {
  Departed b;
  PendingTag last = b.pending.tag(2);
  last.end = false;
  b.pending.write_tag(2, last);
  CHECK(b.mover.check() == "a chain ends at the wrong entry");
  b.move(std::nullopt, 0);
  CHECK(error_of([&] { run_for(20); })
            .find("the chain of CTA slot 0 leads to entry 2 with warp 1, R5, with 1 registers to come; expected a "
                  "register of "
                  "this CTA that was put there") != std::string::npos);
}

TEST_CASE("mover alone: what the check of chains finds") {
  Departed b;
  const PendingChain chain = b.pointers.get(cta_at(0));
  b.pointers.set(cta_at(1), chain);
  CHECK(b.mover.check() == "entry 0 is in two chains");
  b.pointers.set(cta_at(1), PendingChain{});
  b.pointers.set(cta_at(0), PendingChain{});
  CHECK(b.mover.check() == "entry 0 is taken and in no chain");
  b.pointers.set(cta_at(0), PendingChain{8, 3});
  CHECK(b.mover.check() == "a chain leaves the file");
  b.pointers.set(cta_at(0), chain);
  b.free_space.give_back(1);
  CHECK(b.mover.check() == "entry 1 of a chain is free");
  b.free_space.take();
  PendingTag tag = b.pending.tag(1);
  tag.valid = false;
  b.pending.write_tag(1, tag);
  CHECK(b.mover.check() == "entry 1 of a chain is not valid");
}

TEST_CASE("mover alone: of a unified memory, pending CTAs want their most live registers, and have what is given") {
  MoverBench b(1, 8);
  b.launch.set_live({0b1, 0b10111, 0b11});
  CHECK(b.mover.registers_wanted(b.launch.context, 3) == 3 * 2 * 4);
  b.mover.set_registers(2);
  CHECK(b.free_space.free() == 2);
  b.start(0);
  b.live.sets[0] = 0b111;
  CHECK(b.user.transfer->room_for(cta_at(0), std::nullopt) == Room::no);
  b.live.sets[0] = 0b11;
  b.switch_out(0);
  b.move(0, std::nullopt);
  b.finish();
  CHECK(b.free_space.free() == 0);
  b.move(std::nullopt, 0);
  b.finish();
  b.mover.kernel_finished(b.launch.context);
  b.mover.set_registers(100);
  CHECK(b.free_space.free() == 8);  // as many as there are
}
