// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/row_power.h>

namespace regatta::models {

/// Switches rows off that belong to no warp: those beyond the windows, and a window's from the end of its warp to the
/// start of the next (thesis, 4.3: unallocated registers; ARGO's unused windows). A window is awake before its warp's
/// first access: the wake-up hides behind the warp's start.
class UnusedRows : public protocol::RowListener {
 public:
  explicit UnusedRows(protocol::RowPower& power) : power_(power), voter_(power.add_voter("unused_rows")) {}

  void rows_started(std::uint32_t rows, unsigned warp_size) override;
  void window_taken(protocol::WarpSlot warp, const protocol::RegisterWindow& window, unsigned registers) override;
  void window_left(protocol::WarpSlot warp, const protocol::RegisterWindow& window, unsigned registers) override;

 private:
  protocol::RowPower& power_;
  unsigned voter_;
};

}  // namespace regatta::models
