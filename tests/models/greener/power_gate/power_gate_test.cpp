// SPDX-License-Identifier: Apache-2.0
//
// The gate by itself, between a listener and a controller of rows: who is held until when, in any order of calls in a
// cycle.
#include <regatta/greener/power_gate.h>
#include <regatta/greener/sleep_transistors.h>
#include <regatta/test/clock.h>

#include <memory>

#include "made.h"

using namespace regatta;
using models::PowerGating;
using models::PowerState;
using models::Row;
using protocol::Cycle;
using protocol::RegisterId;
using protocol::WarpSlot;
using test::dead;

namespace {

constexpr trace::NextAccess later{0, true};
constexpr std::uint32_t rows = 64;
constexpr unsigned registers = 16;

struct Bench : protocol::GateListener {
  explicit Bench(test::MadeKernel& k, const PowerGating& config = {})
      : kernel(k),
        period(1, sc_core::SC_NS),
        control("sleep_transistors", {}, test::clock(period)),
        gate("gate", config, test::clock(period)),
        table("table", config.warps, config.table_entries, test::clock(period)) {
    gate.power.bind(control.votes);
    if (gate.wants_table()) {
      gate.table_lookups.bind(table.lookups);
      gate.table_updates.bind(table.updates);
    }
    gate.connect(static_cast<protocol::GateListener&>(*this));
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    control.rows_started(rows, 32);
    gate.rows_started(rows, 32);
    gate.kernel_started(kernel.context);
    window.base = registers;
    gate.window_taken(WarpSlot(1), window, registers);
  }
  void closed(WarpSlot, bool) override { FAIL("the gate closes no warps"); }
  void pause(WarpSlot warp, Cycle until) override {
    CHECK(warp == WarpSlot(1));
    CHECK(until.value() > now());
    paused_until = until.value();
  }
  void reconsider(Cycle) override { FAIL("a warp that the gate holds is paused"); }
  std::uint64_t now() const { return sc_core::sc_time_stamp().value() / period.value(); }
  void wait_until(std::uint64_t cycle) {
    if (cycle > now()) sc_core::sc_start(static_cast<double>(cycle - now()) * period);
  }
  /// The next instance of an instruction, which is the warp's next.
  protocol::DynamicInstruction& next(std::uint32_t index) {
    auto d = std::make_unique<protocol::DynamicInstruction>();
    d->traits = &kernel.traits[index];
    d->info = d->traits->info;
    d->warp = WarpSlot(1);
    d->active = ~std::uint64_t{0} >> 32;
    d->sequence = ++sequence;
    all.push_back(std::move(d));
    return *all.back();
  }
  void decode(std::uint32_t index) {
    protocol::WarpInfo info;
    info.warp = WarpSlot(1);
    gate.fetched(info, kernel.traits[index]);
    gate.arrived(info);
  }
  /// 0: it may go; else the cycle until which it is held.
  std::uint64_t held(const protocol::DynamicInstruction& d) {
    paused_until = 0;
    const bool may = gate.may_issue(d);
    CHECK(may == (paused_until == 0));
    return paused_until;
  }
  /// Asks until it may go, and issues it.
  std::uint64_t issue(protocol::DynamicInstruction& d) {
    while (const std::uint64_t until = held(d)) wait_until(until);
    gate.issued(d);
    return now();
  }
  void read(protocol::DynamicInstruction& d, unsigned operand, std::uint64_t done) {
    protocol::WarpAccess access;
    access.warp = WarpSlot(1);
    access.reg = d.traits->reads[operand];
    access.operand = static_cast<std::uint8_t>(operand);
    access.instruction = &d;
    gate.was_read(access, window.row(access.reg), Cycle(done));
  }
  PowerState state(unsigned reg) const {
    return control.state(window.row(RegisterId(static_cast<std::uint8_t>(reg))), 0);
  }

