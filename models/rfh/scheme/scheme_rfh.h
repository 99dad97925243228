// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/scheme.h>
#include <regatta/rfh/active_entries.h>
#include <regatta/rfh/entry_file.h>
#include <regatta/rfh/strand_gate.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regatta::schemes {

/// The register hierarchy managed at compile time (Gebhart, Keckler, Krashinsky, Dally, MICRO 2011): a last-result file
/// and an operand register file in front of the main register file. The paper's scheduler is two_level.
class Rfh : public assembly::Scheme {
 public:
  std::string name() const override { return "rfh"; }
  std::string help() const override;
  /// As RegLess's paper compares with it.
  std::optional<assembly::Published> published() const override {
    return assembly::Published{"MICRO 2017, section 6", "gtx980", {{"sm.scheduler", "two_level"}}};
  }
  void declare(support::OptionSet& options) override;
  void validate(const assembly::MachineConfig& machine) const override;
  void add_parts(const assembly::BuildContext& context, assembly::SmParts& parts) override;
  std::optional<assembly::Takings> takings() const override {
    using assembly::Feature;
    using assembly::Place;
    assembly::Takings t;
    t.takes = {Place::storage, Place::gates, Place::listeners};
    t.provides = {Feature::given_windows, Feature::switched_rows};
    return t;
  }
  std::string held_by_ctas() const override;
  void register_stats(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;
  void add_laws(assembly::ConservationLaws& laws, const std::string& sm) const override;
  void add_waits(assembly::Waits& waits) const override;

 protected:
  /// What a test puts between the blocks: each function gets a block's interface, and returns what its users are bound
  /// to.
  virtual models::EntrySlots& slots_for_file(assembly::SmParts&, models::EntrySlots& slots) { return slots; }
  virtual models::EntrySlots& slots_for_gate(assembly::SmParts&, models::EntrySlots& slots) { return slots; }
  virtual models::ThreadEntries& entries_for_file(assembly::SmParts&, const std::string& /*module*/,
                                                  models::ThreadEntries& entries) {
    return entries;
  }

 private:
  unsigned orf_cycles_ = 1, lrf_cycles_ = 1;
  std::string wait_ = "all";
  const models::EntryFile* orf_ = nullptr;  ///< of an SM
  const models::EntryFile* lrf_ = nullptr;
  const models::StrandGate* gate_ = nullptr;
  unsigned max_warps_ = 0;
  std::uint64_t slot_bits_ = 0;
};

}  // namespace regatta::schemes
