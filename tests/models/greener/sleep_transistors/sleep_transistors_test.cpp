// SPDX-License-Identifier: Apache-2.0
//
// The sleep-transistor controller by itself: hand-made cases, and random votes against an account kept cycle by cycle.
#include <regatta/greener/sleep_transistors.h>
#include <regatta/greener/unused_rows.h>
#include <regatta/support/stats.h>
#include <regatta/test/catch.h>
#include <regatta/test/clock.h>

#include <algorithm>
#include <random>
#include <tuple>

using namespace regatta;
using models::PowerState;
using models::Row;
using models::SleepTransistorController;
using models::SleepTransistors;
using protocol::Cycle;

namespace {

struct Bench : models::RowCells {
  explicit Bench(const SleepTransistors& config = {}, std::uint32_t rows = 8, unsigned voters = 1)
      : period(1, sc_core::SC_NS), control("sleep_transistors", config, test::clock(period)) {
    for (unsigned v = 0; v < voters; ++v) control.add_voter("voter" + std::to_string(v));
    control.cells.bind(*this);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    control.rows_started(rows, 32);
  }
  void lost(Row row, unsigned from, unsigned to) override { losses.emplace_back(row.value(), from, to); }
  void wait(std::uint64_t cycles) {
    if (cycles != 0) sc_core::sc_start(static_cast<double>(cycles) * period);
  }
  std::uint64_t now() const { return sc_core::sc_time_stamp().value() / period.value(); }

  const sc_core::sc_time period;
  SleepTransistorController control;
  std::vector<std::tuple<std::uint32_t, unsigned, unsigned>> losses;
};

}  // namespace

TEST_CASE("sleep transistors: falls are at once, rises take the latency of where they start") {
  SleepTransistors c;
  c.wake_sleep = 3;
  c.wake_off = 7;
  Bench b(c);
  CHECK(b.control.ready(Row(0)) == Cycle(0));
  b.wait(10);
  CHECK(b.control.vote(0, Row(0), PowerState::sleep) == protocol::never);
  CHECK(b.control.state(Row(0), 0) == PowerState::sleep);
  CHECK(b.losses.empty());
  CHECK(b.control.vote(0, Row(1), PowerState::off) == protocol::never);
  REQUIRE(b.losses.size() == 1);
  CHECK(b.losses[0] == std::make_tuple(1u, 0u, 1024u));
  b.wait(5);
  CHECK(b.control.vote(0, Row(0), PowerState::on) == Cycle(18));
  CHECK(b.control.vote(0, Row(1), PowerState::on) == Cycle(22));
  CHECK(b.control.vote(0, Row(1), PowerState::on) == Cycle(22));  // said twice, meant once
  b.wait(100);
  CHECK(b.control.ready(Row(1)) == Cycle(22));
  // From sleep to off: the value is gone, and the way back is the longer one.
  b.control.vote(0, Row(0), PowerState::sleep);
  b.control.vote(0, Row(0), PowerState::off);
  CHECK(b.losses.size() == 2);
  CHECK(b.control.vote(0, Row(0), PowerState::on) == Cycle(115 + 7));
  CHECK(b.control.wakeups(PowerState::sleep) == 1);
  CHECK(b.control.wakeups(PowerState::off) == 2);
}

TEST_CASE("sleep transistors: a row is in the lowest state that a voter asks for") {
  Bench b({}, 4, 3);
  const auto state = [&] { return b.control.state(Row(2), 0); };
  b.control.vote(0, Row(2), PowerState::sleep);
  CHECK(state() == PowerState::sleep);
  b.control.vote(1, Row(2), PowerState::off);
  CHECK(state() == PowerState::off);
  CHECK(b.control.vote(0, Row(2), PowerState::on) == protocol::never);  // the other still says off
  CHECK(b.control.wakeups(PowerState::off) == 0);
  b.control.vote(2, Row(2), PowerState::sleep);
  CHECK(b.control.vote(1, Row(2), PowerState::on) == protocol::never);
  CHECK(state() == PowerState::sleep);
  CHECK(b.control.vote(2, Row(2), PowerState::on) != protocol::never);
  CHECK(state() == PowerState::on);
  CHECK(b.control.state(Row(1), 0) == PowerState::on);
  CHECK(b.control.vote_of(0, Row(2)) == PowerState::on);
}