  test::MadeKernel& kernel;
  const sc_core::sc_time period;
  models::SleepTransistorController control;
  models::PowerGate gate;
  models::RunTimeTable table;
  models::RegisterWindow window;
  std::vector<std::unique_ptr<protocol::DynamicInstruction>> all;
  std::uint64_t sequence = 0;
  std::uint64_t paused_until = 0;
};

}  // namespace

TEST_CASE("gate: rows are off before their first access, and wake together") {
  test::MadeKernel k;
  k.add({1}, {2, 3}, {later, dead, later});
  k.finish();
  Bench b(k);
  for (unsigned r = 0; r < registers; ++r) CHECK(b.state(r) == PowerState::off);
  b.wait_until(10);
  protocol::DynamicInstruction& d = b.next(0);
  CHECK(b.held(d) == 12);
  for (const unsigned r : {1u, 2u, 3u}) CHECK(b.state(r) == PowerState::on);
  CHECK(b.held(d) == 12);  // asked again, woken once
  CHECK(b.control.wakeups(PowerState::off) == 3);
  b.wait_until(11);
  CHECK(b.held(d) == 12);
  b.wait_until(12);
  CHECK(b.held(d) == 0);
  b.gate.issued(d);
  b.read(d, 0, 15);
  b.read(d, 1, 17);
  b.wait_until(14);
  CHECK(b.state(2) == PowerState::on);
  b.wait_until(16);
  CHECK(b.state(2) == PowerState::off);
  CHECK(b.state(3) == PowerState::on);
  b.wait_until(30);
  CHECK(b.state(3) == PowerState::sleep);
  CHECK(b.state(1) == PowerState::on);
  b.gate.written_back(d);
  CHECK(b.state(1) == PowerState::sleep);
  CHECK(b.control.row_cycles(PowerState::sleep) == 13);  // R3's from 17 to 30
  b.gate.window_left(WarpSlot(1), b.window, registers);
  for (unsigned r = 0; r < registers; ++r) CHECK(b.state(r) == PowerState::off);
}

TEST_CASE("gate: a source holds back readers and writers until the cycle in which it is read") {
  test::MadeKernel k;
  k.add({1}, {2, 3});
  k.add({4}, {2});
  k.add({3}, {5});
  k.add({6}, {7});
  k.finish();
  Bench b(k);
  for (const std::uint32_t i : {0u, 1u, 2u, 3u}) {  // until all are on
    protocol::DynamicInstruction& d = b.next(i);
    b.issue(d);
    for (unsigned o = 0; o < d.traits->read_count; ++o) b.read(d, o, b.now() + 1);
  }
  protocol::DynamicInstruction& first = b.next(0);
  b.wait_until(110);
  CHECK(b.issue(first) == 110);
  CHECK(b.held(b.next(1)) == 111);  // not asked of the file yet: the next cycle
  b.read(first, 0, 114);
  b.read(first, 1, 118);
  CHECK(b.held(b.next(1)) == 114);
  CHECK(b.held(b.next(2)) == 118);  // a write waits as well
  CHECK(b.held(b.next(3)) == 0);
  b.wait_until(113);
  CHECK(b.held(b.next(1)) == 114);
  b.wait_until(114);
  CHECK(b.held(b.next(1)) == 0);
  CHECK(b.held(b.next(2)) == 118);
  b.wait_until(118);
  CHECK(b.held(b.next(2)) == 0);
}

TEST_CASE("gate: a decoded instruction keeps a register on until its next access") {
  test::MadeKernel k;
  k.add({1}, {2}, {later, later});
  k.add({3}, {1}, {later, dead});
  k.finish();
  Bench b(k);
  b.decode(0);
  protocol::DynamicInstruction& d = b.next(0);
  b.issue(d);
  b.read(d, 0, b.now() + 2);
  b.decode(1);
  b.wait_until(20);
  CHECK(b.state(2) == PowerState::sleep);
  b.gate.written_back(d);
  CHECK(b.state(1) == PowerState::on);
  CHECK(b.gate.corrections() == 1);
  protocol::DynamicInstruction& e = b.next(1);
  CHECK(b.held(e) == 22);  // R3 is off
  b.wait_until(22);
  CHECK(b.held(e) == 0);
  b.gate.issued(e);
  b.read(e, 0, 24);
  b.wait_until(25);
  CHECK(b.state(1) == PowerState::off);
  b.gate.written_back(e);
  CHECK(b.gate.corrections() == 1);
}

