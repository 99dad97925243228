// SPDX-License-Identifier: Apache-2.0
#include <regatta/baseline/bank_mapping.h>

namespace regatta::models {

namespace {
bool power_of_two(unsigned n) { return (n & (n - 1)) == 0; }
unsigned shift_of(unsigned n) { return static_cast<unsigned>(__builtin_ctz(n)); }
}  // namespace

BankMapping::BankMapping(const RegisterFileConfig& config)
    : part_banks_(config.by_sub_core() ? config.banks / config.sub_cores : config.banks),
      parts_(config.by_sub_core() ? config.sub_cores : 1),
      by_warp_(config.mapping == "warp_interleaved" || config.mapping == "sub_core"),
      bank_mask_(part_banks_ - 1),
      part_mask_(parts_ - 1),
      part_shift_(shift_of(part_banks_)),
      warp_shift_(by_warp_ ? shift_of(parts_) : 16) {
  powers_of_two_ = power_of_two(part_banks_) && power_of_two(parts_);
}

unsigned BankMapping::slow(protocol::WarpSlot warp, protocol::RegisterId reg) const {
  const unsigned shift = by_warp_ ? warp.value() / parts_ : 0;
  return (reg.value() + shift) % part_banks_ + warp.value() % parts_ * part_banks_;
}

}  // namespace regatta::models
