// SPDX-License-Identifier: Apache-2.0
//
// The value signature buffer (WIR section V-A): maps the hash of a value to a physical register that may hold it.
// Directly indexed by the hash's low bits; a hit has to be verified, because two values can have the same hash.
#pragma once

#include <regatta/wir/physical_register.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace regatta::models::wir {

class VsbEntries {
 public:
  /// 0 to 65535 entries (the paper: 256; 0: every value gets its own register).
  explicit VsbEntries(unsigned entries) : entries_(entries), mask_((entries & (entries - 1)) == 0 ? entries - 1 : 0) {}

  struct Entry {
    bool valid = false;
    std::uint32_t hash = 0;
    PhysicalRegister reg = no_register;
  };
  /// The register entered for the hash; no_register if there is none.
  PhysicalRegister find(std::uint32_t hash) const {
    if (entries_.empty()) return no_register;
    const Entry& e = entries_[index(hash)];
    return e.valid && e.hash == hash ? e.reg : no_register;
  }
  /// Enters `reg` for the hash and returns the register that it replaces, together with the buffer's reference to it;
  /// no_register if there was none. With 0 entries nothing is stored: `reg` itself is returned.
  PhysicalRegister insert(std::uint32_t hash, PhysicalRegister reg) {
    if (entries_.empty()) return reg;
    Entry& e = entries_[index(hash)];
    const PhysicalRegister before = e.valid ? e.reg : no_register;
    e = Entry{true, hash, reg};
    return before;
  }
  /// Drops the hash's entry, whatever it holds (low-register mode, a miss), or entry `which` modulo the entries.
  PhysicalRegister evict(std::uint32_t hash) { return entries_.empty() ? no_register : drop(entries_[index(hash)]); }
  PhysicalRegister evict_entry(std::size_t which) {
    return entries_.empty() ? no_register : drop(entries_[which % entries_.size()]);
  }
  /// Drops everything; `give_up(reg)` for each register.
  template <class F>
  void clear(F&& give_up) {
    for (Entry& e : entries_) {
      if (const PhysicalRegister reg = drop(e); reg != no_register) give_up(reg);
    }
  }
  /// Drops the valid entry with the lowest number; no_register if there is none.
  PhysicalRegister drop_first() {
    const auto first = std::find_if(entries_.begin(), entries_.end(), [](const Entry& e) { return e.valid; });
    return first == entries_.end() ? no_register : drop(*first);
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::size_t index(std::uint32_t hash) const {
    return __builtin_expect(mask_ != 0, 1) ? hash & mask_ : hash % entries_.size();
  }
  static PhysicalRegister drop(Entry& e) {
    const PhysicalRegister reg = e.valid ? e.reg : no_register;
    e = Entry{};
    return reg;
  }
  std::vector<Entry> entries_;
  std::uint32_t mask_;  ///< of an index that is the hash's low bits; 0: it is not
};

}  // namespace regatta::models::wir
