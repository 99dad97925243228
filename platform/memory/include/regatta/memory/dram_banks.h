// SPDX-License-Identifier: Apache-2.0
//
// The banks of one DRAM channel: rows, command timing, scheduling. Plain C++, no sockets; time is counted in cycles of
// the command clock.
#pragma once

#include <regatta/memory/bounded_queue.h>
#include <regatta/memory/divisor.h>
#include <regatta/memory/memory_config.h>
#include <regatta/protocol/payload.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace regatta::memory {

/// A request as the channel sees it. `key` is private to the owner.
struct DramRequest {
  void* key = nullptr;
  std::uint64_t address = 0;
  std::uint64_t ready = 0;  ///< first command cycle in which it can be considered
  unsigned bytes = 0;
  bool write = false;
  protocol::TrafficCause cause = protocol::TrafficCause::data;  ///< counted by the owner
};

/// The location of an address in a channel: the numbered chunks of a partition fill its rows.
class DramMapping {
 public:
  explicit DramMapping(const MemorySystemConfig& config);
  struct Place {
    unsigned bank = 0;
    std::uint64_t row = 0;
  };
  Place operator()(std::uint64_t address) const {
    const std::uint64_t piece = map_.round(address);
    const std::uint64_t row = pieces_.quotient(piece);
    Place p;
    p.row = banks_.quotient(row);
    if (kind_ == Kind::row_column_bank) {
      p.bank = static_cast<unsigned>(banks_.remainder(piece));
    } else if (kind_ == Kind::row_bank_column) {
      p.bank = static_cast<unsigned>(banks_.remainder(row));
    } else {
      // Folded, so streams a power of two apart do not meet in one bank.
      const std::uint64_t fold = p.row ^ (p.row >> 3) ^ (p.row >> 7) ^ (p.row >> 12) ^ (p.row >> 17);
      p.bank = static_cast<unsigned>(banks_.remainder(row ^ fold));
    }
    return p;
  }

 private:
  enum class Kind : std::uint8_t { permuted, row_bank_column, row_column_bank };
  Kind kind_;
  PartitionMap map_;
  Divisor pieces_, banks_;
};

/// Rows stay open until another row of the bank is needed (open page). A precharge and the following activate are
/// decided together; the activate reserves its command slot ahead, because any command in between would have to wait
/// for it anyway. One command per cycle; a request's column command moves all its bytes, for as long as the bus needs.
///
/// The next command is the one that is possible first; of several, a column command before a row command, then the
/// command of the oldest request. In a bank, requests to the open row go before older ones to other rows (fr_fcfs),
/// unless `starvation_limit` younger ones have been served before the oldest request of the channel: then no other data
/// passes before it. fcfs is a limit of 0.
///
/// Refresh is not modelled.
class DramBanks {
 public:
  enum class Kind : std::uint8_t { precharge, activate, read, write };
  struct Command {
    Kind kind = Kind::read;
    unsigned bank = 0;
    std::uint64_t row = 0;
    std::uint64_t at = 0;          ///< command cycle
    std::uint64_t data_from = 0;   ///< column commands: the bus is used from here, rounded down,
    std::uint64_t data_until = 0;  ///< to here, rounded up
    DramRequest request;           ///< column commands: the request served
  };
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  explicit DramBanks(const MemorySystemConfig& config);

  std::size_t size() const { return size_; }
  /// Adds a request; `ready` must not descend. Returns the earliest cycle in which it could change the schedule; never
  /// if that is not before next().
  std::uint64_t add(const DramRequest& request);
  /// Leaves the row of `address` open, as if it had been accessed long ago. Only while nothing is queued.
  void warm(std::uint64_t address) {
    const DramMapping::Place place = mapping_(address);
    banks_[place.bank].row = place.row;
  }
  /// Issues the possible commands of cycles [begin, end) and calls issued(const Command&) for each; activates decided
  /// ahead are not in order of `at`. Requests that are ready by `begin` count. `reads`: false if reads have to wait for
  /// room for their answers.
  template <class F>
  void step(std::uint64_t begin, std::uint64_t end, bool reads, F&& issued);
  /// After step(): the next cycle with work, unless a request is added before.
  std::uint64_t next() const { return next_; }

