// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/baseline/fixed_windows.h>
#include <regatta/sharing/sharing.h>

#include <optional>
#include <string>
#include <vector>

namespace regatta::models {

/// The windows of a register file in which pairs of warps share registers (Jatala, thesis, figure 2.4). In every slice:
///
///   warps of CTAs that share nothing | per pair of warps: own registers of side 0, of side 1, shared registers
///
/// In a launch without pairs, windows are those of the conventional file.
class SharedWindows final : public WindowPolicy {
 public:
  /// `slices`: equal parts of the rows; a warp's registers are in the slice of its slot modulo `slices`.
  explicit SharedWindows(unsigned slices) : slices_(slices), fixed_(slices) {}

  /// Before the first launch.
  void connect(const CtaPairs& pairs, const RegisterBoundary& boundary) {
    pairs_ = &pairs;
    boundary_ = &boundary;
  }
  /// Before kernel_started().
  void launch(unsigned warps_per_cta) { warps_per_cta_ = warps_per_cta; }

  std::string name() const override { return "shared"; }
  void kernel_started(std::uint32_t rows, unsigned registers) override;
  std::optional<RegisterWindow> first_window(protocol::WarpSlot warp) const override;
  RegisterWindow assign(protocol::WarpSlot warp) override;
  std::vector<protocol::WarpSlot> shares_with(protocol::WarpSlot warp) const override;

  /// The warp with which this one shares registers; none, if it shares nothing.
  std::optional<protocol::WarpSlot> partner(protocol::WarpSlot warp) const;

 private:
  std::optional<PairMember> member_of(protocol::WarpSlot warp) const;
  RegisterWindow window(protocol::WarpSlot warp, PairMember member) const;
  std::uint32_t last_row(protocol::WarpSlot warp, PairMember member) const;

  const unsigned slices_;
  FixedWindows fixed_;
  const CtaPairs* pairs_ = nullptr;
  const RegisterBoundary* boundary_ = nullptr;
  unsigned warps_per_cta_ = 1;
  unsigned registers_ = 0, private_ = 0;
  std::uint32_t slice_rows_ = 0;
  std::uint32_t pairs_begin_ = 0;  ///< of a slice
};

}  // namespace regatta::models
