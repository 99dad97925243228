// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/ids.h>
#include <regatta/protocol/lifecycle.h>

#include <cstdint>
#include <vector>

namespace regatta::models {

/// Which row each register of a warp has, in a launch whose warps give registers to each other (setmaxnreg). A warp
/// begins with a window. The rows that it gives away are its CTA's, in the slice of the file that the warp lies in; a
/// warp that gets registers takes the lowest of these. A register keeps its row for as long as the warp has it.
class BudgetRows {
 public:
  static constexpr std::uint32_t no_row = ~std::uint32_t{0};

  /// `slices`: equal parts of the file; `registers`: the most that a warp has (at most 256).
  void start(const protocol::KernelContext& context, unsigned slices);
  void stop() { registers_ = 0; }
  bool used() const { return registers_ != 0; }
  /// The warp has the rows from `base` on for its first `count` registers.
  void warp_started(const protocol::WarpInfo& warp, std::uint32_t base, unsigned count);
  /// All rows of the CTA are the file's again.
  void cta_finished(protocol::CtaSlot cta);
  /// False if the CTA has not given away enough.
  [[nodiscard]] bool change(const protocol::WarpInfo& warp, unsigned before, unsigned after);

  std::uint32_t row(protocol::WarpSlot warp, protocol::RegisterId reg) const {
    const std::size_t at = std::size_t{warp.value()} * registers_ + reg.value();
    return reg.value() < registers_ && at < rows_.size() ? rows_[at] : no_row;
  }

 private:
  std::vector<std::uint32_t>& pool(const protocol::WarpInfo& warp);

  unsigned registers_ = 0;  ///< 0: no such launch
  unsigned slices_ = 1;
  std::vector<std::uint32_t> rows_;               ///< by warp slot and register
  std::vector<std::vector<std::uint32_t>> free_;  ///< by CTA slot and slice, descending
};

}  // namespace regatta::models
