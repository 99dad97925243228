// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/owner_table.h>

#include <regatta/support/energy.h>

namespace regatta::models {

using protocol::CtaSlot;
using protocol::WarpSlot;

OwnerTable::OwnerTable(const sc_core::sc_module_name& name)
    : sc_module(name), pairs("pairs"), listeners("listeners"), owners("owners") {
  owners.bind(*this);
}

void OwnerTable::kernel_started(const protocol::KernelContext& context) {
  warps_per_cta_ = context.warps_per_cta;
  ctas_.assign(pairs_->plan().ctas, Cta{});
  warps_.assign(std::size_t{pairs_->plan().ctas} * warps_per_cta_, false);
}

void OwnerTable::cta_launched(const protocol::CtaInfo& info) {
  Cta& cta = ctas_[info.cta.value()];
  cta.role = WarpRole::unshared;
  cta.resident = true;
  const std::optional<PairMember> member = pairs_->member(info.cta);
  if (!member) return;
  const Cta& partner = ctas_[pairs_->slot(member->partner()).value()];
  if (!partner.resident) {
    cta.role = WarpRole::owner;
  } else if (!partner.released || partner.role != WarpRole::owner) {
    cta.role = WarpRole::non_owner;
  }
  owners_ += partner.resident ? 0 : 1;
}

void OwnerTable::warp_started(const protocol::WarpInfo& warp) {
  warps_[warp.warp.value()] = true;
  const WarpRole role = ctas_[warp.cta.value()].role;
  bits_ += role == WarpRole::unshared ? 0 : 1;
  control_->classify(warp.warp, static_cast<unsigned>(role));
}

void OwnerTable::warp_finished(const protocol::WarpInfo& warp) { warps_[warp.warp.value()] = false; }

void OwnerTable::cta_finished(const protocol::CtaInfo& info) {
  Cta& cta = ctas_[info.cta.value()];
  ended_ += cta.role == WarpRole::owner ? 1 : 0;
  cta = Cta{};
  const std::optional<PairMember> member = pairs_->member(info.cta);
  if (!member) return;
  const CtaSlot partner = pairs_->slot(member->partner());
  if (!ctas_[partner.value()].resident || ctas_[partner.value()].role == WarpRole::owner) return;
  ++transfers_;
  make_owner(partner);
}

void OwnerTable::took(CtaSlot slot) {
  if (ctas_[slot.value()].role != WarpRole::non_owner) return;
  ++takeovers_;
  set_role(pairs_->slot(pairs_->member(slot)->partner()), WarpRole::non_owner);
  make_owner(slot);
}

void OwnerTable::released(CtaSlot slot) {
  Cta& cta = ctas_[slot.value()];
  ++releases_;
  cta.released = true;
  if (cta.role != WarpRole::owner) return;
  const CtaSlot partner = pairs_->slot(pairs_->member(slot)->partner());
  if (ctas_[partner.value()].resident) set_role(partner, WarpRole::unshared);
}

void OwnerTable::make_owner(CtaSlot cta) {
  set_role(cta, WarpRole::owner);
  for (int i = 0; i < listeners.size(); ++i) listeners[i]->became_owner(cta);
}

void OwnerTable::set_role(CtaSlot cta, WarpRole role) {
  ctas_[cta.value()].role = role;
  const unsigned first = cta.value() * warps_per_cta_;
  for (unsigned w = first; w < first + warps_per_cta_; ++w) {
    if (!warps_[w]) continue;
    ++bits_;
    control_->classify(WarpSlot(static_cast<WarpSlot::rep>(w)), static_cast<unsigned>(role));
  }
}

void OwnerTable::register_stats(support::StatGroup& g) {
  g.counter("owners_launched", owners_, "CTAs", "launched into a pair without another CTA: they are its owner");
  g.counter("transfers", transfers_, "CTAs", "that became the owner of their pair because their partner ended");
  g.counter("takeovers", takeovers_, "CTAs", "that became the owner of their pair by taking a lock");
  g.counter("releases", releases_, "CTAs", "that gave up what they share before they ended");
  g.counter("bits_written", bits_, "bits", "of the table: of warps that start, and of those whose CTA's role changes");
  g.counter("owners_ended", ended_, "CTAs", "that ended as the owner of their pair");
}

void OwnerTable::register_energy(support::EnergyGroup& g) {
  g.event("resource_sharing", "resource_sharing.owner", bits_);
}

}  // namespace regatta::models
