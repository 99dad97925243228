// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/baseline/fixed_windows.h>

#include <cstdint>
#include <vector>

namespace regatta::models {

/// Register address rotation (RAR; aging-aware register file, section 5.2): the conventional windows, in each of which
/// the registers begin one row further at every reassignment. Register r of a window of N rows that begin at b lies in
/// row b + (s + r) mod N, and s counts the window's reassignments modulo N. As in Figure 11 there is no modulo in the
/// address: two base registers, b + s and b + s - N, and a comparator that takes the second from r = N - s on.
///
/// s is a window's own, and starts at 0 with every launch, since N is the launch's.
class RotatingWindows : public WindowPolicy {
 public:
  /// `slices`: equal parts of the file (sm.sub_cores).
  explicit RotatingWindows(unsigned slices = 1) : windows_(slices) {}

  std::string name() const override { return "rotating"; }
  void kernel_started(std::uint32_t rows, unsigned registers) override;
  std::optional<RegisterWindow> first_window(protocol::WarpSlot warp) const override;
  RegisterWindow assign(protocol::WarpSlot warp) override;

 private:
  FixedWindows windows_;
  unsigned registers_ = 0;
  std::vector<std::uint16_t> shift_;  ///< s of the window's next warp, by slot
};

}  // namespace regatta::models
