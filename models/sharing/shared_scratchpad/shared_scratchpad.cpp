// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/shared_scratchpad.h>

namespace regatta::models {

void SharedScratchpad::end_of_elaboration() {
  DividedScratchpad::end_of_elaboration();
  pairs_ = pairs.operator->();
}

std::uint64_t SharedScratchpad::used_bytes() const {
  const SharingPlan& plan = pairs_->plan();
  return std::uint64_t{plan.ctas} * whole_bytes() - std::uint64_t{plan.pairs} * (whole_bytes() - private_bytes());
}

std::string SharedScratchpad::ctas_text() const {
  return std::to_string(pairs_->plan().ctas) + " CTAs, of which " + std::to_string(pairs_->plan().pairs) + " pairs";
}

DividedScratchpad::Parts SharedScratchpad::parts_of(protocol::CtaSlot cta) const {
  const std::uint32_t whole = whole_bytes(), split = private_bytes();
  const std::optional<PairMember> member = pairs_->member(cta);
  if (!member) return {cta.value() * whole, cta.value() * whole + split, split, false};
  const std::uint32_t first = pairs_->plan().unshared() * whole + member->pair * (whole + split);
  return {first + member->side * split, first + 2 * split, split, true};
}

}  // namespace regatta::models
