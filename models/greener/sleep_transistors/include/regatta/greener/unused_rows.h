// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/baseline/row_power.h>

#include <cstdint>
#include <vector>

namespace regatta::models {

/// When a row that holds no register of a warp is off.
enum class UnusedRowsOff : std::uint8_t {
  kernel,  ///< throughout the launch, as many rows as its warps cannot have at once
  always,  ///< whenever it belongs to no warp
};

/// Switches unused rows off.
///
/// `kernel` (aging-aware register file, sections 5.3 and 6.2: "switched off during the entire kernel execution"): as
/// many rows are on as the launch's resident warps can have at once, from its start to its end; a row between two warps
/// is on. With round-robin windows (ARGO), a warp may get rows that are off: they wake, and as many free rows of the
/// same slice are switched off instead, those that have been free longest first.
///
/// `always`: a row is off from the end of its warp to the start of the next one there.
///
/// A window is awake before its warp's first access: the wake-up hides behind the warp's start.
class UnusedRows : public RowListener {
 public:
  /// `slices`: equal parts of the file; a warp's window lies in one of them.
  UnusedRows(RowPower& power, UnusedRowsOff when, unsigned slices = 1)
      : power_(power), voter_(power.add_voter("unused_rows")), when_(when), slices_(slices) {}

  void rows_started(std::uint32_t rows, unsigned warp_size) override;
  void rows_reserved(const std::vector<Row>& rows) override;
  void window_taken(protocol::WarpSlot warp, const RegisterWindow& window, unsigned registers) override;
  void window_left(protocol::WarpSlot warp, const RegisterWindow& window, unsigned registers) override;

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  enum class Use : std::uint8_t { off, free, taken };  ///< free: on, and without a warp
  struct RowState {
    Use use = Use::off;
    std::uint32_t before = none, after = none;  ///< in the slice's list of free rows
  };
  struct FreeRows {
    std::uint32_t first = none, last = none;  ///< free longest, and shortest
  };
  FreeRows& free_rows(std::uint32_t row) { return free_[row / slice_rows_]; }
  static std::uint32_t row_of(const RegisterWindow& window, unsigned reg) {
    return window.row(protocol::RegisterId(static_cast<std::uint8_t>(reg))).value();
  }
  /// Not before it is known how many rows the launch can have.
  bool switches() const { return when_ == UnusedRowsOff::always || reserved_; }
  void append(std::uint32_t row);
  void remove(std::uint32_t row);
  void vote(std::uint32_t row, PowerState state) { power_.vote(voter_, Row(row), state); }

  RowPower& power_;
  unsigned voter_;
  UnusedRowsOff when_;
  unsigned slices_;
  bool reserved_ = false;
  std::uint32_t slice_rows_ = 1;
  std::vector<RowState> rows_;
  std::vector<FreeRows> free_;  ///< by slice
};

}  // namespace regatta::models