TEST_CASE("gate: a decoded instruction that writes a register keeps it from being switched off") {
  test::MadeKernel k;
  k.add({1}, {2}, {later, dead});
  k.add({2}, {1}, {later, later});
  k.finish();
  Bench b(k);
  b.decode(0);
  protocol::DynamicInstruction& d = b.next(0);
  b.issue(d);
  b.read(d, 0, b.now() + 2);
  b.decode(1);
  b.wait_until(20);
  CHECK(b.state(2) == PowerState::on);
  CHECK(b.gate.corrections() == 1);
}

TEST_CASE("gate: a register whose row somebody else keeps off is not waited for") {
  test::MadeKernel k;
  k.add({1}, {2});
  k.finish();
  Bench b(k);
  // As a compressor would have it: added late, before the next launch.
  const unsigned other = b.control.add_voter("other");
  b.control.rows_started(rows, 32);
  b.gate.rows_started(rows, 32);
  b.gate.window_taken(WarpSlot(1), b.window, registers);
  b.wait_until(5);
  b.control.vote(other, b.window.row(RegisterId(1)), PowerState::off);
  protocol::DynamicInstruction& d = b.next(0);
  CHECK(b.held(d) == 7);
  CHECK(b.state(1) == PowerState::off);
  b.wait_until(7);
  CHECK(b.held(d) == 0);
  b.control.vote(other, b.window.row(RegisterId(1)), PowerState::off);
  CHECK(b.control.vote(other, b.window.row(RegisterId(1)), PowerState::on) == Cycle(9));
}

TEST_CASE("gate: sources that are kept elsewhere need no row") {
  struct Codec : models::RowCodec {
    Stored write(const protocol::WarpAccess&, Row, const std::uint32_t*, std::uint32_t*, Cycle) override { return {}; }
    Read read(const protocol::WarpAccess&, Row, const std::uint32_t*, std::uint32_t*) override {
      return Read::elsewhere;
    }
    bool needs_row(Row row) const override { return row.value() != registers + 2; }
  };
  test::MadeKernel k;
  k.add({1}, {2, 3});
  k.finish();
  Bench b(k);
  Codec codec;
  b.gate.connect(codec);
  b.issue(b.next(0));
  CHECK(b.state(2) == PowerState::off);
  CHECK(b.state(1) == PowerState::on);
  CHECK(b.state(3) == PowerState::on);
}

TEST_CASE("gate: under Sleep-Reg registers sleep from their warp's start") {
  test::MadeKernel k;
  k.add({1}, {2}, {later, dead});
  k.finish();
  k.kernel.annotations.clear();
  PowerGating config;
  config.look_ahead = false;
  Bench b(k, config);
  CHECK_FALSE(b.gate.wants_table());
  for (unsigned r = 0; r < registers; ++r) CHECK(b.state(r) == PowerState::sleep);
  b.wait_until(10);
  protocol::DynamicInstruction& d = b.next(0);
  CHECK(b.held(d) == 11);
  b.wait_until(11);
  b.issue(d);
  b.read(d, 0, 13);
  b.wait_until(14);
  CHECK(b.state(2) == PowerState::sleep);
}

