// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/models/banks/register_file_config.h>
#include <regatta/support/stats.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace regatta::models {

/// The ports of all banks, each access served in order of arrival: so when it is done is known when it arrives.
/// Counts accesses and what they waited for.
class BankPorts {
 public:
  explicit BankPorts(const RegisterFileConfig& config);

  unsigned banks() const { return static_cast<unsigned>(banks_.size()); }
  /// Takes the first free slot of a port of the bank from cycle `at` on; the cycle in which the access is done.
  std::uint64_t schedule(bool write, unsigned bank, std::uint64_t at) {
    Bank& b = banks_[bank];
    std::uint64_t slot = 0;
    if (write && !shared_port_) {
      slot = std::max(at, b.write_free);
      b.write_free = slot + 1;
    } else {
      const std::uint64_t numbered = std::max(at << read_shift_, b.read_free);
      b.read_free = numbered + 1;
      slot = numbered >> read_shift_;
    }
    if (slot != at) waited(write, slot - at);
    return slot + latency_;
  }
  /// First cycle in which the bank has a free slot for a read (a write).
  std::uint64_t read_free(unsigned bank) const { return banks_[bank].read_free >> read_shift_; }
  std::uint64_t write_free(unsigned bank) const {
    return shared_port_ ? banks_[bank].read_free : banks_[bank].write_free;
  }

  void accessed(bool write) { ++(write ? writes_ : reads_); }
  /// An access was served `cycles` (at least 1) later than it could have been.
  void waited(bool write, std::uint64_t cycles) {
    ++(write ? write_conflicts_ : read_conflicts_);
    (write ? write_wait_ : read_wait_) += cycles;
  }
  void held() { ++held_writes_; }
  const std::uint64_t& reads() const { return reads_; }
  const std::uint64_t& writes() const { return writes_; }
  /// reads, writes, {read,write}_conflicts, {read,write}_wait, held_writes.
  void register_stats(support::StatGroup& group) const;

 private:
  /// The first free slot of a bank's ports; with n equal ports there are n slots a cycle, numbered through.
  struct Bank {
    std::uint64_t read_free = 0;
    std::uint64_t write_free = 0;  ///< unused when a port is shared
  };
  std::vector<Bank> banks_;
  bool shared_port_;
  unsigned read_shift_;  ///< log2 of the read ports of a bank
  unsigned latency_;
  std::uint64_t reads_ = 0, writes_ = 0, read_conflicts_ = 0, write_conflicts_ = 0;
  std::uint64_t read_wait_ = 0, write_wait_ = 0, held_writes_ = 0;
};

}  // namespace regatta::models
