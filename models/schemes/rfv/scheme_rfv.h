// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/scheme.h>
#include <regatta/models/register_renaming/renaming_config.h>
#include <regatta/models/register_renaming/renaming_gate.h>

#include <memory>
#include <string>
#include <vector>

namespace regatta::schemes {

/// Register file virtualisation (RFV: Jeon, Ravi, Kim, Annavaram, MICRO 2015): a file of half the size, whose rows
/// warps have from the first write of a register to its last read. A rival of RegLess (MICRO 2017, sections 6.3
/// and 6.4).
class RegisterFileVirtualization : public assembly::Scheme {
 public:
  std::string name() const override { return "rfv"; }
  std::string help() const override;
  void declare(support::OptionSet& options) override { config_.declare(options); }
  void validate(const assembly::MachineConfig& machine) const override;
  assembly::SmParts build(const assembly::BuildContext& context) override;
  std::string held_by_ctas() const override;
  std::vector<std::string> energy_structures() const override { return {"register_renaming"}; }
  void register_stats(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;
  void add_laws(assembly::ConservationLaws& laws, const std::string& sm) const override;

 protected:
  // What a test replaces to plant a fault.
  virtual std::unique_ptr<models::RenamingGate> make_gate(const char* name, const models::RenamingConfig& config,
                                                          sc_core::sc_time clock_period) const;
  virtual models::RowPool& rows_for_gate(assembly::SmParts&, models::RowPool& rows) { return rows; }

 private:
  models::RenamingConfig config_;
};

}  // namespace regatta::schemes
