// SPDX-License-Identifier: Apache-2.0
//
// A bank of an operand staging unit (RegLess, MICRO 2017, section 5.2). It has no clock and calls nobody: its user
// passes cycles, and decides what becomes of evicted values.
#pragma once

#include <regatta/protocol/warp_registers.h>
#include <regatta/regless/osu_bank_access.h>
#include <regatta/support/energy.h>
#include <regatta/support/small_divisor.h>
#include <regatta/support/stats.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <systemc>

namespace regatta::models {

/// Sizes of a bank. A bank of 0 lines, or of more than 65534, is refused, as is one of 0 banks or warps.
struct OsuBankConfig {
  unsigned lines = 16;        ///< section 6.2: 512 warp registers in 4 shards of 8 banks
  unsigned warps = 16;        ///< of its shard
  unsigned banks = 8;         ///< of its shard: the registers of a warp that are in this bank are so far apart
  unsigned line_bytes = 128;  ///< of a warp register
  /// Whoever owns the bank declares its energy with add_energy().
  bool owner_adds_energy = false;

  void validate() const;
};

class OsuBank final : public sc_core::sc_module, public OsuBankAccess, public support::StatProvider {
 public:
  OsuBank(const sc_core::sc_module_name& name, const OsuBankConfig& config);

  sc_core::sc_export<OsuBankAccess> access;

  /// The twin takes part in the operations on tags and lists: its results count. Before anything happens.
  void connect_twin(BankTwin& twin) { twin_ = &twin; }
  /// Tags and lists, for the report of a difference.
  std::string describe() const;
  /// "" or the first inconsistency in tags and lists. For tests.
  std::string check() const;
  /// Whether the line's tag leads to it.
  bool is_tagged(std::uint16_t line) const { return in_table(lines_[line].warp, lines_[line].reg) == line; }
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;
  /// Accesses of an array of `geometry`.
  void add_energy(support::EnergyGroup& group, support::ArrayGeometry geometry) const;
  LineUse& use(std::uint16_t line) { return lines_[line].use; }
  const LineUse& use(std::uint16_t line) const { return lines_[line].use; }
  /// The host will access the line's value.
  void prefetch(std::uint16_t line) const { values_.prefetch(line); }

  // OsuBankAccess. The class is final: a shard that calls its own banks makes no virtual calls.
  std::uint16_t look_up(unsigned warp, unsigned reg) const override {
    const std::uint16_t line = in_table(warp, reg);
    return __builtin_expect(twin_ == nullptr, 1) ? line : twin_look_up(warp, reg, line);
  }
  Allocation allocate(unsigned warp, unsigned reg, std::uint64_t now, bool may_dirty) override;
  void own(std::uint16_t line) override {
    if (__builtin_expect(twin_ != nullptr, 0)) twin_own(line);
    OsuLine& l = lines_[line];
    if (l.list != BankList::owned) list(l.list).remove(lines_.get(), line);
    l.list = BankList::owned;
  }
  BankList release(std::uint16_t line, bool erase, std::uint64_t at) override;
  void free(std::uint16_t line, std::uint64_t at) override;
  void forget(std::uint16_t line) override;
  bool mark(std::uint16_t line, bool dirty, bool defined, std::uint64_t at) override {
    OsuLine& l = lines_[line];
    l.is_dirty = dirty;
    l.is_defined = defined;
    return __builtin_expect(l.list != BankList::owned || twin_ != nullptr, 0) && mark_listed(line, at);
  }
  std::uint16_t lines() const override { return static_cast<std::uint16_t>(line_count_); }
  const OsuLine& line(std::uint16_t line) const override { return lines_[line]; }
  BankList next_list(std::uint64_t now, bool may_dirty) const override {
    if (is_available(BankList::free, now)) return BankList::free;
    if (is_available(BankList::clean, now)) return BankList::clean;
    return may_dirty && is_available(BankList::dirty, now) ? BankList::dirty : BankList::owned;
  }
  std::uint64_t next_available(std::uint64_t now) const override;
  std::uint32_t lines_listed() const override { return lines_listed_; }

