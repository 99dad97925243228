// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/scheme.h>
#include <regatta/rfv/renaming_config.h>
#include <regatta/rfv/spilling_gate.h>
#include <regatta/rfv/virtual_register_file.h>
#include <regatta/support/clock_domain.h>

#include <memory>
#include <optional>
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
  /// As RegLess's paper compares with it.
  std::optional<assembly::Published> published() const override {
    return assembly::Published{"MICRO 2017, section 6", "gtx980", {{"sm.scheduler", "two_level"}}};
  }
  void declare(support::OptionSet& options) override { config_.declare(options); }
  void validate(const assembly::MachineConfig& machine) const override;
  void add_parts(const assembly::BuildContext& context, assembly::SmParts& parts) override;
  std::optional<assembly::Takings> takings() const override {
    using assembly::Place;
    assembly::Takings t;
    t.takes = {Place::storage, Place::residency, Place::decode_point,
               Place::gates,   Place::listeners, Place::l1_clients};
    t.provides = {assembly::Feature::switched_rows};
    return t;
  }
  std::string held_by_ctas() const override;
  std::vector<std::string> energy_structures() const override { return {"register_renaming"}; }
  void register_stats(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;
  void add_laws(assembly::ConservationLaws& laws, const std::string& sm) const override;
  void add_waits(assembly::Waits& waits) const override;

 protected:
  // What a test replaces to plant a fault.
  virtual std::unique_ptr<models::RenamingGate> make_gate(const char* name, const models::RenamingConfig& config,
                                                          support::ClockDomain& clock) const;
  virtual std::unique_ptr<models::SpillingGate> make_spilling_gate(const char* name,
                                                                   const models::RenamingConfig& config,
                                                                   support::ClockDomain& clock) const;
  virtual std::unique_ptr<models::SpillUnit> make_spill_unit(const char* name, const models::RenamingConfig& config,
                                                             const models::LineMemory& memory,
                                                             support::ClockDomain& clock) const;
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
