// SPDX-License-Identifier: Apache-2.0
//
// Residency of resource sharing (Jatala, thesis, section 2.2.4): more CTAs than fit, of which some are pairs.
#pragma once

#include <regatta/models/resource_sharing/sharing.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/support/stats.h>

#include <optional>
#include <systemc>
#include <vector>

namespace regatta::models {

/// CTA slots below unshared() + pairs() are those of the conventional machine: first CTAs that share nothing, then side
/// 0 of every pair. The last slots are side 1. Slots are filled from the lowest on, so a pair gets its second CTA when
/// every CTA that could be resident alone is.
class PairedResidency final : public sc_core::sc_module,
                              public protocol::Residency,
                              public CtaPairs,
                              public RegisterBoundary,
                              public support::StatProvider {
 public:
  sc_core::sc_export<CtaPairs> pairs;
  sc_core::sc_export<RegisterBoundary> boundary;

  PairedResidency(const sc_core::sc_module_name& name, const Threshold& t);

  bool keeps_cycle_time() const override { return true; }
  protocol::ResourcePlan plan(const protocol::KernelContext& context, const protocol::SmLimits& limits) override;
  Action next(const View& view) override;
  bool follows_stalls() const override { return false; }
  const sc_core::sc_event& changed() const override { return changed_; }
  void cta_launched(const protocol::CtaInfo& cta) override;

  const SharingPlan& plan() const override { return plan_; }
  std::optional<PairMember> member(protocol::CtaSlot cta) const override;
  protocol::CtaSlot slot(PairMember member) const override;
  unsigned private_registers() const override { return private_; }

  void register_stats(support::StatGroup& group) override;

 private:
  const Threshold t_;
  sc_core::sc_event changed_;  ///< never notified: the answer changes only with CTA starts and ends
  SharingPlan plan_;
  unsigned private_ = 0;
  std::uint64_t launches_ = 0, unshared_ctas_ = 0, paired_ctas_ = 0;
};

}  // namespace regatta::models
