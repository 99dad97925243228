// SPDX-License-Identifier: Apache-2.0
//
// The registers that the warps of a CTA give to each other (setmaxnreg).
#pragma once

#include "core.h"

#include <cstdint>
#include <vector>

namespace regatta::sm {

/// Every warp begins with the registers of the launch. A setmaxnreg.dec leaves the rest to the warp's CTA, and a
/// setmaxnreg.inc waits until the CTA has what the warp lacks (PTX ISA, "setmaxnreg"). Warps of different sub-cores
/// have different register files: a CTA has free registers in each of them.
class RegisterBudgets {
 public:
  explicit RegisterBudgets(Core& core) : core_(core) {}

  /// A launch begins: CTA slots of an SM, and its sub-cores. `has_places`: OperandStorage::has_places_for_warps().
  void kernel_started(unsigned ctas, unsigned sub_cores, bool has_places);
  void cta_launched(CtaSlot cta);
  void warp_started(const Warp& warp);
  /// Whether the warp could execute its setmaxnreg now, as far as registers go.
  bool available(const Warp& warp, const trace::StaticInstruction& i) const;
  /// The warp has issued it. Returns whether registers became free.
  bool issued(const Warp& warp, const trace::StaticInstruction& i);

  /// Warp registers of the warp, and those that its CTA has free in its sub-core.
  unsigned of(const Warp& warp) const { return budgets_[warp.info.warp.value()]; }
  unsigned free(const Warp& warp) const { return free_[pool(warp)]; }
  /// How many more the setmaxnreg takes; 0 if it takes none.
  unsigned lacks(const Warp& warp, const trace::StaticInstruction& i) const;

 private:
  std::size_t pool(const Warp& w) const {
    return std::size_t{w.info.cta.value()} * sub_cores_ + w.info.warp.value() % sub_cores_;
  }

  Core& core_;
  unsigned sub_cores_ = 1;
  bool has_places_ = true;
  std::vector<unsigned> budgets_;  ///< by warp slot; empty: the kernel changes none
  std::vector<unsigned> free_;     ///< by CTA slot and sub-core
};

}  // namespace regatta::sm
