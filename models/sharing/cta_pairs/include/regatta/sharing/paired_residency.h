// SPDX-License-Identifier: Apache-2.0
//
// Residency of resource sharing (Jatala, thesis, section 2.2.4): more CTAs than fit, of which some are pairs.
#pragma once

#include <regatta/baseline/occupancy.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/sharing/sharing.h>
#include <regatta/support/cycle_event.h>
#include <regatta/support/stats.h>

#include <optional>
#include <string>
#include <systemc>

namespace regatta::models {

/// What all resources have in common. A derived class says how many CTAs share its resource, and how much they take.
///
/// CTA slots below unshared() + pairs() are those of the conventional machine: first CTAs that share nothing, then side
/// 0 of every pair. The last slots are side 1. Slots are filled from the lowest on, so a pair gets its second CTA when
/// every CTA that could be resident alone is.
class PairedResidency : public sc_core::sc_module,
                        public protocol::Residency,
                        public CtaPairs,
                        public support::StatProvider {
 public:
  sc_core::sc_export<CtaPairs> pairs;

  bool keeps_cycle_time() const override { return true; }
  protocol::ResourcePlan plan(const protocol::KernelContext& context, const protocol::SmLimits& limits) final;
  Action next(const View& view) override;
  bool follows_stalls() const override { return false; }
  const sc_core::sc_event& changed() const override { return changed_; }
  void cta_launched(const protocol::CtaInfo& cta) override;

  const SharingPlan& plan() const override { return plan_; }
  std::optional<PairMember> member(protocol::CtaSlot cta) const override;
  protocol::CtaSlot slot(PairMember member) const override;

  void register_stats(support::StatGroup& group) override;

 protected:
  /// `resource`: what pairs share, for help texts.
  PairedResidency(const sc_core::sc_module_name& name, const Threshold& t, std::string resource);

  const Threshold& t() const { return t_; }
  /// Of the launch.
  const SharingPlan& sharing() const { return plan_; }
  /// The CTAs of the launch, which `fits` says how many of would be resident without sharing.
  virtual SharingPlan share(const protocol::KernelContext& context, const protocol::SmLimits& limits,
                            const Occupancy& fits) = 0;
  /// Takes from `uses`, which is that of as many CTAs without sharing, what the plan's pairs have in common.
  virtual void subtract_common(protocol::ResourcePlan& uses, const protocol::KernelContext& context) const = 0;

 private:
  const Threshold t_;
  const std::string resource_;
  support::CycleEvent changed_;  ///< never notified: the answer changes only with CTA starts and ends
  SharingPlan plan_;
  std::uint64_t launches_ = 0, unshared_ctas_ = 0, paired_ctas_ = 0;
};

/// Pairs of warps share registers (section 2.2.1).
class PairedRegisters final : public PairedResidency, public RegisterBoundary {
 public:
  sc_core::sc_export<RegisterBoundary> boundary;

  PairedRegisters(const sc_core::sc_module_name& name, const Threshold& t);

  unsigned private_registers() const override { return private_; }

 private:
  SharingPlan share(const protocol::KernelContext& context, const protocol::SmLimits& limits,
                    const Occupancy& fits) override;
  void subtract_common(protocol::ResourcePlan& uses, const protocol::KernelContext& context) const override;

  unsigned private_ = 0;
};

/// Pairs of CTAs share shared memory (section 2.2.2).
class PairedScratchpad final : public PairedResidency, public ScratchpadBoundary {
 public:
  sc_core::sc_export<ScratchpadBoundary> boundary;

  PairedScratchpad(const sc_core::sc_module_name& name, const Threshold& t);

  unsigned private_bytes() const override { return private_; }
  unsigned cta_bytes() const override { return cta_bytes_; }

 private:
  SharingPlan share(const protocol::KernelContext& context, const protocol::SmLimits& limits,
                    const Occupancy& fits) override;
  void subtract_common(protocol::ResourcePlan& uses, const protocol::KernelContext& context) const override;

  unsigned private_ = 0, cta_bytes_ = 0;
};

}  // namespace regatta::models
