// SPDX-License-Identifier: Apache-2.0
//
// For benches in which a block of resource sharing stands alone.
#pragma once

#include <regatta/models/resource_sharing/sharing.h>
#include <regatta/protocol/extension_points.h>

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cta_blocks.h"

namespace regatta::test::sharing {

using models::PairMember;
using models::SharingPlan;
using models::WarpRole;
using namespace regatta::test::cta_blocks;

/// Pairs as PairedResidency makes them: CTAs that share nothing, sides 0, sides 1.
class FixedPairs : public sc_core::sc_module, public models::CtaPairs, public models::RegisterBoundary {
 public:
  FixedPairs(const sc_core::sc_module_name& name, unsigned unshared, unsigned pairs, unsigned private_registers)
      : sc_module(name), plan_{unshared + 2 * pairs, pairs}, private_(private_registers) {}
  const SharingPlan& plan() const override { return plan_; }
  std::optional<PairMember> member(CtaSlot cta) const override {
    const unsigned first = plan_.unshared();
    if (cta.value() < first || cta.value() >= plan_.ctas) return std::nullopt;
    return PairMember{(cta.value() - first) % plan_.pairs, (cta.value() - first) / plan_.pairs};
  }
  CtaSlot slot(PairMember m) const override { return cta_at(plan_.unshared() + m.side * plan_.pairs + m.pair); }
  unsigned private_registers() const override { return private_; }

 private:
  SharingPlan plan_;
  unsigned private_;
};

/// Notes the classes that warps are given, and says what they do.
class Classes : public protocol::SmControl {
 public:
  void context(WarpSlot warp, protocol::WarpContext& c) override {
    c = protocol::WarpContext{};
    c.at_barrier = at_barrier.count(warp.value()) != 0;
  }
  std::uint64_t progress(CtaSlot) override { return 0; }
  void classify(WarpSlot warp, unsigned priority_class) override { of[warp.value()] = priority_class; }

  std::map<unsigned, unsigned> of;  ///< by warp slot
  std::set<unsigned> at_barrier;
};

/// Notes which warps a gate keeps closed.
class Closed : public protocol::GateListener {
 public:
  void closed(WarpSlot warp, bool is_closed) override {
    if (is_closed) {
      REQUIRE(warps.insert(warp.value()).second);
    } else {
      REQUIRE(warps.erase(warp.value()) == 1);
    }
  }
  void pause(WarpSlot, protocol::Cycle) override { FAIL("paused"); }
  void reconsider(protocol::Cycle) override { FAIL("asks to be asked again"); }

  std::set<unsigned> warps;
};

}  // namespace regatta::test::sharing
