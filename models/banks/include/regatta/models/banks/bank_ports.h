// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/models/banks/register_file_config.h>
#include <regatta/support/stats.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace regatta::models {

/// The ports of all banks. An access takes the first slot that those before it have left free, so when it is done is
/// known when it arrives: a read's slot lies behind its arbitration, and a write at a shared port may go before it.
/// Counts accesses and what they waited for.
class BankPorts {
 public:
  explicit BankPorts(const RegisterFileConfig& config);

  unsigned banks() const { return static_cast<unsigned>(banks_.size()); }
  /// Takes the first free slot of a port of the bank from cycle `at` on; the cycle in which the access is done.
  std::uint64_t schedule(bool write, unsigned bank, std::uint64_t at) {
    Bank& b = banks_[bank];
    std::uint64_t slot = 0;
    if (shared_port_) {
      slot = write ? first_shared(b, at) : std::max(at, b.read_free);
      if (slot < b.read_free) {
        b.gaps &= ~(std::uint64_t{1} << (slot - b.gap_base));
      } else {
        if (!write) leave_gap(b, std::max(b.read_free, at - std::min<std::uint64_t>(at, arbitration_)), slot);
        b.read_free = slot + 1;
      }
    } else if (write) {
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
  /// First cycle from which on nothing is reserved for a read (a write).
  std::uint64_t read_free(unsigned bank) const { return banks_[bank].read_free >> read_shift_; }
  std::uint64_t write_free(unsigned bank) const {
    return shared_port_ ? banks_[bank].read_free : banks_[bank].write_free;
  }
  /// The slot that a write gets which comes in cycle `at`.
  std::uint64_t write_slot(unsigned bank, std::uint64_t at) const {
    const Bank& b = banks_[bank];
    return shared_port_ ? first_shared(b, at) : std::max(at, b.write_free);
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
  /// The first slot of a bank's ports behind all that are taken; with n equal ports there are n slots a cycle, numbered
  /// through.
  struct Bank {
    std::uint64_t read_free = 0;
    std::uint64_t write_free = 0;  ///< unused when a port is shared
    /// A shared port's free slots before read_free, which arbitration left: bit i is slot gap_base + i.
    std::uint64_t gaps = 0;
    std::uint64_t gap_base = 0;
  };
  static std::uint64_t first_shared(const Bank& b, std::uint64_t at) {
    if (at >= b.read_free) return at;
    if (b.gaps == 0) return b.read_free;
    const std::uint64_t skip = at > b.gap_base ? at - b.gap_base : 0;
    const std::uint64_t left = skip < 64 ? b.gaps >> skip << skip : 0;
    return left != 0 ? b.gap_base + static_cast<unsigned>(__builtin_ctzll(left)) : b.read_free;
  }
  /// Slots from `begin` on to before `end`, behind all that are taken, are free; 64 at most.
  static void leave_gap(Bank& b, std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    if (b.gaps == 0) {
      b.gap_base = begin;
    } else if (end - b.gap_base > 64) {  // older ones have gone by unused
      const std::uint64_t gone = end - 64 - b.gap_base;
      b.gaps = gone < 64 ? b.gaps >> gone : 0;
      b.gap_base += gone;
    }
    b.gaps |= ~std::uint64_t{0} >> (64 - (end - begin)) << (begin - b.gap_base);
  }
  std::vector<Bank> banks_;
  bool shared_port_;
  unsigned arbitration_;
  unsigned read_shift_;  ///< log2 of the read ports of a bank
  unsigned latency_;
  std::uint64_t reads_ = 0, writes_ = 0, read_conflicts_ = 0, write_conflicts_ = 0;
  std::uint64_t read_wait_ = 0, write_wait_ = 0, held_writes_ = 0;
};

}  // namespace regatta::models