TEST_CASE("sleep transistors: as many rows begin to wake in a cycle as may") {
  SleepTransistors c;
  c.wakes_per_cycle = 2;
  c.wake_off = 10;
  Bench b(c);
  for (std::uint32_t r = 0; r < 5; ++r) b.control.vote(0, Row(r), PowerState::off);
  b.wait(4);
  std::vector<std::uint64_t> ready;
  for (std::uint32_t r = 0; r < 5; ++r) ready.push_back(b.control.vote(0, Row(r), PowerState::on).value());
  CHECK(ready == std::vector<std::uint64_t>{14, 14, 15, 15, 16});
}

TEST_CASE("sleep transistors: unused rows are off, and a window is on while its warp lives") {
  Bench b({}, 8, 0);
  models::UnusedRows unused(b.control, models::UnusedRowsOff::always);
  b.control.rows_started(8, 32);
  unused.rows_started(8, 32);
  CHECK(b.losses.size() == 8);
  const models::RegisterWindow window{3, 0, 2};  // R0 and R1 in rows 3 and 4, R2 in row 2
  unused.window_taken(protocol::WarpSlot(0), window, 3);
  CHECK(b.control.state(Row(3), 0) == PowerState::on);
  CHECK(b.control.state(Row(4), 0) == PowerState::on);
  CHECK(b.control.state(Row(2), 0) == PowerState::on);
  CHECK(b.control.state(Row(5), 0) == PowerState::off);
  unused.window_left(protocol::WarpSlot(0), window, 3);
  CHECK(b.control.state(Row(3), 0) == PowerState::off);
  CHECK(b.control.state(Row(4), 0) == PowerState::off);
  CHECK(b.control.state(Row(2), 0) == PowerState::off);
}

namespace {

models::RegisterWindow at(std::uint32_t base) { return {base, base, 256}; }

std::vector<Row> rows_from(std::uint32_t first, std::uint32_t last) {
  std::vector<Row> rows;
  for (std::uint32_t r = first; r < last; ++r) rows.emplace_back(r);
  return rows;
}

/// A digit per row: 1 for on.
std::string powered(const SleepTransistorController& control, std::uint32_t rows) {
  std::string states;
  for (std::uint32_t r = 0; r < rows; ++r) states += control.state(Row(r), 0) == PowerState::on ? '1' : '0';
  return states;
}

}  // namespace

TEST_CASE("unused rows: for the kernel, those of no possible warp are off and a row between two warps is on") {
  Bench b({}, 8, 0);
  models::UnusedRows unused(b.control, models::UnusedRowsOff::kernel);
  b.control.rows_started(8, 32);
  unused.rows_started(8, 32);
  CHECK(powered(b.control, 8) == "11111111");  // how many rows there can be is not known yet
  unused.rows_reserved(rows_from(0, 6));       // two windows of three rows
  CHECK(powered(b.control, 8) == "11111100");
  CHECK(b.losses.size() == 2);
  b.wait(10);
  unused.window_taken(protocol::WarpSlot(0), {0, 0, 256}, 3);
  unused.window_taken(protocol::WarpSlot(1), {4, 1, 2}, 3);  // rotated by one: rows 4, 5 and 3
  b.wait(10);
  unused.window_left(protocol::WarpSlot(0), {0, 0, 256}, 3);
  CHECK(powered(b.control, 8) == "11111100");
  b.wait(10);
  unused.window_taken(protocol::WarpSlot(0), {1, ~std::uint32_t{0} - 1, 2}, 3);
  b.wait(10);
  CHECK(powered(b.control, 8) == "11111100");
  CHECK(b.losses.size() == 2);
  CHECK(b.control.wakeups(PowerState::off) == 0);
  CHECK(b.control.row_cycles(PowerState::off) == 2 * 40);
  CHECK(b.control.row_cycles(PowerState::on) == 6 * 40);
}

