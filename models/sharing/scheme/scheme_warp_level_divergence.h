// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/scheme.h>
#include <regatta/sharing/partial_residency.h>
#include <regatta/sharing/warp_table.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regatta::schemes {

/// Warp-level divergence (Xiang, Yang, Zhou, HPCA 2014), as Jatala's thesis describes it (section 2.5.1.9 and chapter
/// 5): one additional, partial thread block gets as many warps as the registers that are left over hold, and shares
/// none with other blocks.
///
/// From general knowledge of the paper [M]: registers are released when a warp ends, not its block; warps of the
/// partial block that wait enter then; there is one partial block at a time, and its shared memory is allocated as a
/// whole.
class WarpLevelDivergence : public assembly::Scheme {
 public:
  std::string name() const override { return "warp_level_divergence"; }
  std::string help() const override;
  /// As the thesis compares with it.
  std::optional<assembly::Published> published() const override;
  void declare(support::OptionSet& options) override;
  void add_parts(const assembly::BuildContext& context, assembly::SmParts& parts) override;
  std::optional<assembly::Takings> takings() const override {
    using assembly::Place;
    assembly::Takings t;
    t.takes = {Place::windows, Place::residency, Place::listeners};
    t.needs = {assembly::Feature::given_windows};
    return t;
  }
  std::string held_by_ctas() const override;
  std::vector<std::string> energy_structures() const override { return {"resource_sharing"}; }
  void register_stats(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;
  void add_laws(assembly::ConservationLaws& laws, const std::string& sm) const override;
  void add_waits(assembly::Waits& waits) const override;
  std::string idle(const assembly::RunFacts& facts) const override;

 protected:
  /// What a test puts between the blocks: each function gets a block's interface, and returns what its users are bound
  /// to.
  virtual models::WarpRoom& room_for_residency(assembly::SmParts&, models::WarpRoom& room) { return room; }
  virtual models::WindowPolicy& windows_for_file(assembly::SmParts&, models::WindowPolicy& windows) { return windows; }

 private:
  std::string release_ = "warp";
  std::uint64_t storage_bits_ = 0;
};

}  // namespace regatta::schemes
