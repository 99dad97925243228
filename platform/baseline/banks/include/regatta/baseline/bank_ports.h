// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/baseline/register_file_config.h>
#include <regatta/support/stats.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace regatta::models {

/// The ports of all banks. An access takes the first slot left free by earlier accesses, so its finishing time is known
/// when it arrives: the slot of a read follows its arbitration, the write of a move follows its read, and other
/// accesses may go before them. Counts accesses and their waiting times.
class BankPorts {
 public:
  explicit BankPorts(const RegisterFileConfig& config);

  unsigned banks() const { return static_cast<unsigned>(banks_.size()); }
  /// Takes the first free slot of a port of the bank from cycle `at` on; returns the cycle in which the access is done.
  /// Several times per instruction: a call would cost as much as the work.
  [[gnu::always_inline]] std::uint64_t schedule(bool write, unsigned bank, std::uint64_t at) {
    Bank& b = banks_[bank];
    const std::uint64_t slot =
        write && !shared_port_ ? take(b.write, at) : take(b.read, at << read_shift_) >> read_shift_;
    if (slot != at) waited(write, slot - at);
    return slot + latency_;
  }
  /// First cycle from which on nothing is reserved for a read (a write).
  std::uint64_t read_free(unsigned bank) const { return banks_[bank].read.free >> read_shift_; }
  std::uint64_t write_free(unsigned bank) const { return for_writes(bank).free; }
  /// The slot of a write that arrives in cycle `at`.
  std::uint64_t write_slot(unsigned bank, std::uint64_t at) const {
    const Slots& s = for_writes(bank);
    if (at >= s.free) return at;
    const std::uint64_t gap = first_gap(s, at);
    return gap != no_gap ? gap : s.free;
  }

  void accessed(bool write) { ++(write ? writes_ : reads_); }
  /// An access was served `cycles` (at least 1) later than possible.
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
  /// Slots of a port, one per cycle; n equal ports have n consecutive slots per cycle.
  struct Slots {
    std::uint64_t free = 0;  ///< the first slot behind all taken ones
    /// Free slots before it, as far as they are remembered: bit i is slot gap_end - 64 + i.
    std::uint64_t gaps = 0;
    std::uint64_t gap_end = 0;
  };
  struct Bank {
    Slots read;   ///< also of a shared port
    Slots write;  ///< unused if the port is shared
  };
  static constexpr std::uint64_t no_gap = ~std::uint64_t{0};
  const Slots& for_writes(unsigned bank) const { return shared_port_ ? banks_[bank].read : banks_[bank].write; }
  [[gnu::always_inline]] static std::uint64_t take(Slots& s, std::uint64_t at) {
    if (at >= s.free) {  // behind all that are taken
      if (at != s.free) leave_gap(s, at);
      s.free = at + 1;
      return at;
    }
    const std::uint64_t gap = first_gap(s, at);
    if (gap == no_gap) return s.free++;
    s.gaps &= ~(std::uint64_t{1} << (gap + 64 - s.gap_end));
    return gap;
  }
  /// The first remembered free slot from `at` on.
  static std::uint64_t first_gap(const Slots& s, std::uint64_t at) {
    if (at >= s.gap_end) return no_gap;
    const std::uint64_t behind = s.gap_end - at;
    const std::uint64_t left = behind >= 64 ? s.gaps : s.gaps >> (64 - behind) << (64 - behind);
    return left != 0 ? s.gap_end - 64 + static_cast<unsigned>(__builtin_ctzll(left)) : no_gap;
  }
  /// Slots behind all taken ones and before `end` stay free; the last 64 of them are remembered, including past ones,
  /// which are never requested.
  static void leave_gap(Slots& s, std::uint64_t end) {
    const std::uint64_t older = end - s.gap_end;
    const std::uint64_t slots = std::min<std::uint64_t>(64, end - s.free);
    s.gaps = (older < 64 ? s.gaps >> older : 0) | ~std::uint64_t{0} << (64 - slots);
    s.gap_end = end;
  }
  std::vector<Bank> banks_;
  bool shared_port_;
  unsigned read_shift_;  ///< log2 of the read ports of a bank
  unsigned latency_;
  std::uint64_t reads_ = 0, writes_ = 0, read_conflicts_ = 0, write_conflicts_ = 0;
  std::uint64_t read_wait_ = 0, write_wait_ = 0, held_writes_ = 0;
};

}  // namespace regatta::models
