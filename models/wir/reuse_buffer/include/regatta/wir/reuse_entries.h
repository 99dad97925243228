// SPDX-License-Identifier: Apache-2.0
//
// The reuse buffer (WIR section V-C, figure 9): results of warp instructions by opcode and physical source registers.
// Directly indexed by a hash of the tag, or fully associative for comparison.
#pragma once

#include <regatta/wir/physical_register.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace regatta::models::wir {

/// The capacity of an entry (figure 9): three operands and a result; with the option for register pairs, as many
/// operands as an instruction can have, and two results.
inline constexpr unsigned reuse_operands = 3;
inline constexpr unsigned pair_operands = trace::max_plain_source_registers;
inline constexpr unsigned pair_results = 2;

/// `count` physical registers, none to begin with.
template <unsigned count>
struct PhysicalRegisters : std::array<PhysicalRegister, count> {
  PhysicalRegisters() { this->fill(no_register); }
};
using ReuseResult = PhysicalRegisters<pair_results>;

/// Two instructions with equal tags are the same computation. 59 bits in the paper; here unused fields are 0. Sources
/// come first in their array: the first no_register ends them.
struct ReuseTag {
  /// Any number that stands for one computation. Of a kernel (static_code()): operation, type, rounding, comparison,
  /// cache operator, space, address offset, immediates and constant-bank places are part of it.
  std::uint32_t opcode = 0;
  PhysicalRegisters<pair_operands> sources;
  std::uint16_t block = 0;    ///< loads: CTA slot + 1; 0 for all else
  std::uint8_t barriers = 0;  ///< loads: barriers that the CTA has passed
  std::uint8_t unused = 0;    ///< padding, so tags are compared bytewise without a branch

  friend bool operator==(const ReuseTag& a, const ReuseTag& b) {
    static_assert(sizeof(ReuseTag) == 20, "fields and nothing else");
    struct Words {
      std::uint64_t first, second;
      std::uint32_t third;
    };
    const auto words = [](const ReuseTag& tag) {
      const auto* const bytes = reinterpret_cast<const char*>(&tag);
      Words w{};
      std::memcpy(&w.first, bytes, sizeof w.first);
      std::memcpy(&w.second, bytes + sizeof w.first, sizeof w.second);
      std::memcpy(&w.third, bytes + 2 * sizeof w.first, sizeof w.third);
      return w;
    };
    const Words x = words(a), y = words(b);
    return ((x.first ^ y.first) | (x.second ^ y.second) | (x.third ^ y.third)) == 0;
  }
  /// XOR-fold of the whole tag (section V-C, which does not give the hash), mixed so that neighbouring register numbers
  /// spread.
  std::uint32_t fold() const {
    std::uint64_t h = opcode * std::uint64_t{0x9e3779b97f4a7c15};
    for (const PhysicalRegister r : sources) {
      if (r == no_register) break;
      h = (h ^ r.value()) * std::uint64_t{0xff51afd7ed558ccd};
    }
    h ^= std::uint64_t{block} << 40 ^ std::uint64_t{barriers} << 56;
    h ^= h >> 32;
    h ^= h >> 16;
    return static_cast<std::uint32_t>(h);
  }
};

/// Registers released by an entry: its sources and results.
struct Dropped {
  PhysicalRegisters<pair_operands> sources;
  ReuseResult results;

  /// `f(reg)` for each: they come first in their arrays.
  template <class F>
  void for_each(F&& f) const {
    for (unsigned i = 0; i < pair_operands && sources[i] != no_register; ++i) f(sources[i]);
    for (unsigned i = 0; i < pair_results && results[i] != no_register; ++i) f(results[i]);
  }
};

class ReuseEntries {
 public:
  /// Two per cache line of the host.
  struct alignas(32) Entry {
    ReuseTag tag;
    ReuseResult result;
    std::uint32_t owner = 0;
    bool valid = false;
    bool pending = false;
  };
  /// 1 to 65535 entries (the paper: 32 to 512, 256 its default).
  ReuseEntries(unsigned entries, bool fully_associative);

  enum class Found : std::uint8_t { nothing, pending, result };
  struct Lookup {
    Found found = Found::nothing;
    ReuseResult result;
  };
  // The index of a tag follows from its fold(), which an instruction needs several times and computes once.