  bool read(std::uint16_t line, void* to) const override {
    if (__builtin_expect(!lines_[line].is_defined, 0)) {
      unwritten(to);
      return false;
    }
    trace::copy_value(to, value_of(line), bytes_);
    return true;
  }
  const std::uint32_t* value(std::uint16_t line) const override { return value_of(line); }
  bool write(std::uint16_t line, const unsigned char* data, const unsigned char* enable, std::uint64_t at) override {
    if (enable == nullptr) {
      trace::copy_value(value_of(line), data, bytes_);
    } else {
      merge(line, data, enable);
    }
    return mark(line, true, true, at);
  }

  std::uint64_t book_read(std::uint64_t now, std::uint64_t at) override {
    const std::uint64_t slot = ports_.reserve_both(now, at);
    ++read_count_;
    ++tag_lookups_;
    if (slot != at) {
      ++read_conflicts_;
      read_wait_ += slot - at;
    }
    return slot;
  }
  std::uint64_t book_write(std::uint64_t now, std::uint64_t at) override {
    const std::uint64_t slot = ports_.reserve(SlotPorts::data, now, at);
    ++write_count_;
    if (slot != at) {
      ++write_conflicts_;
      write_wait_ += slot - at;
    }
    return slot;
  }
  void book_tag(std::uint64_t now, std::uint64_t at) override {
    ports_.reserve(SlotPorts::tag, now, at);
    ++tag_lookups_;
  }
  std::uint64_t backlog(std::uint64_t now, std::uint64_t at) override {
    return ports_.backlog(SlotPorts::data, now, at);
  }
  bool is_spare(SlotPorts::Port port, std::uint64_t now) override { return !ports_.used_before(port, now); }
  void use_spare_tag() override { ++tag_lookups_; }
  void fill(std::uint16_t line, const void* value, std::uint64_t now) override {
    ports_.reserve(SlotPorts::data, now, now - 1);
    ++fill_count_;
    if (value != nullptr) trace::copy_value(value_of(line), value, bytes_);
  }
  void read_out() override { ++readout_count_; }
  void book_read_out(std::uint64_t now, std::uint64_t at) override {
    ports_.reserve(SlotPorts::data, now, at);
    read_out();
  }
  void kernel_started(unsigned registers_per_warp) override;

 private:
  /// Lines in the order in which they came.
  class LineList {
   public:
    std::uint16_t first() const { return first_; }
    std::uint16_t last() const { return last_; }
    void push(OsuLine* lines, std::uint16_t line) {
      lines[line].previous = last_;
      lines[line].next = no_line;
      (last_ == no_line ? first_ : lines[last_].next) = line;
      last_ = line;
    }
    void remove(OsuLine* lines, std::uint16_t line) {
      const OsuLine& l = lines[line];
      (l.previous == no_line ? first_ : lines[l.previous].next) = l.next;
      (l.next == no_line ? last_ : lines[l.next].previous) = l.previous;
    }

   private:
    std::uint16_t first_ = no_line, last_ = no_line;
  };

  std::uint32_t* value_of(std::uint16_t line) { return words_ + std::size_t{line} * (bytes_ / sizeof *words_); }
  const std::uint32_t* value_of(std::uint16_t line) const {
    return words_ + std::size_t{line} * (bytes_ / sizeof *words_);
  }
  LineList& list(BankList list) { return lists_[static_cast<unsigned>(list)]; }
  const LineList& list(BankList list) const { return lists_[static_cast<unsigned>(list)]; }
  bool is_available(BankList of, std::uint64_t now) const {
    const std::uint16_t first = list(of).first();
    return first != no_line && lines_[first].available_at <= now;
  }
  std::size_t tags() const { return std::size_t{warps_} * rows_; }
  std::size_t place(unsigned warp, unsigned reg) const { return warp * rows_ + by_banks_.quotient(reg); }
  std::uint16_t in_table(unsigned warp, unsigned reg) const {
    return reg < registers_ ? table_[place(warp, reg)] : no_line;
  }
  void untag(std::uint16_t line) {
    const OsuLine& l = lines_[line];
    if (in_table(l.warp, l.reg) == line) table_[place(l.warp, l.reg)] = no_line;
  }
  // A list is in the order in which its lines may be taken. `last`: the line that was last in it.
  void put(std::uint16_t line, BankList to, std::uint64_t at, std::uint16_t last) {
    OsuLine& l = lines_[line];
    l.list = to;
    l.available_at = last == no_line ? at : std::max(at, lines_[last].available_at);
    ++lines_listed_;
    list(to).push(lines_.get(), line);
  }
  [[gnu::noinline]] bool mark_listed(std::uint16_t line, std::uint64_t at);
  [[gnu::noinline]] void merge(std::uint16_t line, const unsigned char* data, const unsigned char* enable);
  [[gnu::noinline, gnu::cold]] void unwritten(void* to) const;

