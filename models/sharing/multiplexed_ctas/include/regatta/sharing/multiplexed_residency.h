// SPDX-License-Identifier: Apache-2.0
//
// Residency of shared memory multiplexing (Yang, Xiang, Mantor, Rubin, Zhou, PACT 2012): more CTAs than shared memory
// holds, which have it in turn.
#pragma once

#include <regatta/baseline/occupancy.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/sharing/sharing.h>
#include <regatta/support/cycle_event.h>
#include <regatta/support/stats.h>

#include <systemc>

namespace regatta::models {

/// M CTAs, each with the private part of its shared memory, and N places for the common part. M is the most that other
/// limits and the knob allow, and N the most that fit then. Without a knob there is a place for every two CTAs at
/// least, as in the virtual blocks of two that the paper's software makes. A launch with no more CTAs than shared
/// memory holds is conventional.
class MultiplexedResidency final : public sc_core::sc_module,
                                   public protocol::Residency,
                                   public Multiplex,
                                   public ScratchpadBoundary,
                                   public support::StatProvider {
 public:
  sc_core::sc_export<Multiplex> multiplex;
  sc_core::sc_export<ScratchpadBoundary> boundary;

  /// `t`: private share; `most`: CTAs, 0 for at most two per place.
  MultiplexedResidency(const sc_core::sc_module_name& name, const Threshold& t, unsigned most);

  bool keeps_cycle_time() const override { return true; }
  protocol::ResourcePlan plan(const protocol::KernelContext& context, const protocol::SmLimits& limits) override;
  Action next(const View& view) override;
  bool follows_stalls() const override { return false; }
  const sc_core::sc_event& changed() const override { return changed_; }
  void cta_launched(const protocol::CtaInfo& cta) override;

  const MultiplexPlan& plan() const override { return plan_; }
  unsigned private_bytes() const override { return private_; }
  unsigned cta_bytes() const override { return cta_bytes_; }

  void register_stats(support::StatGroup& group) override;

 private:
  const Threshold t_;
  const unsigned most_;
  support::CycleEvent changed_;  ///< never notified: the answer changes only with CTA starts and ends
  MultiplexPlan plan_;
  unsigned private_ = 0, cta_bytes_ = 0;
  std::uint64_t launches_ = 0, multiplexed_ctas_ = 0, whole_ctas_ = 0;
};

/// CTAs of `whole` bytes, of which `own`, fewer, are private, in `bytes` of shared memory: most CTAs, up to `limit`,
/// and places. `per_place`: most CTAs for a place, 0 for any number.
MultiplexPlan multiplex_ctas(std::uint64_t bytes, unsigned whole, unsigned own, unsigned limit, unsigned per_place);

}  // namespace regatta::models