TEST_CASE("unused rows: where windows go round, as many are off as before, and the longest free falls for the taken") {
  Bench b({}, 16, 0);
  // Two slices of four windows of two rows, of which warps can have two each.
  models::UnusedRows unused(b.control, models::UnusedRowsOff::kernel, 2);
  b.control.rows_started(16, 32);
  unused.rows_started(16, 32);
  std::vector<Row> rows = rows_from(0, 4);
  for (const Row r : rows_from(8, 12)) rows.push_back(r);
  unused.rows_reserved(rows);
  CHECK(powered(b.control, 16) == "1111000011110000");
  unused.window_taken(protocol::WarpSlot(0), at(0), 2);
  unused.window_taken(protocol::WarpSlot(1), at(8), 2);
  unused.window_taken(protocol::WarpSlot(2), at(2), 2);
  b.wait(5);
  unused.window_left(protocol::WarpSlot(2), at(2), 2);
  b.wait(5);
  unused.window_left(protocol::WarpSlot(0), at(0), 2);
  CHECK(powered(b.control, 16) == "1111000011110000");
  b.wait(10);
  unused.window_taken(protocol::WarpSlot(0), at(4), 2);  // the second window has been free for longer
  CHECK(powered(b.control, 16) == "1100110011110000");
  b.wait(10);
  unused.window_taken(protocol::WarpSlot(2), at(6), 2);
  CHECK(powered(b.control, 16) == "0000111111110000");
  // In the other slice there is a free window, which is not this one's business; it is taken as it is.
  unused.window_left(protocol::WarpSlot(1), at(8), 2);
  unused.window_taken(protocol::WarpSlot(1), at(10), 2);
  CHECK(powered(b.control, 16) == "0000111111110000");
  b.wait(10);
  CHECK(b.control.wakeups(PowerState::off) == 4);
  CHECK(b.control.row_cycles(PowerState::off) == 8 * 40);
  // Another launch with other windows begins anew.
  b.control.rows_started(16, 32);
  unused.rows_started(16, 32);
  unused.rows_reserved(rows_from(0, 16));
  CHECK(powered(b.control, 16) == "1111111111111111");
  CHECK(b.control.wakeups(PowerState::off) == 4);
}

TEST_CASE("unused rows: a window of which a part is on loses no row of its own") {
  Bench b({}, 6, 0);
  models::UnusedRows unused(b.control, models::UnusedRowsOff::kernel);
  b.control.rows_started(6, 32);
  unused.rows_started(6, 32);
  unused.rows_reserved(rows_from(1, 4));
  CHECK(powered(b.control, 6) == "011100");
  unused.window_taken(protocol::WarpSlot(0), at(3), 3);
  CHECK(powered(b.control, 6) == "000111");
}

