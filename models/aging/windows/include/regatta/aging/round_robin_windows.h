// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/baseline/windows.h>

#include <cstdint>
#include <vector>

namespace regatta::models {

/// ARGO's allocation (aging-aware register file, section 5.3): a slice has as many windows as fit, more than there are
/// warps for when a kernel's registers are few, and a warp takes the next free window in turn. So every window is
/// unused, and can be switched off, for its share of the time. What is left of a slice beyond the last whole window
/// stays unused.
class RoundRobinWindows : public WindowPolicy {
 public:
  /// `slices`: equal parts of the file, to which warps are dealt by their slot; a warp's window lies in its slice.
  explicit RoundRobinWindows(unsigned slices = 1);

  std::string name() const override { return "round_robin"; }
  void kernel_started(std::uint32_t rows, unsigned registers) override;
  std::optional<RegisterWindow> first_window(protocol::WarpSlot warp) const override;
  RegisterWindow assign(protocol::WarpSlot warp) override;
  void release(protocol::WarpSlot warp) override;

  /// Whole windows of a slice in this launch.
  unsigned windows_per_slice() const { return windows_; }

 private:
  struct Slice {
    std::vector<bool> taken;  ///< by window
    unsigned next = 0;        ///< the pointer: the window to be looked at first
  };
  std::vector<Slice> slices_;
  std::vector<std::uint32_t> window_of_;  ///< by warp slot
  std::uint32_t slice_rows_ = 0;
  unsigned registers_ = 0;
  unsigned windows_ = 0;
};

}  // namespace regatta::models
