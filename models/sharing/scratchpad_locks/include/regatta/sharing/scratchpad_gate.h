// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/sharing/common_part_gate.h>
#include <regatta/support/clock_domain.h>

#include <cstdint>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models {

/// The access check of scratchpad sharing (Jatala, thesis, figure 2.6): the CTA of a pair that holds the pair's lock
/// has the common part.
class ScratchpadGate final : public CommonPartGate {
 public:
  sc_core::sc_port<CtaPairs> pairs;
  sc_core::sc_port<ScratchpadLocks> locks;
  sc_core::sc_port<CtaOwners> owners;

  ScratchpadGate(const sc_core::sc_module_name& name, const Threshold& t, std::string relssp,
                 support::ClockDomain& clock);

  void end_of_elaboration() override;
  void kernel_started(const protocol::KernelContext& context) override;
  void cta_launched(const protocol::CtaInfo& cta) override;

 private:
  bool sharing() const override { return pairs_->plan().sharing(); }
  bool takes_turns(protocol::CtaSlot cta) const override { return pairs_->member(cta).has_value(); }
  bool has(protocol::CtaSlot cta) const override { return locks_->holder(members_[cta.value()].pair) == cta; }
  std::optional<std::uint64_t> may_take_from(protocol::CtaSlot cta) const override;
  void take(protocol::CtaSlot cta) override;
  void give_back(protocol::CtaSlot cta, std::uint64_t from) override;
  void released(protocol::CtaSlot cta) override { owners_->released(cta); }

  const CtaPairs* pairs_ = nullptr;
  ScratchpadLocks* locks_ = nullptr;
  CtaOwners* owners_ = nullptr;
  std::vector<PairMember> members_;       ///< by CTA slot
  std::vector<std::uint64_t> free_from_;  ///< by pair: the first cycle in which the lock may be taken
};

}  // namespace regatta::models