  /// Searches for the tag; counts as a use for replacement.
  Lookup find(const ReuseTag& tag) { return find(tag, tag.fold()); }
  Lookup find(const ReuseTag& tag, std::uint32_t fold) {
    Entry& e = place(tag, fold);
    if (!e.valid || !(e.tag == tag)) return {};
    used(e);
    if (e.pending) return {Found::pending, {}};
    return {Found::result, e.result};
  }
  /// Whether find() would find an entry; does not count as a use.
  bool has(const ReuseTag& tag, std::uint32_t fold) {
    const Entry& e = place(tag, fold);
    return e.valid && e.tag == tag;
  }
  /// The entry with this tag, or the one that it would replace.
  const Entry& in_place_of(const ReuseTag& tag, std::uint32_t fold) { return place(tag, fold); }
  /// Prefetches the fold's entry on the host.
  void fetch_ahead(std::uint32_t fold) const { __builtin_prefetch(&entries_[fold & mask_]); }
  /// Claims an entry for an instruction that executes now: the tag is written, the entry is pending and owned by
  /// `owner` (not 0). The entry's previous references are dropped.
  Dropped claim(const ReuseTag& tag, std::uint32_t owner) {
    Dropped dropped = dropped_by(place(tag, tag.fold()));
    claim(tag, tag.fold(), owner, [](PhysicalRegister) {});
    return dropped;
  }
  /// The same; `give_up(reg)` for each register that is dropped.
  template <class F>
  void claim(const ReuseTag& tag, std::uint32_t fold, std::uint32_t owner, F&& give_up) {
    Entry& e = place(tag, fold);
    registers_of(e, give_up);
    e.valid = e.pending = true;
    e.tag = tag;
    e.result.fill(no_register);
    e.owner = owner;
    used(e);
    ++entered_;
  }
  /// Enters the result of a claimed entry. False, without effect, if the entry has another owner by now.
  bool complete(const ReuseTag& tag, std::uint32_t owner, const ReuseResult& result) {
    return complete(tag, tag.fold(), owner, result);
  }
  bool complete(const ReuseTag& tag, std::uint32_t fold, std::uint32_t owner, const ReuseResult& result);
  /// The owner will supply no result: removes the entry if it still belongs to it.
  Dropped abandon(const ReuseTag& tag, std::uint32_t owner);
  /// Enters tag and result at once (without pending-retry: at retirement).
  Dropped insert(const ReuseTag& tag, const ReuseResult& result);

  /// Drops the entry that the tag would take (low-register mode, a miss), or entry `which` modulo the entries. Pending
  /// entries are dropped like others: their owner then finds another's entry, or none. `give_up(reg)` is called for
  /// each register to which the entry referred.
  template <class F>
  void evict(const ReuseTag& tag, std::uint32_t fold, F&& give_up) {
    Entry& e = place(tag, fold);
    registers_of(e, give_up);
    clear(e);
  }
  template <class F>
  void evict_entry(std::size_t which, F&& give_up) {
    Entry& e = entries_[which % entries_.size()];
    registers_of(e, give_up);
    clear(e);
  }
  /// Drops every load's entry of a CTA slot (a CTA ended), or of all (`block` 0: a kernel ended).
  template <class F>
  void drop_loads(std::uint16_t block, F&& give_up) {
    for (Entry& e : entries_) {
      if (e.valid && e.tag.block != 0 && (block == 0 || e.tag.block == block)) give_up(drop(e));
    }
  }
  template <class F>
  void clear(F&& give_up) {
    for (Entry& e : entries_) {
      if (e.valid) give_up(drop(e));
    }
  }

  /// Rises with every tag entered: while it does not change, a tag that was not found is still absent.
  std::uint64_t entered() const { return entered_; }

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  /// The entry with this tag, or the entry that it would replace.
  Entry& place(const ReuseTag& tag, std::uint32_t fold) {
    if (__builtin_expect(mask_ != 0, 1)) return entries_[fold & mask_];
    return place_at_length(tag, fold);
  }
  Entry& place_at_length(const ReuseTag& tag, std::uint32_t fold);
  void used(const Entry& e) {
    if (__builtin_expect(associative_, 0)) used_[static_cast<std::size_t>(&e - entries_.data())] = ++uses_;
  }
  Dropped drop(Entry& e);
  static Dropped dropped_by(const Entry& e);
  /// `f(reg)` for each register that the entry refers to.
  template <class F>
  static void registers_of(const Entry& e, F&& f) {
    if (!e.valid) return;
    for (unsigned i = 0; i < pair_operands && e.tag.sources[i] != no_register; ++i) f(e.tag.sources[i]);
    for (unsigned i = 0; !e.pending && i < pair_results && e.result[i] != no_register; ++i) f(e.result[i]);
  }
  void clear(Entry& e) {
    if (__builtin_expect(associative_, 0)) used_[static_cast<std::size_t>(&e - entries_.data())] = 0;
    e = Entry{};
  }

  std::vector<Entry> entries_;
  std::vector<std::uint64_t> used_;  ///< associative: by entry, when it was used last; 0 for one that is free
  bool associative_;
  std::uint32_t mask_ = 0;  ///< the index's bits; 0 where it is no part of the fold
  std::uint64_t uses_ = 0;
  std::uint64_t entered_ = 0;
};

}  // namespace regatta::models::wir