  std::uint64_t row_hits = 0, row_misses = 0, row_conflicts = 0, activates = 0, precharges = 0, starved = 0;

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::uint64_t no_row = ~std::uint64_t{0};
  enum class Want : std::uint8_t { read, write, activate, precharge };
  struct Entry {
    DramRequest request;
    std::uint64_t row = 0;
    std::uint64_t sequence = 0;
    std::uint32_t bank = 0;
    std::uint32_t next = none;                   ///< in its bank, younger; or in the free list
    std::uint32_t older = none, younger = none;  ///< in the channel
    bool opened = false;                         ///< an activate was issued for it
    bool conflict = false;                       ///< and a precharge before
  };
  struct Bank {
    std::uint64_t row = no_row;
    std::uint64_t column_at = 0, precharge_at = 0, activate_at = 0;  ///< not before
    std::uint32_t first = none, last = none;
    std::uint32_t chosen = none;
    Want want = Want::read;
  };
  /// A command slot reserved ahead by an activate.
  bool taken(std::uint64_t at) const {
    if (at - slots_from_ >= 64 * (slot_mask_ + 1)) return false;  // nothing is taken that far ahead
    return (slots_[at / 64 & slot_mask_] >> (at % 64) & 1) != 0;
  }
  void take(std::uint64_t at) { slots_[at / 64 & slot_mask_] |= std::uint64_t{1} << (at % 64); }
  void forget_before(std::uint64_t at);
  std::uint64_t free_slot(std::uint64_t at) const {
    while (taken(at)) ++at;
    return at;
  }
  bool urgent() const { return oldest_ != none && passed_ >= limit_; }
  void admit(const DramRequest& request);
  void choose(Bank& bank);
  std::uint32_t pick(std::uint64_t begin, bool reads, std::uint64_t& at) const;
  void open(std::uint32_t bank, std::uint64_t at, Command& activate, bool& precharged);
  Command serve(std::uint32_t bank, std::uint64_t at);
  void remove(Bank& bank, std::uint32_t index);

  DramMapping mapping_;
  DramTiming timing_;
  unsigned turnaround_;
  std::uint64_t limit_;
  Bandwidth bandwidth_;
  std::vector<Bank> banks_;
  std::vector<std::uint64_t> busy_;  // banks with a request, a bit each
  std::vector<Entry> entries_;
  std::uint32_t free_ = none;
  std::uint32_t oldest_ = none, youngest_ = none;
  std::uint64_t passed_ = 0;  // younger requests served since oldest_ is the oldest
  std::uint64_t sequence_ = 0;
  BoundedQueue<DramRequest> arrivals_;
  std::size_t size_ = 0;  // with arrivals

  std::uint64_t activate_at_ = 0;             // of the channel, by rrd
  std::uint64_t read_at_ = 0, write_at_ = 0;  // by ccd, the data bus and its turnaround
  std::uint64_t bus_cycle_ = 0;               // the data bus is free from bus_cycle_ + bus_fraction_ / bandwidth_.bytes
  std::uint64_t bus_fraction_ = 0;
  std::vector<std::uint64_t> slots_;  // command cycles taken ahead, a bit each
  std::size_t slot_mask_ = 0;
  std::uint64_t slots_from_ = 0;  // bits of earlier cycles are clear
  std::uint64_t next_ = never;
};

template <class F>
void DramBanks::step(std::uint64_t begin, std::uint64_t end, bool reads, F&& issued) {
  forget_before(begin);
  while (arrivals_.ready(begin)) {
    admit(arrivals_.front());
    arrivals_.pop(begin);
  }
  for (;;) {
    std::uint64_t at = never;
    const std::uint32_t bank = pick(begin, reads, at);
    if (at >= end) {
      next_ = at;
      break;
    }
    begin = at;  // what this command changes counts from here on
    forget_before(begin);
    if (banks_[bank].want == Want::read || banks_[bank].want == Want::write) {
      issued(serve(bank, at));
    } else {
      Command precharge, activate;
      precharge.kind = Kind::precharge;
      precharge.bank = bank;
      precharge.row = banks_[bank].row;
      precharge.at = at;
      bool precharged = false;
      open(bank, at, activate, precharged);
      if (precharged) issued(precharge);
      issued(activate);
    }
  }
  if (!arrivals_.empty() && arrivals_.next() < next_) next_ = arrivals_.next();
}

}  // namespace regatta::memory
