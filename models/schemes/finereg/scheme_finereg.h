// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/scheme.h>
#include <regatta/models/banks/windowed_file.h>
#include <regatta/models/cta_places/cta_places.h>
#include <regatta/models/cta_switching/switch_engine.h>
#include <regatta/models/occupancy/unified_memory.h>
#include <regatta/models/pending_register_file/pending_register_file.h>
#include <regatta/models/register_management/register_management.h>
#include <regatta/models/register_pool/pooled_register_file.h>
#include <regatta/models/register_pool/shared_register_pool.h>
#include <regatta/models/register_spill/register_spill.h>
#include <regatta/models/residency/occupancy.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace regatta::schemes {

/// A unified memory as it is on this machine.
models::UnifiedMemoryConfig on_machine(models::UnifiedMemoryConfig memory, const assembly::MachineConfig& machine);

/// Schemes in which more CTAs are resident than can be active: a switch engine, and what each of them does with the
/// registers of pending CTAs. Everything else is the baseline's, or another scheme's (over()).
class SwitchingScheme : public assembly::Scheme {
 public:
  SwitchingScheme(std::string name, std::string help) : name_(std::move(name)), help_(std::move(help)) {}
  std::string name() const override { return base_ == nullptr ? name_ : name_ + "+" + base_->name(); }
  std::string help() const override { return help_; }
  void declare(support::OptionSet& options) override;
  void validate(const assembly::MachineConfig& machine) const override;
  std::vector<std::pair<std::string, std::string>> written_files() const override;
  std::vector<std::string> stat_groups() const override;
  std::vector<std::string> energy_structures() const override;
  void register_stats(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;
  void add_laws(assembly::ConservationLaws& laws, const std::string& sm) const override;
  void report(nlohmann::ordered_json& document) const override;

 protected:
  /// Throws support::ConfigError for a base that switches CTAs too, or whose CTAs cannot be switched.
  template <class Own>
  std::unique_ptr<assembly::Scheme> copy_over(const Own& own, assembly::Scheme& base) const {
    if (dynamic_cast<SwitchingScheme*>(&base) != nullptr) {
      throw support::ConfigError("--scheme: found '" + name_ + "+" + base.name() +
                                 "', and both switch CTAs: expected one such scheme");
    }
    if (const std::string held = base.held_by_ctas(); !held.empty()) {
      throw support::ConfigError("--scheme: found '" + name_ + "+" + base.name() + "', and " + held +
                                 ": a CTA that is switched out would keep others from running");
    }
    auto both = std::make_unique<Own>(own);
    both->base_ = &base;
    return both;
  }
  /// The parts that the scheme changes: the baseline's or another scheme's, with a register file of `registers` rows,
  /// and tables for all warps that can be resident.
  assembly::SmParts base_parts(const assembly::BuildContext& context, std::uint64_t registers);
  /// Puts the engine and its status monitor into the parts.
  models::SwitchEngine& add_engine(const assembly::BuildContext& context, assembly::SmParts& parts);
  /// Divides the storage into places of one CTA each.
  struct PlacedFile {
    models::MovableFile& file;
    models::CtaPlaceWindows& places;
  };
  PlacedFile divide_file(const assembly::BuildContext& context, assembly::SmParts& parts) const;
  /// The scheme's write-back point; throws support::ConfigError if the parts have another one.
  void set_writeback_point(assembly::SmParts& parts, std::unique_ptr<protocol::WritebackPoint> point) const;
  /// One more initiator before the L1; returns the statistic with its requests, without the SM's path.
  static std::string add_l1_client(assembly::SmParts& parts, protocol::MemoryInitiatorSocket& socket);
  /// What the blocks that move registers need of the machine.
  void check_machine(const assembly::MachineConfig& machine) const;
  [[noreturn]] void refuse(const std::string& what, const std::string& found, const std::string& expected) const;
  void register_residency(support::StatGroup& group) const;
  virtual void register_own(support::StatGroup& group, const std::vector<support::StatGroup>& modules) = 0;
  virtual void add_own_laws(assembly::ConservationLaws&, const std::string& /*sm*/) const {}
  virtual void declare_own(support::OptionSet&) {}
  virtual void validate_own(const assembly::MachineConfig&) const {}

  models::CtaSwitchingConfig switching_;
  std::vector<models::SwitchEngine*> engines_;

 private:
  std::string name_, help_;
  assembly::Scheme* base_ = nullptr;
  std::vector<std::shared_ptr<assembly::MachineConfig>> machines_;  ///< of the parts, which keep references
};

/// Unified memory: registers, shared memory and the L1 divide one memory at every launch; CTAs as in the baseline.
class UnifiedMemory : public assembly::Scheme {
 public:
  UnifiedMemory();
  std::string name() const override { return "um"; }
  std::string help() const override;
  void declare(support::OptionSet& options) override { memory_.declare(options); }
  void validate(const assembly::MachineConfig& machine) const override;
  assembly::SmParts build(const assembly::BuildContext& context) override;

