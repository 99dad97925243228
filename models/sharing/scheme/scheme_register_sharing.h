// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/sharing/dynamic_warps.h>
#include <regatta/sharing/lock_rule.h>
#include <regatta/sharing/lock_table.h>
#include <regatta/sharing/paired_residency.h>
#include <regatta/sharing/register_gate.h>
#include <regatta/sharing/shared_register_file.h>

#include "pair_sharing.h"

#include <optional>
#include <string>
#include <vector>

namespace regatta::schemes {

/// Register sharing (Jatala, thesis, chapter 2): pairs of CTAs share registers, so that more CTAs are resident.
class RegisterSharing : public PairSharing {
 public:
  RegisterSharing() : PairSharing("registers that each warp of a pair has", "register_gate", "lock_table") {}
  std::string name() const override { return "register_sharing"; }
  std::string help() const override;
  std::optional<assembly::Published> published() const override;
  void declare(support::OptionSet& options) override;
  void validate(const assembly::MachineConfig& machine) const override;
  void add_parts(const assembly::BuildContext& context, assembly::SmParts& parts) override;
  std::optional<assembly::Takings> takings() const override {
    using assembly::Place;
    assembly::Takings t;
    t.takes = {Place::storage, Place::windows, Place::residency, Place::gates, Place::listeners, Place::observers};
    t.provides = {assembly::Feature::switched_rows};
    return t;
  }
  std::string held_by_ctas() const override;
  void register_stats(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;
  void add_laws(assembly::ConservationLaws& laws, const std::string& sm) const override;
  void add_waits(assembly::Waits& waits) const override;
  std::string idle(const assembly::RunFacts& facts) const override;

 protected:
  /// What a test puts between the blocks: each function gets a block's interface, and returns what its users are bound
  /// to.
  virtual models::RegisterLocks& locks_for_gate(assembly::SmParts&, models::RegisterLocks& locks) { return locks; }
  virtual models::RegisterBoundary& boundary_for_gate(assembly::SmParts&, models::RegisterBoundary& b) { return b; }
  virtual models::CtaOwners& owners_for_gate(assembly::SmParts&, models::CtaOwners& owners) { return owners; }
  virtual protocol::LifecycleListener& owner_events(assembly::SmParts&, models::OwnerTable& table) { return table; }
  virtual models::LockRule& rule_for_gate(assembly::SmParts&, models::LockRule& rule) { return rule; }

 private:
  models::LockGrant grant() const;
  void add_dynamic(const assembly::BuildContext& context, assembly::SmParts& parts, models::PairedRegisters& pairs,
                   models::OwnerTable& owners);

  std::string lock_ = "warp";
  bool deadlock_rule_ = true;
  bool dynamic_ = false;
  models::DynamicWarpsConfig dynamic_config_;
  models::StallMeter* probe_ = nullptr;  ///< of SM 0, which is built first
};

}  // namespace regatta::schemes
