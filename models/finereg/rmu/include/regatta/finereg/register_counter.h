// SPDX-License-Identifier: Apache-2.0
//
// Which registers of a stalled CTA are live: the part of FineReg's register management unit between the cache of bit
// vectors and the access logic (MICRO 2018, sections V-A and V-C, Figure 10: the register index decoder).
#pragma once

#include <regatta/finereg/cta_registers.h>
#include <regatta/finereg/operations.h>
#include <regatta/protocol/sm_control.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/cycle_event.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::models {

/// What was found out about a CTA.
class LiveSets : public virtual sc_core::sc_interface {
 public:
  /// The registers of the CTA are counted, and it has not run since.
  virtual bool counted(protocol::CtaSlot cta) const = 0;
  /// Live registers of a counted CTA, summed over its warps, and those of a warp: a bit per register.
  virtual unsigned count(protocol::CtaSlot cta) const = 0;
  virtual std::uint64_t live(protocol::WarpSlot warp) const = 0;
};

/// A warp may have lanes at several places: those that run, and those that wait on its SIMT stack. Its live registers
/// are the union of the bit vectors of all these PCs; the paper's own rule, the vector of the running PC, would lose
/// what only the waiting lanes read. One PC is looked up per cycle; warps at the same PC share a lookup. Requests name
/// a CTA and are answered with its number of live registers when the last vector has come, at least a cycle later. One
/// CTA is counted at a time; a request meanwhile is refused as busy.
class RegisterCounter final : public sc_core::sc_module,
                              public RegisterCounts,
                              public protocol::LookupClient<std::uint64_t>,
                              public LiveSets,
                              public protocol::LifecycleListener,
                              public support::StatProvider {
 public:
  RegisterCountTarget counts;
  protocol::LookupInitiator<std::uint32_t, std::uint64_t> vectors;
  sc_core::sc_export<LiveSets> live_sets;

  RegisterCounter(const sc_core::sc_module_name& name, support::ClockDomain& clock);
  /// A twin of the unit, which gets the operations from now on; null: none.
  void set_twin(RmuTwin* twin) { twin_ = twin; }

  void attach(protocol::SmControl& control) override { control_ = &control; }
  void kernel_started(const protocol::KernelContext& context) override;
  void cta_launched(const protocol::CtaInfo& cta) override;
  void cta_finished(const protocol::CtaInfo& cta) override;
  void warp_started(const protocol::WarpInfo& warp) override { warps_[warp.warp.value()].alive = true; }
  void warp_finished(const protocol::WarpInfo& warp) override { warps_[warp.warp.value()] = Warp{}; }

  protocol::LookupReply look_up(const protocol::CtaSlot& cta, std::uint32_t tag, unsigned& registers) override;
  const sc_core::sc_event& changed() const override { return changed_; }
  void answered(std::uint32_t tag, const std::uint64_t& vector) override;

  bool counted(protocol::CtaSlot cta) const override;
  unsigned count(protocol::CtaSlot cta) const override { return ctas_[cta.value()].count; }
  std::uint64_t live(protocol::WarpSlot warp) const override { return warps_[warp.value()].live; }

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

  std::uint64_t ctas_counted() const { return ctas_counted_; }
  std::uint64_t registers_counted() const { return registers_counted_; }

 private:
  struct Cta {
    bool resident = false;
    bool valid = false;
    std::uint64_t progress = 0;  ///< when it was counted
    unsigned count = 0;
  };
  struct Warp {
    bool alive = false;
    std::uint64_t live = 0;
  };
  /// A PC of the CTA that is being counted, and the warps with lanes there.
  struct Place {
    std::uint32_t pc = 0;
    std::vector<std::uint16_t> warps;
  };
  void gather(protocol::CtaSlot cta);
  void work();
  void take(std::uint64_t vector);
  void finish();

  support::ClockDomain& clock_;
  support::CycleClient wakeup_;
  support::CycleEvent changed_;
  protocol::SmControl* control_ = nullptr;
  unsigned warps_per_cta_ = 1;
  std::uint32_t instructions_ = 0;
  std::vector<Cta> ctas_;
  std::vector<Warp> warps_;
  std::vector<Place> places_;  ///< of the CTA that is being counted; its memory is kept
  std::size_t place_count_ = 0, next_ = 0;
  bool counting_ = false, waiting_ = false;
  protocol::CtaSlot cta_;
  std::uint32_t tag_ = 0;
  protocol::WarpContext context_;
  std::uint64_t ctas_counted_ = 0, registers_counted_ = 0, lookups_ = 0;
  RmuTwin* twin_ = nullptr;
};

}  // namespace regatta::models
