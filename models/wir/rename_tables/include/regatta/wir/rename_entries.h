// SPDX-License-Identifier: Apache-2.0
//
// Which physical register holds a logical one (WIR section V-B): a table per warp, an entry per logical register.
#pragma once

#include <regatta/baseline/register_mapping.h>
#include <regatta/wir/physical_register.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace regatta::models::wir {

/// An entry: 10-bit physical register, valid bit, pin bit (section V-D: the physical register is this logical one's
/// alone, and may be overwritten in part).
struct RenameEntry {
  PhysicalRegister reg = no_register;
  bool pinned = false;
  bool valid() const { return reg != no_register; }
};

/// Logical registers of equal value share a physical one: aliasing is the rule here, and values decide about it.
class RenameEntries final : public RegisterMapping {
 public:
  /// The physical register; none where nothing was written yet.
  std::optional<Row> place(protocol::WarpSlot warp, protocol::RegisterId reg) const override {
    if (reg.value() >= registers_ || (warp.value() + std::size_t{1}) * registers_ > entries_.size())
      return std::nullopt;
    const RenameEntry& e = at(warp, reg);
    return e.valid() ? std::make_optional(Row(e.reg.value())) : std::nullopt;
  }

  /// All entries invalid.
  void reset(unsigned warps, unsigned registers) {
    registers_ = registers;
    entries_.assign(std::size_t{warps} * registers, RenameEntry{});
  }
  RenameEntry& at(protocol::WarpSlot warp, protocol::RegisterId reg) {
    return entries_[std::size_t{warp.value()} * registers_ + reg.value()];
  }
  const RenameEntry& at(protocol::WarpSlot warp, protocol::RegisterId reg) const {
    return entries_[std::size_t{warp.value()} * registers_ + reg.value()];
  }
  /// The warp's entries, by logical register.
  const RenameEntry* of(protocol::WarpSlot warp) const {
    return entries_.data() + std::size_t{warp.value()} * registers_;
  }
  /// Invalidates a warp's entries; `give_up(reg)` is called for each that was valid.
  template <class F>
  void clear(protocol::WarpSlot warp, F&& give_up) {
    const auto first = entries_.begin() + static_cast<std::ptrdiff_t>(std::size_t{warp.value()} * registers_);
    std::for_each(first, first + static_cast<std::ptrdiff_t>(registers_), [&](RenameEntry& e) {
      if (e.valid()) give_up(e.reg);
      e = RenameEntry{};
    });
  }
  const std::vector<RenameEntry>& entries() const { return entries_; }

 private:
  std::size_t registers_ = 0;
  std::vector<RenameEntry> entries_;
};

}  // namespace regatta::models::wir