TEST_CASE("sleep transistors: random votes on segments, against an account kept cycle by cycle") {
  SleepTransistors c;
  c.segments = {32, 280, 528, 1024};
  c.wake_sleep = 2;
  c.wake_off = 5;
  constexpr std::uint32_t rows = 6;
  constexpr unsigned voters = 3, segments = 4;
  const unsigned width[segments] = {32, 248, 248, 496};
  Bench b(c, rows, voters);
  std::mt19937_64 random(7);
  int wish[voters][rows][segments];
  for (auto& v : wish) {
    for (auto& r : v) std::fill(std::begin(r), std::end(r), 2);
  }
  double bit_cycles[3] = {};
  std::uint64_t woken[3] = {}, bits_woken[3] = {};
  const auto state = [&](std::uint32_t row, unsigned s) {
    return std::min({wish[0][row][s], wish[1][row][s], wish[2][row][s]});
  };
  std::vector<std::uint64_t> ready(rows, 0);
  for (unsigned step = 0; step < 20000; ++step) {
    CAPTURE(step);
    for (unsigned n = random() % 3; n != 0; --n) {
      const auto row = static_cast<std::uint32_t>(random() % rows);
      const auto voter = static_cast<unsigned>(random() % voters);
      const int to = static_cast<int>(random() % 3);
      const auto mask = static_cast<models::SegmentMask>(random() % 3 == 0 ? models::all_segments : random() % 16);
      int before[segments];
      for (unsigned s = 0; s < segments; ++s) {
        before[s] = state(row, s);
        if ((mask >> s) & 1) wish[voter][row][s] = to;
      }
      bool from_sleep = false, from_off = false, changed = false;
      std::vector<std::pair<unsigned, unsigned>> gone;
      unsigned first = 0;
      for (unsigned s = 0; s < segments; ++s) {
        const int after = state(row, s);
        changed = changed || after != before[s];
        from_sleep = from_sleep || (before[s] == 1 && after == 2);
        from_off = from_off || (before[s] == 0 && after > 0);
        if (before[s] == 1 && after == 2) bits_woken[1] += width[s];
        if (before[s] == 0 && after > 0) bits_woken[0] += width[s];
        if (before[s] > 0 && after == 0) gone.emplace_back(first, first + width[s]);
        first += width[s];
      }
      woken[1] += from_sleep;
      woken[0] += from_off;
      b.losses.clear();
      const Cycle answer = b.control.vote(voter, Row(row), static_cast<PowerState>(to), mask);
      REQUIRE(b.losses.size() == gone.size());
      for (std::size_t i = 0; i < gone.size(); ++i) {
        REQUIRE(b.losses[i] == std::make_tuple(row, gone[i].first, gone[i].second));
      }
      bool sleeps = false, on = false;
      for (unsigned s = 0; s < segments; ++s) {
        REQUIRE(static_cast<int>(b.control.state(Row(row), s)) == state(row, s));
        sleeps = sleeps || state(row, s) == 1;
        on = on || state(row, s) == 2;
      }
      if (from_sleep) ready[row] = std::max(ready[row], b.now() + 2);
      if (from_off) ready[row] = std::max(ready[row], b.now() + 5);
      if (changed && (sleeps || !on)) ready[row] = b.now();  // it may be accessed later only by waking again
      if (sleeps || !on) {
        REQUIRE(answer == protocol::never);
      } else {
        REQUIRE(std::max(answer.value(), b.now()) == std::max(ready[row], b.now()));
      }
    }
    for (std::uint32_t row = 0; row < rows; ++row) {
      for (unsigned s = 0; s < segments; ++s) bit_cycles[state(row, s)] += width[s];
    }
    b.wait(1);
    if (step % 97 == 0) {
      for (int s = 0; s < 3; ++s) {
        REQUIRE(b.control.row_cycles(static_cast<PowerState>(s)) == Approx(bit_cycles[s] / 1024));
      }
    }
  }
  CHECK(b.control.wakeups(PowerState::sleep) == woken[1]);
  CHECK(b.control.wakeups(PowerState::off) == woken[0]);
  // What waking costs is counted in bits.
  support::StatGroup group("sleep_transistors");
  b.control.register_stats(group);
  for (const support::Stat& stat : group.stats()) {
    if (stat.name == "bits_woken_sleep") CHECK(*stat.counter == bits_woken[1]);
    if (stat.name == "bits_woken_off") CHECK(*stat.counter == bits_woken[0]);
  }
}

TEST_CASE("sleep transistors: leakages that are none are refused") {
  SleepTransistors c;
  c.off_leakage = 0.5;
  CHECK_THROWS_WITH(c.validate(), Catch::Contains("sleep_transistors.off_leakage") && Catch::Contains("exceeds"));
  c.off_leakage = 0;
  c.sleep_leakage = 1.5;
  CHECK_THROWS_WITH(c.validate(), Catch::Contains("sleep_transistors.sleep_leakage = 1.5"));
}
