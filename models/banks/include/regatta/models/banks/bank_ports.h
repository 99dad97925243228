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
      if (at >= b.read_free) {  // behind all that is taken
        if (!write) leave_gap(b, std::max(b.read_free, at - arbitration_), at);
        slot = at;
        b.read_free = at + 1;
      } else if (write && at < b.gap_end && first_gap(b, at) != no_gap) {
        slot = first_gap(b, at);
        b.gaps &= ~(std::uint64_t{1} << (slot + 64 - b.gap_end));
      } else {
        slot = b.read_free++;
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
    /// A shared port's free slots before read_free, which arbitration left: bit i is slot gap_end - 64 + i.
    std::uint64_t gaps = 0;
    std::uint64_t gap_end = 0;
  };
  static constexpr std::uint64_t no_gap = ~std::uint64_t{0};
  /// The first of the free slots from `at` on; `at` is before gap_end.
  static std::uint64_t first_gap(const Bank& b, std::uint64_t at) {
    const std::uint64_t behind = b.gap_end - at;
    const std::uint64_t left = behind >= 64 ? b.gaps : b.gaps >> (64 - behind) << (64 - behind);
    return left != 0 ? b.gap_end - 64 + static_cast<unsigned>(__builtin_ctzll(left)) : no_gap;
  }
  static std::uint64_t first_shared(const Bank& b, std::uint64_t at) {
    if (at >= b.read_free) return at;
    const std::uint64_t gap = at < b.gap_end ? first_gap(b, at) : no_gap;
    return gap != no_gap ? gap : b.read_free;
  }
  /// Slots from `begin` on to before `end`, behind all that are taken, stay free; 64 at most.
  static void leave_gap(Bank& b, std::uint64_t begin, std::uint64_t end) {
    if (begin == end) return;
    const std::uint64_t older = end - b.gap_end;
    b.gaps = (older < 64 ? b.gaps >> older : 0) | ~std::uint64_t{0} << (64 - (end - begin));
    b.gap_end = end;
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
