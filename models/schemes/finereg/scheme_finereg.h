// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/scheme.h>
#include <regatta/models/cta_places/cta_places.h>
#include <regatta/models/cta_switching/switch_engine.h>
#include <regatta/models/pending_register_file/pending_register_file.h>
#include <regatta/models/register_management/register_management.h>
#include <regatta/models/register_spill/register_spill.h>

#include <string>
#include <vector>

namespace regatta::schemes {

/// Schemes in which more CTAs are resident than can be active: a switch engine, and what each of them does with the
/// registers of pending CTAs.
class SwitchingScheme : public assembly::Scheme {
 public:
  SwitchingScheme(std::string name, std::string help) : name_(std::move(name)), help_(std::move(help)) {}
  std::string name() const override { return name_; }
  std::string help() const override { return help_; }
  void declare(support::OptionSet& options) override { switching_.declare(options); }
  std::vector<std::string> stat_groups() const override { return {"residency", name_}; }
  void register_stats(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;

 protected:
  /// Puts the engine and its status monitor into the parts.
  models::SwitchEngine& add_engine(const assembly::BuildContext& context, assembly::SmParts& parts);
  /// Replaces the storage by a file of `registers` rows in places of one CTA each.
  struct PlacedFile {
    models::RegisterFile& file;
    models::CtaPlaceWindows& places;
  };
  PlacedFile add_file(const assembly::BuildContext& context, assembly::SmParts& parts, unsigned registers);
  /// What the blocks that move registers need of the machine.
  void check_machine(const assembly::MachineConfig& machine) const;
  void register_residency(support::StatGroup& group) const;
  virtual void register_own(support::StatGroup& group, const std::vector<support::StatGroup>& modules) = 0;

  models::CtaSwitchingConfig switching_;
  std::vector<models::SwitchEngine*> engines_;

 private:
  std::string name_, help_;
};

/// Virtual Thread (Yoon et al., ISCA 2016): registers of pending CTAs stay in the register file.
class VirtualThread : public SwitchingScheme {
 public:
  VirtualThread();
  assembly::SmParts build(const assembly::BuildContext& context) override;

 protected:
  void register_own(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;
};

/// Reg+DRAM, FineReg's comparator after Zorua: all registers of some pending CTAs are in DRAM.
class RegDram : public SwitchingScheme {
 public:
  RegDram();
  void declare(support::OptionSet& options) override;
  void validate(const assembly::MachineConfig& machine) const override;
  assembly::SmParts build(const assembly::BuildContext& context) override;
  void add_laws(assembly::ConservationLaws& laws, const std::string& sm) const override;

 protected:
  void register_own(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;

 private:
  models::RegisterSpillConfig spill_;
};

/// FineReg (MICRO 2018): live registers of pending CTAs move to a file of their own.
class FineReg : public SwitchingScheme {
 public:
  FineReg();
  void declare(support::OptionSet& options) override;
  void validate(const assembly::MachineConfig& machine) const override;
  assembly::SmParts build(const assembly::BuildContext& context) override;
  void add_laws(assembly::ConservationLaws& laws, const std::string& sm) const override;

 protected:
  void register_own(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;

 private:
  unsigned active_registers_ = 1024, pending_registers_ = 1024;
  models::RegisterManagementConfig management_;
};

}  // namespace regatta::schemes
