// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/sharing/paired_residency.h>
#include <regatta/sharing/release_table.h>
#include <regatta/sharing/scratchpad_gate.h>
#include <regatta/sharing/scratchpad_lock_table.h>
#include <regatta/sharing/shared_scratchpad.h>

#include "pair_sharing.h"

#include <optional>
#include <string>
#include <vector>

namespace regatta::schemes {

/// Scratchpad sharing (Jatala, thesis, chapters 2 and 3): pairs of CTAs share shared memory, so that more CTAs are
/// resident; with the compiler's help a CTA gives its part up before it ends.
class ScratchpadSharing : public PairSharing {
 public:
  ScratchpadSharing()
      : PairSharing("shared memory that each CTA of a pair has", "scratchpad_gate", "scratchpad_lock_table") {}
  std::string name() const override { return "scratchpad_sharing"; }
  std::string help() const override;
  std::optional<assembly::Published> published() const override;
  void declare(support::OptionSet& options) override;
  void validate(const assembly::MachineConfig& machine) const override;
  void add_parts(const assembly::BuildContext& context, assembly::SmParts& parts) override;
  std::optional<assembly::Takings> takings() const override {
    using assembly::Place;
    return assembly::Takings{{Place::shared_contents, Place::residency, Place::gates, Place::listeners}};
  }
  std::string held_by_ctas() const override;
  void register_stats(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;
  void add_laws(assembly::ConservationLaws& laws, const std::string& sm) const override;
  void add_waits(assembly::Waits& waits) const override;
  std::string idle(const assembly::RunFacts& facts) const override;

 protected:
  /// What a test puts between the blocks: each function gets a block's interface, and returns what its users are bound
  /// to.
  virtual models::ScratchpadLocks& locks_for_gate(assembly::SmParts&, models::ScratchpadLocks& l) { return l; }
  virtual models::ScratchpadBoundary& boundary_for_gate(assembly::SmParts&, models::ScratchpadBoundary& b) { return b; }
  virtual models::CtaPairs& pairs_for_contents(assembly::SmParts&, models::CtaPairs& pairs) { return pairs; }
  virtual models::ReleaseBits& bits_for_gate(assembly::SmParts&, models::ReleaseBits& bits) { return bits; }
  virtual protocol::LifecycleListener& owner_events(assembly::SmParts&, models::OwnerTable& table) { return table; }

 private:
  bool releases() const { return relssp_ != "none"; }

  std::string relssp_ = "none";
};

}  // namespace regatta::schemes
