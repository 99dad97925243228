// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/sharing/common_part_gate.h>
#include <regatta/support/clock_domain.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models {

/// The access check of shared memory multiplexing: a CTA is allocated a place for its common part when it first
/// accesses it. All places are alike. A CTA that finds none free waits in a queue, and gets the next one that is given
/// back.
class AllocationGate final : public CommonPartGate {
 public:
  sc_core::sc_port<Multiplex> multiplex;
  sc_core::sc_port<ScratchpadPlaces> places;

  AllocationGate(const sc_core::sc_module_name& name, const Threshold& t, std::string relssp,
                 support::ClockDomain& clock);

  void end_of_elaboration() override;
  void kernel_started(const protocol::KernelContext& context) override;

  void register_stats(support::StatGroup& group) override;

 private:
  bool sharing() const override { return multiplex_->plan().multiplexes(); }
  bool takes_turns(protocol::CtaSlot) const override { return sharing(); }
  bool has(protocol::CtaSlot cta) const override {
    return places_->place(cta).has_value() && clock().now() >= granted_from_[cta.value()];
  }
  std::optional<std::uint64_t> may_take_from(protocol::CtaSlot cta) const override;
  void take(protocol::CtaSlot cta) override;
  void give_back(protocol::CtaSlot cta, std::uint64_t from) override;
  void waits(protocol::CtaSlot cta) override;

  const Multiplex* multiplex_ = nullptr;
  ScratchpadPlaces* places_ = nullptr;
  std::deque<protocol::CtaSlot> queue_;
  std::vector<std::uint64_t> granted_from_;  ///< by CTA slot: the first cycle in which it may use its place
  std::uint64_t queued_ = 0, granted_ = 0;
};

}  // namespace regatta::models
