// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/scheme.h>
#include <regatta/sharing/owner_table.h>
#include <regatta/sharing/threshold.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::schemes {

/// What the schemes in which pairs of CTAs share a resource have in common (Jatala, thesis, chapter 2): the threshold,
/// the owner table, and the statistics of pairs, locks and owners.
class PairSharing : public assembly::Scheme {
 public:
  void declare(support::OptionSet& options) override;
  void validate(const assembly::MachineConfig& machine) const override;
  std::vector<std::string> energy_structures() const override { return {"resource_sharing"}; }
  void register_stats(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;
  void add_laws(assembly::ConservationLaws& laws, const std::string& sm) const override;
  void add_waits(assembly::Waits& waits) const override;

 protected:
  /// `resource`: "registers"; `gate` and `lock_table`: names of the modules.
  PairSharing(std::string resource, std::string gate, std::string lock_table);

  /// Of the knob.
  models::Threshold threshold() const;
  void set_storage_bits(std::uint64_t bits) { storage_bits_ = bits; }
  /// The owner table as part of an SM: `listener` stands for it in the list of those that are told of CTAs.
  static void add_owners(assembly::SmParts& parts, std::unique_ptr<models::OwnerTable> owners,
                         protocol::LifecycleListener& listener);
  static void add_sum(support::StatGroup& group, const std::vector<support::StatGroup>& modules, const char* name,
                      const std::string& counters, const char* unit, const char* help);

 private:
  const std::string resource_, gate_, lock_table_;
  std::string t_ = "0.1";
  std::uint64_t storage_bits_ = 0;
};

}  // namespace regatta::schemes
