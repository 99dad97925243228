// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/scheme.h>
#include <regatta/sharing/allocation_gate.h>
#include <regatta/sharing/allocation_table.h>
#include <regatta/sharing/multiplexed_residency.h>
#include <regatta/sharing/multiplexed_scratchpad.h>
#include <regatta/sharing/release_table.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regatta::schemes {

/// Shared memory multiplexing (Yang, Xiang, Mantor, Rubin, Zhou, PACT 2012), as far as hardware can express it: more
/// CTAs are resident than shared memory holds, and one of as many places is allocated to a CTA from its first access of
/// the common part to its last. The private and public parts are those of the paper's CO_VTB, which Jatala's thesis
/// describes (chapter 5). That the paper's hardware allocates and deallocates dynamically is the thesis's statement;
/// that a place is allocated by the first access and given back by relssp is this scheme's, in place of the paper's
/// instructions.
class ScratchpadMultiplexing : public assembly::Scheme {
 public:
  std::string name() const override { return "scratchpad_multiplexing"; }
  std::string help() const override;
  /// As the thesis has the scheme that it compares with it.
  std::optional<assembly::Published> published() const override;
  void declare(support::OptionSet& options) override;
  void validate(const assembly::MachineConfig& machine) const override;
  void add_parts(const assembly::BuildContext& context, assembly::SmParts& parts) override;
  std::optional<assembly::Takings> takings() const override {
    using assembly::Place;
    return assembly::Takings{{Place::shared_contents, Place::residency, Place::gates, Place::listeners}};
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
  virtual models::ScratchpadPlaces& places_for_gate(assembly::SmParts&, models::ScratchpadPlaces& p) { return p; }
  virtual models::ScratchpadPlaces& places_for_contents(assembly::SmParts&, models::ScratchpadPlaces& p) { return p; }
  virtual models::ScratchpadBoundary& boundary_for_gate(assembly::SmParts&, models::ScratchpadBoundary& b) { return b; }
  virtual models::ReleaseBits& bits_for_gate(assembly::SmParts&, models::ReleaseBits& bits) { return bits; }

 private:
  bool releases() const { return relssp_ != "none"; }
  models::Threshold threshold() const;

  std::string t_ = "0";
  std::string relssp_ = "none";
  unsigned ctas_ = 0;
  std::uint64_t storage_bits_ = 0;
};

}  // namespace regatta::schemes