 private:
  models::UnifiedMemoryConfig memory_;
};

/// Virtual Thread (Yoon et al., ISCA 2016): registers of pending CTAs stay in the register file. `um_bytes`: of a
/// unified memory; 0: there is none.
class VirtualThread : public SwitchingScheme {
 public:
  VirtualThread(std::string name, std::string help, unsigned um_bytes);
  std::unique_ptr<assembly::Scheme> over(assembly::Scheme& base) const override { return copy_over(*this, base); }
  assembly::SmParts build(const assembly::BuildContext& context) override;

 protected:
  void declare_own(support::OptionSet& options) override;
  void validate_own(const assembly::MachineConfig& machine) const override;
  void register_own(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;

 private:
  models::UnifiedMemoryConfig unified_;
};

/// Reg+DRAM, FineReg's comparator after Zorua: all registers of some pending CTAs are in DRAM.
class RegDram : public SwitchingScheme {
 public:
  RegDram();
  std::unique_ptr<assembly::Scheme> over(assembly::Scheme& base) const override { return copy_over(*this, base); }
  assembly::SmParts build(const assembly::BuildContext& context) override;

 protected:
  void declare_own(support::OptionSet& options) override { spill_.declare(options); }
  void validate_own(const assembly::MachineConfig& machine) const override;
  void add_own_laws(assembly::ConservationLaws& laws, const std::string& sm) const override;
  void register_own(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;

 private:
  models::RegisterSpillConfig spill_;
  std::string l1_requests_;
};

/// VT+RegMutex, FineReg's comparator: warps keep a base set of registers and acquire the others from a pool.
class VtRegMutex : public SwitchingScheme {
 public:
  VtRegMutex();
  assembly::SmParts build(const assembly::BuildContext& context) override;

 protected:
  void declare_own(support::OptionSet& options) override;
  void validate_own(const assembly::MachineConfig& machine) const override;
  void add_own_laws(assembly::ConservationLaws& laws, const std::string& sm) const override;
  void register_own(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;

 private:
  unsigned pool_registers_ = 576;
};

/// FineReg (MICRO 2018): live registers of pending CTAs move to a file of their own, or to a part of a unified memory.
class FineReg : public SwitchingScheme {
 public:
  FineReg(std::string name, std::string help, unsigned um_bytes);
  std::unique_ptr<assembly::Scheme> over(assembly::Scheme& base) const override { return copy_over(*this, base); }
  assembly::SmParts build(const assembly::BuildContext& context) override;
  std::vector<std::pair<std::string, std::string>> written_files() const override;

 protected:
  void declare_own(support::OptionSet& options) override;
  void validate_own(const assembly::MachineConfig& machine) const override;
  void add_own_laws(assembly::ConservationLaws& laws, const std::string& sm) const override;
  void register_own(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;

 private:
  models::RegisterManagementConfig management_on(const assembly::MachineConfig& machine) const;

  unsigned active_registers_ = 1024, pending_registers_ = 1024;
  models::RegisterManagementConfig management_;
  models::UnifiedMemoryConfig unified_;
  std::string l1_requests_;
};

}  // namespace regatta::schemes
