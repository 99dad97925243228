// SPDX-License-Identifier: Apache-2.0
//
// Rows of any file, switched: which state a row takes from the votes of the registers that it has, by hand.
#include <regatta/baseline/switched_rows.h>
#include <regatta/greener/sleep_transistors.h>
#include <regatta/support/stats.h>
#include <regatta/test/catch.h>
#include <regatta/test/clock.h>

#include <string>
#include <vector>

using namespace regatta;
using models::PowerState;
using models::Row;
using protocol::Cycle;
using protocol::RegisterId;
using protocol::WarpSlot;

namespace {

constexpr unsigned latency = 2;

struct Reads : models::RowListener {
  void was_read(const protocol::WarpAccess&, Row, Cycle done) override { at.push_back(done.value()); }
  std::vector<std::uint64_t> at;
};

/// Wakes from sleep in 1 cycle and from off in 5.
struct Bench {
  Bench() : period(1, sc_core::SC_NS), control("sleep_transistors", transistors(), test::clock(period)) {
    rows.power.bind(control.votes);
    control.cells.bind(rows.cells);
    rows.add_listener(control);
    rows.add_listener(reads);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    rows.rows_started(8, 32);
  }
  static models::SleepTransistors transistors() {
    models::SleepTransistors c;
    c.wake_off = 5;
    return c;
  }
  void wait(std::uint64_t cycles) { sc_core::sc_start(static_cast<double>(cycles) * period); }
  std::uint64_t now() const { return sc_core::sc_time_stamp().value() / period.value(); }
  PowerState state(unsigned row) const { return control.state(Row(row)); }
  Cycle vote(unsigned warp, unsigned reg, PowerState s) { return rows.vote(slot(warp), id(reg), s); }
  void take(unsigned warp, unsigned reg, unsigned row) { rows.row_taken(slot(warp), id(reg), Row(row)); }
  void free(unsigned warp, unsigned reg) { rows.row_freed(slot(warp), id(reg)); }
  static WarpSlot slot(unsigned warp) { return WarpSlot(static_cast<WarpSlot::rep>(warp)); }
  static RegisterId id(unsigned reg) { return RegisterId(static_cast<RegisterId::rep>(reg)); }
  double stat(const std::string& name) {
    support::StatGroup group("rows");
    rows.register_stats(group);
    for (const support::Stat& s : group.stats()) {
      if (s.name == name) return s.counter != nullptr ? static_cast<double>(*s.counter) : s.value();
    }
    FAIL("no statistic " << name);
    return 0;
  }

  const sc_core::sc_time period;
  models::SleepTransistorController control;
  models::SwitchedRows rows{"switched_rows", latency, test::clock(period)};
  Reads reads;
};

/// Of an instruction, whose other fields no row needs.
protocol::WarpAccess access_by(protocol::DynamicInstruction* instruction, protocol::LaneMask lanes = ~0u) {
  protocol::WarpAccess access;
  access.instruction = instruction;
  access.lanes = lanes;
  return access;
}

}  // namespace

TEST_CASE("switched rows: a row without a register is off, one with registers is in their highest state") {
  Bench b;
  for (unsigned r = 0; r < 8; ++r) CHECK(b.state(r) == PowerState::off);
  b.take(0, 1, 3);
  CHECK(b.state(3) == PowerState::off);  // nobody has voted
  CHECK(b.vote(0, 1, PowerState::on) == Cycle(5));
  b.take(1, 1, 3);
  b.vote(1, 1, PowerState::sleep);
  b.vote(0, 1, PowerState::off);
  CHECK(b.state(3) == PowerState::sleep);  // for warp 1
  b.vote(0, 1, PowerState::on);
  b.free(1, 1);
  CHECK(b.state(3) == PowerState::on);
  b.free(0, 1);
  CHECK(b.state(3) == PowerState::off);
  b.free(0, 1);  // it has none
  CHECK(b.state(3) == PowerState::off);
}

TEST_CASE("switched rows: a register votes for the row that it gets") {
  Bench b;
  b.wait(10);
  CHECK(b.vote(2, 7, PowerState::on) == Cycle(10));  // no row to wait for
  b.take(2, 7, 4);
  CHECK(b.state(4) == PowerState::on);
  CHECK(b.control.ready(Row(4)) == Cycle(15));
  b.free(2, 7);
  b.take(2, 7, 5);
  CHECK(b.state(4) == PowerState::off);
  CHECK(b.state(5) == PowerState::on);
}

TEST_CASE("switched rows: a row is on while a move accesses it, and sleeps again") {
  Bench b;
  b.take(3, 9, 6);
  b.vote(3, 9, PowerState::sleep);
  b.wait(20);
  protocol::WarpAccess move;
  CHECK(b.rows.reach(move, Row(6), false, 22) == 23);  // the bank would have read in 20, and the row is awake in 21
  CHECK(b.state(6) == PowerState::on);
  b.wait(2);
  CHECK(b.state(6) == PowerState::on);
  b.wait(2);
  CHECK(b.state(6) == PowerState::sleep);
  b.free(3, 9);
  CHECK(b.state(6) == PowerState::off);
}

TEST_CASE("switched rows: accesses wait for a row that wakes, and lost lanes are those not written since") {
  Bench b;
  b.wait(10);
  protocol::DynamicInstruction d;
  d.active = ~0u;
  b.take(0, 0, 1);
  b.vote(0, 0, PowerState::on);  // awake in 15
  const protocol::WarpAccess half = access_by(&d, 0xffff);
  CHECK(b.rows.lost(Row(1)) == 0xffffffff);
  CHECK(b.rows.reach(half, Row(1), true, 13) == 17);
  b.rows.was_written(half, Row(1), 17);
  CHECK(b.rows.lost(Row(1)) == 0xffff0000);
  b.vote(0, 0, PowerState::sleep);
  CHECK(b.rows.lost(Row(1)) == 0xffff0000);  // sleep loses nothing
  b.vote(0, 0, PowerState::off);
  b.vote(0, 0, PowerState::on);
  CHECK(b.rows.lost(Row(1)) == 0xffffffff);
  CHECK(b.stat("late_accesses") == 1);
  CHECK(b.stat("late_cycles") == 4);
}

TEST_CASE("switched rows: an instruction that reads a sleeping row is reported, a move wakes it") {
  Bench b;
  b.take(3, 9, 2);
  b.vote(3, 9, PowerState::sleep);
  b.wait(50);
  protocol::DynamicInstruction d;
  d.active = 1;
  protocol::WarpAccess access = access_by(&d);
  access.warp = Bench::slot(3);
  access.reg = Bench::id(9);
  std::string message;
  try {
    b.rows.reach(access, Row(2), false, 52);
  } catch (const sc_core::sc_report& report) {
    message = report.get_msg();
  }
  CHECK(message == "row 2, register R9 of warp 3, is read in cycle 50 while it sleeps, expected it to be awake");
  d.active = 0;
  CHECK(b.rows.reach(access, Row(2), false, 52) == 52);  // nobody uses it
  access.instruction = nullptr;
  CHECK(b.rows.reach(access, Row(2), false, 52) == 53);
  CHECK(b.stat("move_accesses") == 1);
}

TEST_CASE("switched rows: allocated rows are those with a register") {
  Bench b;
  b.take(0, 0, 0);
  b.take(1, 0, 0);
  b.take(0, 1, 1);
  b.wait(10);
  b.free(0, 0);
  b.wait(10);
  b.free(1, 0);
  b.wait(10);
  CHECK(b.rows.allocated_row_cycles() == 20 + 30);
}
