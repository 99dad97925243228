// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/baseline/bank_mapping.h>
#include <regatta/baseline/row_use.h>
#include <regatta/protocol/ids.h>
#include <regatta/rfv/renaming_config.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::models {

class RowPool : public virtual sc_core::sc_interface {
 public:
  /// A launch begins, with warps of this size: all rows are free.
  virtual void begin(unsigned warp_size) = 0;
  /// Takes a row for the register of a warp. The warp's part of the file must have one.
  virtual std::uint32_t take(protocol::WarpSlot warp, protocol::RegisterId reg) = 0;
  virtual void give_back(std::uint32_t row) = 0;
  /// Takes a row for the whole launch. It holds nothing that is live until occupy() says so.
  virtual std::uint32_t reserve(protocol::WarpSlot warp, protocol::RegisterId reg) = 0;
  virtual void occupy(std::uint32_t reserved_row, bool live) = 0;
};

/// Which rows are free: a bit vector per bank (RFV, MICRO 2015). A register gets the lowest free row of the bank that
/// the machine's mapping gives it, so that renaming changes no bank conflict and live rows share few sub-arrays. If
/// that bank is full, it gets one of the bank of its part with the most free rows, the lowest of equals.
///
/// A sub-array is so many neighbouring rows of a bank. One without a live row is switched off; it wakes between the
/// allocation of a row, at issue, and the write of the result, so that its latency is hidden.
class RowAvailability final : public sc_core::sc_module, public RowPool, public support::StatProvider {
 public:
  sc_core::sc_export<RowPool> rows;
  RowUsePort row_use;  ///< bound where rows are switched one by one: then no sub-array is, and the switches leak

  RowAvailability(const sc_core::sc_module_name& name, const RenamingConfig& config, support::ClockDomain& clock);

  void begin(unsigned warp_size) override;
  std::uint32_t take(protocol::WarpSlot warp, protocol::RegisterId reg) override;
  void give_back(std::uint32_t row) override;
  std::uint32_t reserve(protocol::WarpSlot warp, protocol::RegisterId reg) override;
  void occupy(std::uint32_t row, bool live) override { set_live(row, live); }

  unsigned free_rows(unsigned bank) const { return free_rows_[bank]; }
  unsigned live_rows() const { return live_; }
  unsigned powered_rows() const { return powered_; }

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  std::uint32_t lowest(unsigned bank);
  unsigned bank_with_room(protocol::WarpSlot warp, protocol::RegisterId reg);
  void set_live(std::uint32_t row, bool live);
  void account();
  std::size_t subarray_of(std::uint32_t row) const {
    return std::size_t{row % banks_} * subarrays_ + row / banks_ / subarray_rows_;
  }
  unsigned rows_of(std::uint32_t row) const;
  [[noreturn, gnu::noinline, gnu::cold]] void complain(const std::string& what) const;

  support::ClockDomain& clock_;
  const BankMapping mapping_;
  const unsigned banks_, part_banks_, bank_rows_, subarray_rows_, subarrays_;  ///< sub-arrays of a bank
  const double gated_leakage_;
  const std::size_t words_;          ///< of a bank's vector
  std::vector<std::uint64_t> free_;  ///< by bank, its rows
  std::vector<unsigned> free_rows_;  ///< by bank
  std::vector<unsigned> live_in_;    ///< by sub-array: live rows
  unsigned live_ = 0, most_live_ = 0, powered_ = 0;
  unsigned row_bytes_ = 128;
  std::uint64_t since_ = 0;
  std::uint64_t live_cycles_ = 0, powered_cycles_ = 0, gated_cycles_ = 0;  ///< row-cycles
  std::uint64_t taken_ = 0, given_back_ = 0, other_bank_ = 0, wakeups_ = 0;
};

}  // namespace regatta::models