  // The twin's part of each operation (osu_bank_twin.cpp): it gets the operation with the model's result, and what it
  // answers replaces that.
  BankResult ask(BankOperation::Kind kind, std::uint16_t line, std::uint8_t flags, const BankResult& of_model) const;
  [[gnu::noinline, gnu::cold]] std::uint16_t twin_look_up(unsigned warp, unsigned reg, std::uint16_t line) const;
  [[gnu::noinline, gnu::cold]] std::uint16_t twin_allocate(unsigned warp, unsigned reg, std::uint64_t now,
                                                           bool may_dirty, std::uint16_t line, BankList& from);
  [[gnu::noinline, gnu::cold]] void twin_own(std::uint16_t line);
  [[gnu::noinline, gnu::cold]] void twin_release(std::uint16_t line, bool erase, BankList& to, std::uint16_t& last);
  [[gnu::noinline, gnu::cold]] void twin_free(std::uint16_t line, std::uint16_t& last);
  [[gnu::noinline, gnu::cold]] void twin_forget(std::uint16_t line);
  [[gnu::noinline, gnu::cold]] void twin_mark(std::uint16_t line, BankList& to, std::uint16_t& last);
  [[gnu::noinline, gnu::cold]] void twin_is_wrong(const BankOperation& operation, const BankResult& result,
                                                  BankList list) const;

  // What every access touches lies in two lines of the host's cache: tags and lists in one, port and value in the
  // other.
  alignas(64) BankTwin* twin_ = nullptr;
  std::unique_ptr<OsuLine[]> lines_;
  std::unique_ptr<std::uint16_t[]> table_;  ///< line of a register: stands for the associative tag match
  support::SmallDivisor by_banks_;
  std::uint16_t registers_ = 0;  ///< per warp
  std::uint16_t rows_ = 0;       ///< of these, in this bank
  std::uint32_t lines_listed_ = 0;
  std::array<LineList, 4> lists_;  ///< by BankList; none for owned lines

  std::uint32_t* words_ = nullptr;  ///< the first line's value, in values_
  std::uint32_t bytes_;             ///< of a value
  std::uint32_t line_count_;
  std::uint64_t read_count_ = 0, write_count_ = 0, tag_lookups_ = 0;
  SlotPorts ports_;

  std::uint64_t read_conflicts_ = 0, write_conflicts_ = 0, read_wait_ = 0, write_wait_ = 0;
  std::uint64_t fill_count_ = 0, readout_count_ = 0;
  unsigned warps_;
  bool owner_adds_energy_;
  protocol::WarpRegisters values_;  ///< parallel to lines_
};

inline OsuBankAccess::Allocation OsuBank::allocate(unsigned warp, unsigned reg, std::uint64_t now, bool may_dirty) {
  BankList from = next_list(now, may_dirty);
  std::uint16_t line = from == BankList::owned ? no_line : list(from).first();
  if (__builtin_expect(twin_ != nullptr, 0)) line = twin_allocate(warp, reg, now, may_dirty, line, from);
  if (line == no_line) return {};
  OsuLine& l = lines_[line];
  const Allocation taken{line, l.warp, l.reg, from};
  list(l.list).remove(lines_.get(), line);
  if (from != BankList::free) untag(line);
  l.warp = static_cast<std::uint16_t>(warp);
  l.reg = static_cast<std::uint8_t>(reg);
  l.list = BankList::owned;
  l.is_dirty = false;
  l.is_defined = false;
  table_[place(warp, reg)] = line;
  return taken;
}

inline BankList OsuBank::release(std::uint16_t line, bool erase, std::uint64_t at) {
  const OsuLine& l = lines_[line];
  BankList to = erase || !l.is_defined ? BankList::free : l.is_dirty ? BankList::dirty : BankList::clean;
  std::uint16_t last = list(to).last();
  if (__builtin_expect(twin_ != nullptr, 0)) twin_release(line, erase, to, last);
  if (to == BankList::free) untag(line);
  put(line, to, at, last);
  return to;
}

}  // namespace regatta::models
