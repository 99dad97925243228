// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/sharing/sharing.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <optional>
#include <systemc>
#include <vector>

namespace regatta::models {

/// The places of shared memory multiplexing, and which CTA has each. In a launch with a place for every CTA, a CTA has
/// that of its slot from launch to end.
class AllocationTable final : public sc_core::sc_module,
                              public protocol::LifecycleListener,
                              public ScratchpadPlaces,
                              public support::StatProvider {
 public:
  sc_core::sc_port<Multiplex> multiplex;
  sc_core::sc_export<ScratchpadPlaces> places;

  AllocationTable(const sc_core::sc_module_name& name, support::ClockDomain& clock);

  void kernel_started(const protocol::KernelContext& context) override;

  unsigned free_places() const override { return free_; }
  std::optional<unsigned> place(protocol::CtaSlot cta) const override;
  void take(protocol::CtaSlot cta) override;
  void give_back(protocol::CtaSlot cta) override;

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  [[gnu::noinline, gnu::cold]] void complain(protocol::CtaSlot cta, const std::string& what) const;

  support::ClockDomain& clock_;
  bool multiplexes_ = false;
  std::vector<std::optional<protocol::CtaSlot>> holders_;  ///< by place
  std::vector<std::optional<unsigned>> place_of_;          ///< by CTA slot
  unsigned free_ = 0;
  std::uint64_t takes_ = 0, returns_ = 0, most_ = 0;
};

/// Bits of the table of one SM that holds so many CTAs: for each, its place and whether it has one, and its place in
/// the queue and whether it waits; a flag for every place.
std::uint64_t allocation_bits(unsigned ctas);

}  // namespace regatta::models