TEST_CASE(
    "gate: a move wakes the row of a register that sleeps, not of one that is off, and it sleeps again when back") {
  test::MadeKernel k;
  k.add({1}, {2, 3}, {later, dead, later});
  k.finish();
  Bench b(k);
  protocol::DynamicInstruction& d = b.next(0);
  b.issue(d);
  b.read(d, 0, b.now() + 2);
  b.read(d, 1, b.now() + 2);
  b.gate.written_back(d);
  b.wait_until(20);
  REQUIRE(b.state(1) == PowerState::sleep);
  REQUIRE(b.state(2) == PowerState::off);
  protocol::WarpAccess move;
  move.warp = WarpSlot(1);
  const auto moves = [&](unsigned reg, bool into_file) {
    move.reg = RegisterId(static_cast<std::uint8_t>(reg));
    return b.gate.moves(move, b.window.row(move.reg), into_file);
  };
  CHECK(moves(1, false));
  CHECK(b.state(1) == PowerState::on);
  CHECK_FALSE(moves(2, false));  // dead
  CHECK_FALSE(moves(9, false));  // never written
  CHECK(b.state(2) == PowerState::off);
  b.gate.window_left(WarpSlot(1), b.window, registers);
  for (unsigned r = 0; r < registers; ++r) CHECK(b.state(r) == PowerState::off);

  b.window.base = 2 * registers;
  b.gate.window_taken(WarpSlot(1), b.window, registers);
  CHECK_FALSE(moves(2, true));
  CHECK(moves(1, true));
  b.gate.was_written(move, b.window.row(move.reg), Cycle(b.now() + 3));
  CHECK(b.state(1) == PowerState::on);
  b.wait_until(b.now() + 4);
  CHECK(b.state(1) == PowerState::sleep);
  CHECK(b.state(2) == PowerState::off);
}

namespace {

/// Warps 1 and 5 share rows: of warp 1, R1 is on and R2 sleeps, before it is moved.
void begin_exchange(Bench& b) {
  protocol::DynamicInstruction& load = b.next(0);  // whose result does not come before the exchange
  b.issue(load);
  protocol::DynamicInstruction& other = b.next(1);
  b.issue(other);
  b.gate.written_back(other);
  REQUIRE(b.state(1) == PowerState::on);
  REQUIRE(b.state(2) == PowerState::sleep);
  b.gate.window_shared(WarpSlot(1), WarpSlot(5), b.window);
  b.gate.written_back(load);  // dead, but the row may hold a register of warp 5
  CHECK(b.state(1) == PowerState::on);
  protocol::WarpAccess move;
  move.warp = WarpSlot(1);
  move.reg = RegisterId(2);
  CHECK(b.gate.moves(move, b.window.row(move.reg), false));
  CHECK(b.state(2) == PowerState::on);
}

void add_exchange(test::MadeKernel& k) {
  k.add({1}, {}, {dead});
  k.add({2}, {}, {later});
  k.finish();
}

}  // namespace

TEST_CASE("gate: warps that exchange registers decide nothing, and rows are the new owner's at the end") {
  test::MadeKernel k;
  add_exchange(k);
  Bench b(k);
  begin_exchange(b);
  protocol::GeneralRegisters held{};
  protocol::add(held, 7u);
  b.gate.window_kept(WarpSlot(5), WarpSlot(1), b.window, registers, held);
  for (unsigned r = 0; r < registers; ++r) CHECK(b.state(r) == PowerState::off);
}

TEST_CASE("gate: rows are the leaving warp's again if the entering one ends") {
  test::MadeKernel k;
  add_exchange(k);
  Bench b(k);
  begin_exchange(b);
  constexpr std::uint64_t word = ~std::uint64_t{0};
  b.gate.window_kept(WarpSlot(1), WarpSlot(5), b.window, registers, {word, word, word, word});
  CHECK(b.state(1) == PowerState::on);
  CHECK(b.state(2) == PowerState::on);
}

TEST_CASE("gate: the destination of an instruction in flight is on when its warp comes back") {
  test::MadeKernel k;
  k.add({1}, {}, {later});
  k.finish();
  Bench b(k);
  protocol::DynamicInstruction& load = b.next(0);
  b.issue(load);
  b.gate.window_left(WarpSlot(1), b.window, registers);
  CHECK(b.state(1) == PowerState::off);
  b.gate.window_taken(WarpSlot(1), b.window, registers);
  CHECK(b.state(1) == PowerState::on);
  b.gate.written_back(load);
  CHECK(b.state(1) == PowerState::sleep);
}
