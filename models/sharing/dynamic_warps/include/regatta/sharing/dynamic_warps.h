// SPDX-License-Identifier: Apache-2.0
//
// Dynamic warp execution (Jatala, thesis, section 2.3.3): how many memory instructions non-owner warps may issue.
#pragma once

#include <regatta/protocol/extension_points.h>
#include <regatta/sharing/sharing.h>
#include <regatta/sharing/stall_meter.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/config.h>
#include <regatta/support/cycle_event.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::models {

struct DynamicWarpsConfig {
  unsigned period = 1000;  ///< cycles
  unsigned steps = 10;     ///< from probability 0 to 1
  std::uint64_t seed = 1;  ///< of the draws
  unsigned sm = 0;

  /// Knobs `<prefix>dynamic_*`.
  void declare(const std::string& prefix, support::OptionSet& options);
};

/// SM 0 lets no non-owner warp issue a memory instruction, and is the probe: at the end of every period, each other SM
/// compares its stalls with those of SM 0. More stalls: its probability is a step less in the next period; fewer: a
/// step more.
///
/// There is one draw per period and warp. A warp that is denied is closed until the next period, or until its CTA is
/// the owner. Draws are a function of seed, SM, period and warp, so they do not depend on how often a gate is asked.
class DynamicWarps final : public sc_core::sc_module,
                           public protocol::IssueGate,
                           public protocol::GateReporter,
                           public OwnerListener,
                           public support::StatProvider {
 public:
  sc_core::sc_port<CtaPairs> pairs;
  sc_core::sc_port<CtaOwners> owners;
  /// Of this SM, and of SM 0; not needed on SM 0.
  sc_core::sc_port<StallCount, 1, sc_core::SC_ZERO_OR_MORE_BOUND> own_stalls, probe_stalls;
  sc_core::sc_export<OwnerListener> ownership;

  DynamicWarps(const sc_core::sc_module_name& name, const DynamicWarpsConfig& config, support::ClockDomain& clock);
  ~DynamicWarps() override;

  void end_of_elaboration() override;
  bool keeps_cycle_time() const override { return true; }
  void connect(protocol::GateListener& listener) override { listener_ = &listener; }
  void kernel_started(const protocol::KernelContext& context) override;
  void kernel_finished(const protocol::KernelContext& context) override;
  void warp_started(const protocol::WarpInfo& warp) override;
  bool may_issue(const protocol::DynamicInstruction& instruction) override;
  const sc_core::sc_event& changed() const override { return changed_; }
  void became_owner(protocol::CtaSlot cta) override;

  /// Steps of the probability, 0 to config.steps.
  unsigned level() const { return level_; }

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  struct Warp {
    bool closed = false;
    std::uint64_t since = 0;
    std::uint64_t drawn = ~std::uint64_t{0};  ///< the period of its last draw
    bool may = false;                         ///< its result
  };
  bool is_probe() const { return config_.sm == 0; }
  /// Periods are the cycles after n x period, up to (n + 1) x period.
  std::uint64_t period_of(std::uint64_t cycle) const { return (cycle - 1) / config_.period; }
  bool draw(std::size_t warp, std::uint64_t period);
  void compare(std::uint64_t cycle);
  void begin_period();
  void open(std::size_t warp);

  const DynamicWarpsConfig config_;
  support::ClockDomain& clock_;
  support::CycleClient client_;
  support::ClockDomain::Probe probe_;
  support::CycleEvent changed_;  ///< never notified: closed warps are opened
  protocol::GateListener* listener_ = nullptr;
  const CtaOwners* owners_ = nullptr;
  bool running_ = false;  ///< a launch that shares
  unsigned warps_per_cta_ = 1;
  unsigned level_ = 0;
  unsigned closed_ = 0;
  std::uint64_t own_before_ = 0, probe_before_ = 0;  ///< stalls up to the end of the last period
  std::vector<Warp> warps_;
  std::uint64_t draws_ = 0, denials_ = 0, denied_cycles_ = 0, raised_ = 0, lowered_ = 0, level_sum_ = 0, periods_ = 0;
};

}  // namespace regatta::models
