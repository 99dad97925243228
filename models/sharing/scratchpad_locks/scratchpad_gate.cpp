// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/scratchpad_gate.h>

#include <utility>

namespace regatta::models {

using protocol::CtaSlot;

ScratchpadGate::ScratchpadGate(const sc_core::sc_module_name& name, const Threshold& t, std::string relssp,
                               support::ClockDomain& clock)
    : CommonPartGate(name, "scratchpad_sharing.t", t, std::move(relssp), clock),
      pairs("pairs"),
      locks("locks"),
      owners("owners") {}

void ScratchpadGate::end_of_elaboration() {
  CommonPartGate::end_of_elaboration();
  pairs_ = pairs.operator->();
  locks_ = locks.operator->();
  owners_ = owners.operator->();
}

void ScratchpadGate::kernel_started(const protocol::KernelContext& context) {
  CommonPartGate::kernel_started(context);
  const SharingPlan& plan = pairs_->plan();
  members_.assign(plan.ctas, PairMember{});
  for (std::size_t i = 0; i < members_.size(); ++i) {
    members_[i] = pairs_->member(CtaSlot(static_cast<CtaSlot::rep>(i))).value_or(PairMember{});
  }
  free_from_.assign(plan.pairs, 0);
}

void ScratchpadGate::cta_launched(const protocol::CtaInfo& cta) {
  CommonPartGate::cta_launched(cta);
  if (!takes_turns(cta.cta)) return;
  const CtaSlot partner = pairs_->slot(members_[cta.cta.value()].partner());
  if (is_resident(partner) && owners_->role(partner) != WarpRole::owner) {
    complain("CTA slot " + std::to_string(cta.cta.value()) + " gets a CTA, and its partner in slot " +
             std::to_string(partner.value()) + " is not the owner; expected that ownership has passed to it");
  }
}

std::optional<std::uint64_t> ScratchpadGate::may_take_from(CtaSlot cta) const {
  const unsigned pair = members_[cta.value()].pair;
  return locks_->holder(pair) ? std::nullopt : std::make_optional(free_from_[pair]);
}

void ScratchpadGate::take(CtaSlot cta) {
  const unsigned pair = members_[cta.value()].pair;
  locks_->take(pair, cta);
  owners_->took(cta);
  // Beside an owner that has released its part, the holder is no owner.
  if (owners_->role(cta) == WarpRole::non_owner) {
    complain("CTA slot " + std::to_string(cta.value()) + " takes the lock of pair " + std::to_string(pair) +
             " and is not the owner; expected that it is now");
  }
}

void ScratchpadGate::give_back(CtaSlot cta, std::uint64_t from) {
  const PairMember member = members_[cta.value()];
  free_from_[member.pair] = from;
  locks_->give_back(member.pair, cta);
  reopen(pairs_->slot(member.partner()));
}

}  // namespace regatta::models
