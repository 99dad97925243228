// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/baseline/windows.h>

namespace regatta::models {

/// The conventional windows: every warp slot has the same rows for as long as the launch lasts. Warps are dealt to the
/// file's slices by their slot, and lie in their slice one behind the other.
class FixedWindows : public WindowPolicy {
 public:
  /// `slices`: equal parts of the file (sm.sub_cores).
  explicit FixedWindows(unsigned slices = 1) : slices_(slices) {}

  std::string name() const override { return "fixed"; }
  void kernel_started(std::uint32_t rows, unsigned registers) override;
  std::optional<RegisterWindow> first_window(protocol::WarpSlot warp) const override;
  RegisterWindow assign(protocol::WarpSlot warp) override;

  /// The first row of a warp slot's window; throws std::logic_error when the slice has no room for it.
  std::uint32_t base(protocol::WarpSlot warp) const;

 private:
  unsigned slices_;
  std::uint32_t slice_rows_ = 0;
  unsigned registers_ = 0;
};

}  // namespace regatta::models
