// SPDX-License-Identifier: Apache-2.0
//
// For benches in which a block of resource sharing stands alone.
#pragma once

#include <regatta/protocol/extension_points.h>
#include <regatta/sharing/sharing.h>

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <regatta/test/cta_blocks.h>

namespace regatta::test::sharing {

using models::PairMember;
using models::SharingPlan;
using models::WarpRole;
using namespace regatta::test::cta_blocks;

/// Pairs as PairedResidency makes them: CTAs that share nothing, sides 0, sides 1.
/// A CTA has `cta_bytes` of shared memory; `own` registers, or bytes, are private.
class FixedPairs : public sc_core::sc_module,
                   public models::CtaPairs,
                   public models::RegisterBoundary,
                   public models::ScratchpadBoundary {
 public:
  FixedPairs(const sc_core::sc_module_name& name, unsigned unshared, unsigned pairs, unsigned own,
             unsigned cta_bytes = 0)
      : sc_module(name), plan_{unshared + 2 * pairs, pairs}, private_(own), cta_bytes_(cta_bytes) {}
  const SharingPlan& plan() const override { return plan_; }
  std::optional<PairMember> member(CtaSlot cta) const override {
    const unsigned first = plan_.unshared();
    if (cta.value() < first || cta.value() >= plan_.ctas) return std::nullopt;
    return PairMember{(cta.value() - first) % plan_.pairs, (cta.value() - first) / plan_.pairs};
  }
  CtaSlot slot(PairMember m) const override { return cta_at(plan_.unshared() + m.side * plan_.pairs + m.pair); }
  unsigned private_registers() const override { return private_; }
  unsigned private_bytes() const override { return private_; }
  unsigned cta_bytes() const override { return cta_bytes_; }

 private:
  SharingPlan plan_;
  unsigned private_, cta_bytes_;
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

/// Says and notes who the owners are: the CTAs in `owners`; others have role `lost`.
class Owners : public sc_core::sc_module, public models::CtaOwners {
 public:
  explicit Owners(const sc_core::sc_module_name& name) : sc_module(name) {}
  WarpRole role(CtaSlot cta) const override { return owners.count(cta.value()) != 0 ? WarpRole::owner : lost; }
  void took(CtaSlot cta) override {
    if (!deaf) owners.insert(cta.value());
  }
  void released(CtaSlot cta) override { releases.push_back(cta.value()); }
  std::set<unsigned> owners;
  std::vector<unsigned> releases;
  WarpRole lost = WarpRole::non_owner;
  bool deaf = false;
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
  void pause(WarpSlot warp, protocol::Cycle until) override {
    if (!may_pause) FAIL("paused");
    paused[warp.value()] = until.value();
  }
  void reconsider(protocol::Cycle) override { FAIL("asks to be asked again"); }

  std::set<unsigned> warps;
  bool may_pause = false;
  std::map<unsigned, std::uint64_t> paused;  ///< until when
};

}  // namespace regatta::test::sharing
