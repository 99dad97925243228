// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/baseline/register_mapping.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regatta::models {

/// A window of rows per warp (RegisterWindow: one range, or two with a register number that divides them).
///
/// Every row belongs to one warp, unless it was declared beforehand that two warps may name one row: alias(a, b), for
/// schemes in which warps share registers. A row belongs to two warps at most.
class WindowMapping final : public RegisterMapping {
 public:
  /// Empties the mapping for a launch: `rows` of the file, `registers` of a warp (at most 256).
  void start(std::uint32_t rows, unsigned registers);
  /// Warps `a` and `b` may name the same rows from now on, for as long as the launch lasts.
  void alias(protocol::WarpSlot a, protocol::WarpSlot b);
  /// Takes that back; the warps have no row in common by now.
  void unalias(protocol::WarpSlot a, protocol::WarpSlot b);

  /// The warp's registers lie in `window` from now on. Returns what is wrong with that, "" if nothing: the warp has a
  /// window, a row lies outside the file, a row is another warp's without alias(). Nothing is mapped then.
  [[nodiscard]] std::string map(protocol::WarpSlot warp, const RegisterWindow& window);
  /// The warp, which has a window, has this one instead. Moves no values. Errors as map(); the old window stays then.
  [[nodiscard]] std::string rebase(protocol::WarpSlot warp, const RegisterWindow& window);
  /// The warp, which has a window, has none any more.
  void unmap(protocol::WarpSlot warp);

  bool mapped(protocol::WarpSlot warp) const {
    return warp.value() < windows_.size() && windows_[warp.value()].base != nowhere;
  }
  /// Of a warp that has one.
  const RegisterWindow& window(protocol::WarpSlot warp) const { return windows_[warp.value()]; }
  unsigned registers() const { return registers_; }

  std::optional<Row> place(protocol::WarpSlot warp, protocol::RegisterId reg) const override {
    const std::uint32_t at = row(warp, reg);
    return at == no_row ? std::nullopt : std::make_optional(Row(at));
  }
  static constexpr std::uint32_t no_row = ~std::uint32_t{0};
  /// place() for an access path: the row, or no_row.
  std::uint32_t row(protocol::WarpSlot warp, protocol::RegisterId reg) const {
    if (__builtin_expect(static_cast<int>(warp.value() >= windows_.size() || reg.value() >= registers_), 0) != 0) {
      return no_row;
    }
    // Of a warp without window the sum lies beyond every file.
    const std::uint32_t at = windows_[warp.value()].row(reg).value();
    return __builtin_expect(static_cast<int>(at < rows_), 1) != 0 ? at : no_row;
  }

 private:
  static constexpr std::uint32_t nowhere = 0xffff'0000;
  static constexpr std::uint16_t nobody = 0xffff;
  struct Owners {
    std::uint16_t first = nobody, second = nobody;  ///< warp slots
  };

  bool may_alias(std::uint16_t a, std::uint16_t b) const;
  void claim(protocol::WarpSlot warp, const RegisterWindow& window);
  void give_up(protocol::WarpSlot warp, const RegisterWindow& window);
  /// What keeps the warp from having this window.
  std::string clash(protocol::WarpSlot warp, const RegisterWindow& window) const;

  std::uint32_t rows_ = 0;
  unsigned registers_ = 0;
  std::vector<RegisterWindow> windows_;  ///< by warp slot
  std::vector<Owners> owners_;           ///< by row
  std::vector<std::pair<std::uint16_t, std::uint16_t>> aliases_;
};

}  // namespace regatta::models
