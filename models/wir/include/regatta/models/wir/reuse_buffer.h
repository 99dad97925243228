// SPDX-License-Identifier: Apache-2.0
//
// The reuse buffer (WIR section V-C, figure 9): results of warp instructions by opcode and physical source registers.
// Directly indexed by a hash of the tag, or fully associative for comparison.
#pragma once

#include <regatta/models/wir/physical_register.h>

#include <array>
#include <cstdint>
#include <vector>

namespace regatta::models::wir {

/// What an entry can name (figure 9): three operands and a result; with the option for register pairs, as many operands
/// as an instruction can have and two results.
inline constexpr unsigned reuse_operands = 3;
inline constexpr unsigned pair_operands = trace::max_source_registers;
inline constexpr unsigned pair_results = 2;

/// `count` physical registers, none to begin with.
template <unsigned count>
struct PhysicalRegisters : std::array<PhysicalRegister, count> {
  PhysicalRegisters() { this->fill(no_register); }
};
using ReuseResult = PhysicalRegisters<pair_results>;

/// What makes two instructions the same computation. 59 bits in the paper; here fields that do not matter are 0.
struct ReuseTag {
  /// Interned: operation, type, rounding, comparison, cache operator, space, address offset, immediates and
  /// constant-bank places are part of it.
  std::uint32_t opcode = 0;
  PhysicalRegisters<pair_operands> sources;
  std::uint16_t block = 0;    ///< loads: CTA slot + 1; 0 for all else
  std::uint8_t barriers = 0;  ///< loads: barriers that the CTA has passed

  friend bool operator==(const ReuseTag& a, const ReuseTag& b) {
    return a.opcode == b.opcode && a.sources == b.sources && a.block == b.block && a.barriers == b.barriers;
  }
};

/// Registers that an entry referred to and refers to no more: its sources and results.
struct Dropped {
  PhysicalRegisters<pair_operands + pair_results> regs;
};

class ReuseBuffer {
 public:
  /// 1 to 65535 entries (the paper: 32 to 512, 256 its default).
  ReuseBuffer(unsigned entries, bool fully_associative);

  enum class Found : std::uint8_t { nothing, pending, result };
  struct Lookup {
    Found found = Found::nothing;
    ReuseResult result;
  };
  /// Looks for the tag; counts as a use for replacement.
  Lookup find(const ReuseTag& tag);
  /// Takes an entry for an instruction that executes now: tag written, pending, owned by `owner` (not 0). What the
  /// entry referred to is dropped.
  Dropped claim(const ReuseTag& tag, std::uint64_t owner);
  /// The claimed entry's result is there. False, and nothing is kept, when the entry has another owner by now.
  bool complete(const ReuseTag& tag, std::uint64_t owner, const ReuseResult& result);
  /// The owner will bring no result: the entry goes, if it is still its own.
  Dropped abandon(const ReuseTag& tag, std::uint64_t owner);
  /// Enters tag and result at once (without pending-retry: at retirement).
  Dropped insert(const ReuseTag& tag, const ReuseResult& result);

  /// Drops the entry that the tag would take (low-register mode, a miss), or entry `which` modulo the entries. Pending
  /// entries are dropped like others: their owner finds another's entry, or none.
  Dropped evict(const ReuseTag& tag);
  Dropped evict_entry(std::size_t which) { return drop(entries_[which % entries_.size()]); }
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

  /// Rises with every tag that is entered: as long as it stays, what was not found is not there.
  std::uint64_t entered() const { return entered_; }

  struct Entry {
    bool valid = false;
    bool pending = false;
    ReuseTag tag;
    ReuseResult result;
    std::uint64_t owner = 0;
    std::uint64_t used = 0;
  };
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  /// The entry with this tag, or the one that it would replace.
  Entry& place(const ReuseTag& tag);
  static Dropped drop(Entry& e);

  std::vector<Entry> entries_;
  bool associative_;
  std::uint64_t uses_ = 0;
  std::uint64_t entered_ = 0;
};

}  // namespace regatta::models::wir
