// SPDX-License-Identifier: Apache-2.0
#include <regatta/baseline/switched_rows.h>

#include <regatta/support/energy.h>

#include <algorithm>
#include <string>

namespace regatta::models {

using protocol::Cycle;
using protocol::LaneMask;
using protocol::RegisterId;
using protocol::WarpAccess;
using protocol::WarpSlot;

namespace {
constexpr std::size_t registers_of_a_warp = 256;
}  // namespace

SwitchedRows::SwitchedRows(const sc_core::sc_module_name& name, unsigned latency, support::ClockDomain& clock)
    : sc_module(name),
      power("power"),
      use("use"),
      registers("registers"),
      cells("cells"),
      latency_(latency),
      clock_(clock),
      client_(
          clock, [](void* rows) { static_cast<SwitchedRows*>(rows)->end_moves(); }, this) {
  use.bind(*this);
  registers.bind(*this);
  cells.bind(*this);
}

void SwitchedRows::end_of_elaboration() {
  power_ = power.operator->();
  voter_ = power_->add_voter("registers");
}

void SwitchedRows::rows_started(std::uint32_t rows, unsigned warp_size) {
  account();
  allocated_ = 0;
  lanes_ = warp_size >= 64 ? ~LaneMask{0} : (LaneMask{1} << warp_size) - 1;
  registers_.clear();
  rows_.assign(rows, RowState{});
  listeners_.front()->rows_started(rows, warp_size);
  for (std::uint32_t r = 0; !stays_on_ && r < rows; ++r) power_->vote(voter_, Row(r), PowerState::off);
  for (std::size_t i = 1; i < listeners_.size(); ++i) listeners_[i]->rows_started(rows, warp_size);
}

SwitchedRows::Register& SwitchedRows::of(WarpSlot warp, RegisterId reg) {
  const std::size_t at = warp.value() * registers_of_a_warp + reg.value();
  if (at >= registers_.size()) registers_.resize((warp.value() + std::size_t{1}) * registers_of_a_warp);
  return registers_[at];
}

void SwitchedRows::count(RowState& row, PowerState vote, int change) {
  if (vote == PowerState::on) row.on = static_cast<std::uint16_t>(row.on + change);
  if (vote == PowerState::sleep) row.asleep = static_cast<std::uint16_t>(row.asleep + change);
}

void SwitchedRows::apply(std::uint32_t row) {
  if (stays_on_) return;
  RowState& r = rows_[row];
  const PowerState state = r.on != 0 || r.moves != 0 ? PowerState::on
                           : r.asleep != 0           ? PowerState::sleep
                                                     : PowerState::off;
  if (state == r.state) return;
  r.state = state;
  power_->vote(voter_, Row(row), state);
}

void SwitchedRows::row_taken(WarpSlot warp, RegisterId reg, Row row) {
  Register& r = of(warp, reg);
  r.row = row.value();
  RowState& state = rows_[r.row];
  if (state.registers++ == 0) {
    account();
    ++allocated_;
  }
  count(state, r.vote, 1);
  apply(r.row);
}

void SwitchedRows::row_freed(WarpSlot warp, RegisterId reg) {
  Register& r = of(warp, reg);
  if (r.row == none) return;
  RowState& state = rows_[r.row];
  if (--state.registers == 0) {
    account();
    --allocated_;
  }
  count(state, r.vote, -1);
  apply(r.row);
  r.row = none;
}

Cycle SwitchedRows::vote(WarpSlot warp, RegisterId reg, PowerState state) {
  Register& r = of(warp, reg);
  const PowerState before = r.vote;
  r.vote = state;
  if (r.row == none) return Cycle(clock_.now());
  if (state != before) {
    count(rows_[r.row], before, -1);
    count(rows_[r.row], state, 1);
    apply(r.row);
  }
  return power_->ready(Row(r.row));
}

std::uint64_t SwitchedRows::late(std::uint64_t ready, std::uint64_t done) {
  const std::uint64_t at = done - latency_;
  if (ready <= at) return done;
  ++late_accesses_;
  late_cycles_ += ready - at;
  return ready + latency_;
}

std::uint64_t SwitchedRows::reach(const WarpAccess& access, Row row, bool write, std::uint64_t done) {
  if (access.instruction == nullptr) return reach_by_move(row, done);
  const Cycle ready = power_->ready(row);
  if (ready != protocol::never) return late(ready.value(), done);
  // Nobody uses the operands of an instruction without active lanes.
  if (access.instruction->active != 0 && power_->state(row) == PowerState::sleep) {
    SC_REPORT_ERROR("regatta/switched_rows",
                    ("row " + std::to_string(row.value()) + ", register R" + std::to_string(access.reg.value()) +
                     " of warp " + std::to_string(access.warp.value()) + ", is " + (write ? "written" : "read") +
                     " in cycle " + std::to_string(clock_.now()) + " while it sleeps, expected it to be awake")
                        .c_str());
  }
  return done;
}

std::uint64_t SwitchedRows::reach_by_move(Row row, std::uint64_t done) {
  ++move_accesses_;
  ++rows_[row.value()].moves;
  apply(row.value());
  const std::uint64_t end = late(power_->ready(row).value(), done);
  ends_.schedule(end, row.value());
  client_.request(clock_.now(), end);
  return end;
}

void SwitchedRows::end_moves() {
  ends_.drain(clock_.now(), [this](std::uint32_t row) {
    if (row >= rows_.size() || rows_[row].moves == 0) return;  // of an earlier launch
    --rows_[row].moves;
    apply(row);
  });
  if (ends_.next() != support::no_cycle) client_.request(ends_.next());
}

void SwitchedRows::was_read(const WarpAccess& access, Row row, std::uint64_t done) {
  ++reads_;
  if (power_->ready(row) == protocol::never && rows_[row.value()].registers != 0) ++reads_of_lost_;
  for (RowListener* l : listeners_) l->was_read(access, row, Cycle(done));
}

void SwitchedRows::was_written(const WarpAccess& access, Row row, std::uint64_t done) {
  if (power_->ready(row) != protocol::never) {
    ++writes_;
    rows_[row.value()].lost &= ~access.lanes;
  } else {
    ++writes_lost_;
    rows_[row.value()].lost |= access.lanes;
  }
  for (RowListener* l : listeners_) l->was_written(access, row, Cycle(done));
}

void SwitchedRows::was_read_elsewhere(const WarpAccess& access, std::uint64_t done) {
  ++elsewhere_reads_;
  for (RowListener* l : listeners_) l->was_read(access, Row(none), Cycle(done));
}

void SwitchedRows::lost(Row row, unsigned /*from*/, unsigned /*to*/) { rows_[row.value()].lost = lanes_; }

void SwitchedRows::account() {
  const std::uint64_t now = clock_.now();
  allocated_row_cycles_ += allocated_ * (now - allocated_since_);
  allocated_since_ = now;
}

double SwitchedRows::allocated_row_cycles() const {
  return static_cast<double>(allocated_row_cycles_ + allocated_ * (clock_.now() - allocated_since_));
}

void SwitchedRows::register_stats(support::StatGroup& g) {
  g.counter("reads", reads_, "warp registers", "read from their row");
  g.counter("elsewhere_reads", elsewhere_reads_, "warp registers", "read without a row");
  g.counter("writes", writes_, "warp registers", "written to their row");
  g.counter("move_accesses", move_accesses_, "warp registers", "accessed by moves, for which their row woke");
  g.counter("late_accesses", late_accesses_, "warp registers", "that waited for their row to wake");
  g.counter("late_cycles", late_cycles_, "cycles", "that accesses waited for their row to wake, summed");
  g.counter("reads_of_lost", reads_of_lost_, "warp registers",
            "read from a row that is off, by instructions that no lane executes");
  g.counter("writes_lost", writes_lost_, "warp registers", "written to a row that is off");
  g.derived(
      "allocated_row_cycles", [this] { return allocated_row_cycles(); }, "row-cycles",
      "of rows that have a register of a resident warp");
}

void SwitchedRows::register_energy(support::EnergyGroup& g) {
  g.costs_nothing("its tables are the file's own, and the sleep transistors account for the rows");
}

}  // namespace regatta::models
