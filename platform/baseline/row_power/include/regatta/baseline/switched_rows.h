// SPDX-License-Identifier: Apache-2.0
//
// Between a gate that votes on registers, a controller that switches rows, and a file that knows which row has which
// register: for every banked file, whether its registers have windows or are renamed.
#pragma once

#include <regatta/baseline/row_power.h>
#include <regatta/baseline/row_use.h>
#include <regatta/support/calendar.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::models {

/// A row is on if one of its registers votes on, or while a move accesses it. Otherwise it sleeps if one of its
/// registers votes for that. Otherwise, and with no register, it is off. A register without a
/// row may vote, and its next row starts with that vote: an allocated row wakes before its first write.
///
/// An access to a waking row is done when it could be accessed, plus the latency. A row that sleeps must not be
/// accessed by an instruction: a fault, reported with warp, register and row. Cells that were off give the complement
/// of what they held, until they are written: a value wrongly lost is a value mismatch. A move of registers wakes its
/// row.
///
/// The thesis (Jatala, chapter 4) has one register per row, from the start of a warp to its end; the rest is ours.
class SwitchedRows final : public sc_core::sc_module,
                           public RowUse,
                           public RegisterVotes,
                           public RowCells,
                           public RowAccounts,
                           public support::StatProvider {
 public:
  sc_core::sc_port<RowPower> power;             ///< the controller
  sc_core::sc_export<RowUse> use;               ///< of the file
  sc_core::sc_export<RegisterVotes> registers;  ///< of a gate
  sc_core::sc_export<RowCells> cells;           ///< what the controller tells

  /// `latency`: cycles of a bank access.
  SwitchedRows(const sc_core::sc_module_name& name, unsigned latency, support::ClockDomain& clock);

  /// Told of launches and operands, in this order; they outlive it. The controller is the first.
  void add_listener(RowListener& listener) { listeners_.push_back(&listener); }

  /// Rows stay on: no gate votes.
  void keep_on() { stays_on_ = true; }

  void rows_started(std::uint32_t rows, unsigned warp_size) override;
  void row_taken(protocol::WarpSlot warp, protocol::RegisterId reg, Row row) override;
  void row_freed(protocol::WarpSlot warp, protocol::RegisterId reg) override;
  std::uint64_t reach(const protocol::WarpAccess& access, Row row, bool write, std::uint64_t done) override;
  protocol::LaneMask lost(Row row) const override { return rows_[row.value()].lost; }
  void was_read(const protocol::WarpAccess& access, Row row, std::uint64_t done) override;
  void was_written(const protocol::WarpAccess& access, Row row, std::uint64_t done) override;
  void was_read_elsewhere(const protocol::WarpAccess& access, std::uint64_t done) override;

  protocol::Cycle vote(protocol::WarpSlot warp, protocol::RegisterId reg, PowerState state) override;
  void lost(Row row, unsigned from, unsigned to) override;

  std::uint64_t accesses() const override { return reads_ + elsewhere_reads_ + writes_; }
  double allocated_row_cycles() const override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  void end_of_elaboration() override;
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Register {
    std::uint32_t row = none;
    PowerState vote = PowerState::off;
  };
  struct RowState {
    std::uint16_t registers = 0, on = 0, asleep = 0;  ///< registers that it has, that vote so
    std::uint16_t moves = 0;                          ///< not done yet
    PowerState state = PowerState::off;
    protocol::LaneMask lost = 0;
  };
  Register& of(protocol::WarpSlot warp, protocol::RegisterId reg);
  static void count(RowState& row, PowerState vote, int change);
  void apply(std::uint32_t row);
  void account();
  std::uint64_t late(std::uint64_t ready, std::uint64_t done);
  std::uint64_t reach_by_move(Row row, std::uint64_t done);
  void end_moves();

  const unsigned latency_;
  support::ClockDomain& clock_;
  support::CycleClient client_;
  RowPower* power_ = nullptr;
  unsigned voter_ = 0;
  bool stays_on_ = false;
  std::vector<RowListener*> listeners_;
  std::vector<Register> registers_;  ///< 256 per warp slot
  std::vector<RowState> rows_;
  support::Calendar<std::uint32_t> ends_;  ///< of moves, by row
  protocol::LaneMask lanes_ = 0;           ///< of a row

  std::uint64_t allocated_ = 0, allocated_since_ = 0, allocated_row_cycles_ = 0;
  std::uint64_t reads_ = 0, elsewhere_reads_ = 0, writes_ = 0, late_accesses_ = 0, late_cycles_ = 0;
  std::uint64_t move_accesses_ = 0, reads_of_lost_ = 0, writes_lost_ = 0;
};

}  // namespace regatta::models
