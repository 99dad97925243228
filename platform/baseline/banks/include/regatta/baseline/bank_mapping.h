// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/baseline/register_file_config.h>
#include <regatta/protocol/ids.h>

namespace regatta::models {

/// The bank of a warp's register.
///
/// warp_interleaved: (register + warp) mod banks, so that neighbouring registers of a warp, and the same register of
/// neighbouring warps, differ (RegLess section 5.2, GPGPU-Sim). register: register mod banks. sub_core: the banks are
/// divided among the sub-cores, to which warps are assigned round robin, and interleaved by register and warp within
/// one. sub_core_register: the same, interleaved by register alone (Huerta et al., MICRO 2025, section 5.3).
class BankMapping {
 public:
  explicit BankMapping(const RegisterFileConfig& config);

  unsigned operator()(protocol::WarpSlot warp, protocol::RegisterId reg) const {
    if (__builtin_expect(!powers_of_two_, 0)) return slow(warp, reg);
    return ((unsigned{reg.value()} + (unsigned{warp.value()} >> warp_shift_)) & bank_mask_) +
           ((warp.value() & part_mask_) << part_shift_);
  }

 private:
  unsigned slow(protocol::WarpSlot warp, protocol::RegisterId reg) const;

  // Masks and shifts if all are powers of two: a division would slow down every access.
  bool powers_of_two_;
  unsigned part_banks_;  ///< banks over which a warp's registers are spread
  unsigned parts_;       ///< number of such groups of banks
  bool by_warp_;         ///< the warp shifts its registers
  unsigned bank_mask_;   ///< part_banks_ - 1
  unsigned part_mask_;   ///< parts_ - 1
  unsigned part_shift_;  ///< log2(part_banks_)
  unsigned warp_shift_;  ///< log2(parts_); the width of a warp number when the warp shifts nothing
};

}  // namespace regatta::models
