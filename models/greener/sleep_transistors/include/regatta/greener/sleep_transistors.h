// SPDX-License-Identifier: Apache-2.0
//
// The sleep-transistor controller of a register file: the state of every row, the votes for it, the time at which a
// waking row can be accessed, and the leakage. Both kinds of schemes that switch rows use it: register power states
// (Jatala, thesis, chapter 4: GREENER, Sleep-Reg) and power gating of compressed or unused registers (Valero et al.:
// RC, WC, ARGO).
#pragma once

#include <regatta/baseline/row_power.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/config.h>
#include <regatta/support/stats.h>

#include <array>
#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models {

struct SleepTransistorConfig {
  unsigned wake_sleep = 1;       ///< cycles from sleep to on (thesis, 4.3)
  unsigned wake_off = 2;         ///< cycles from off to on (thesis, 4.3: twice that); 10 in the aging paper, 5.1.3
  unsigned wakes_per_cycle = 0;  ///< rows that may begin to wake in one cycle; 0: any number
  double sleep_leakage = 0.1;    ///< leakage of a sleeping row, as a fraction of a row that is on
  double off_leakage = 0;        ///< leakage of a row that is off, as a fraction of a row that is on
  std::string wake_off_energy = "wake_off";  ///< value of the energy table for a row of 32 lanes that was off
  /// The table's energies of Table 4.4, `wake_sleep` and `wake_off`, times this; no other source's.
  double wake_factor = 1;

  /// Knobs sleep_transistors.*; wake_off_energy and wake_factor are the scheme's.
  void declare(support::OptionSet& options);
  void validate() const;
};

/// The knobs, and the file that has the transistors.
struct SleepTransistors : SleepTransistorConfig {
  unsigned banks = 0;  ///< for its energy
  /// Highest bit + 1 of every segment of a row, rising, the last being the row's; empty: the row is one segment.
  std::vector<unsigned> segments;
};

/// Time is counted in bit-cycles, so that segments of any width add up; statistics are in row-cycles.
class SleepTransistorController : public sc_core::sc_module,
                                  public RowPower,
                                  public RowListener,
                                  public support::StatProvider {
 public:
  sc_core::sc_export<RowPower> votes;                                   ///< of its clients
  sc_core::sc_port<RowCells, 1, sc_core::SC_ZERO_OR_MORE_BOUND> cells;  ///< the file's; told of what is lost

  SleepTransistorController(const sc_core::sc_module_name& name, const SleepTransistors& config,
                            support::ClockDomain& clock);

  bool keeps_cycle_time() const override { return true; }
  unsigned add_voter(const std::string& name) override;
  protocol::Cycle vote(unsigned voter, Row row, PowerState state, SegmentMask segments = all_segments) override;
  PowerState vote_of(unsigned voter, Row row) const override;
  PowerState state(Row row, unsigned segment = 0) const override;
  protocol::Cycle ready(Row row) const override { return protocol::Cycle(rows_[row.value()].ready); }
  /// Told of every change of state.
  void add_observer(RowObserver& observer) { observers_.push_back(&observer); }

  void rows_started(std::uint32_t rows, unsigned warp_size) override;

  unsigned segment_count() const { return segment_count_; }
  /// Row-cycles in the state until now.
  double row_cycles(PowerState state) const;
  /// Rows of which a segment began to wake from sleep, or from off.
  std::uint64_t wakeups(PowerState from) const { return wakeups_[static_cast<unsigned>(from)]; }

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  void end_of_elaboration() override { cells_ = cells.size() != 0 ? cells[0] : nullptr; }
  using Mask = SegmentMask;
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  struct States {
    Mask on = all_segments;  ///< segments that are on
    Mask sleeping = 0;       ///< and those that sleep; the others are off
  };
  struct RowState {
    States now;
    std::uint64_t ready = 0;  ///< first cycle of access, or never
  };
  struct Voter {
    std::string name;
    std::vector<States> rows;
  };
  void advance();
  void lay_out(unsigned row_bits);
  std::uint64_t bits(Mask segments) const;
  void change(std::uint32_t row, States to);
  void tell_lost(std::uint32_t row, Mask segments);
  std::uint64_t start_waking(std::uint64_t now);
  States agreed(std::uint32_t row) const;

  SleepTransistors config_;
  support::ClockDomain& clock_;
  RowCells* cells_ = nullptr;
  std::vector<RowObserver*> observers_;
  std::vector<Voter> voters_;
  std::vector<RowState> rows_;
  unsigned segment_count_ = 1;
  Mask present_ = 1;  ///< a bit per segment that there is
  std::array<std::uint64_t, max_segments> segment_bits_{};
  std::uint64_t row_bits_ = 0;

  std::uint64_t since_ = 0;  ///< counted until this cycle
  std::array<std::uint64_t, power_state_count> bits_in_{};
  std::array<std::uint64_t, power_state_count> bit_cycles_{};
  std::array<std::uint64_t, power_state_count> wakeups_{};     ///< by the state before
  std::array<std::uint64_t, power_state_count> bits_woken_{};  ///< likewise
  std::uint64_t waking_cycle_ = 0;
  unsigned waking_count_ = 0;  ///< rows that begin to wake in it
  std::uint64_t falls_ = 0, delayed_wakes_ = 0;
};

}  // namespace regatta::models
