// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/scheme.h>
#include <regatta/models/register_renaming/renaming_config.h>
#include <regatta/models/register_renaming/spilling_gate.h>
#include <regatta/models/register_renaming/virtual_register_file.h>

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
  virtual std::unique_ptr<models::SpillingGate> make_spilling_gate(const char* name,
                                                                   const models::RenamingConfig& config,
                                                                   sc_core::sc_time clock_period) const;
  virtual std::unique_ptr<models::SpillUnit> make_spill_unit(const char* name, const models::RenamingConfig& config,
                                                             sc_core::sc_time clock_period) const;
  virtual models::RegisterMoves& moves_for_gate(assembly::SmParts&, models::SpillingGate&,
                                                models::RegisterMoves& moves) {
    return moves;
  }
  virtual models::RowPool& rows_for_gate(assembly::SmParts&, models::RowPool& rows) { return rows; }

 private:
  void add_spill_laws(assembly::ConservationLaws& laws, const std::string& sm) const;
  /// Between the file and memory.
  void add_spill_unit(const assembly::BuildContext& context, const models::RenamingConfig& config,
                      assembly::SmParts& parts, models::SpillingGate& gate, models::VirtualRegisterFile& file);

  models::RenamingConfig config_;
  std::string l1_requests_;  ///< of the spill unit, a statistic of an SM
};

}  // namespace regatta::schemes
