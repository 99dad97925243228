// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/scheme.h>
#include <regatta/baseline/occupancy_residency.h>
#include <regatta/baseline/unified_memory.h>
#include <regatta/baseline/windowed_file.h>
#include <regatta/finereg/cta_places.h>
#include <regatta/finereg/pending_register_file.h>
#include <regatta/finereg/register_spill.h>
#include <regatta/finereg/rmu.h>
#include <regatta/finereg/switch_engine.h>
#include <regatta/regmutex/pooled_register_file.h>
#include <regatta/regmutex/shared_register_pool.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regatta::schemes {

inline constexpr const char* paper = "MICRO 2018";
/// The machine with a unified memory.
inline constexpr const char* unified_machine = "finereg_um";

/// A unified memory as it is on this machine.
models::UnifiedMemory on_machine(const models::UnifiedMemoryConfig& memory, const assembly::MachineConfig& machine);

/// Schemes in which more CTAs are resident than can be active: a switch engine, and what each of them does with the
/// registers of pending CTAs. Everything else is the baseline's, or another scheme's.
class SwitchingScheme : public assembly::Scheme {
 public:
  /// `machine`: of the paper.
  SwitchingScheme(std::string name, std::string help, std::string machine = "finereg")
      : name_(std::move(name)), help_(std::move(help)), machine_(std::move(machine)) {}
  std::string name() const override { return name_; }
  std::string help() const override { return help_; }
  std::optional<assembly::Published> published() const override { return assembly::Published{paper, machine_, {}}; }
  void declare(support::OptionSet& options) override;
  void validate(const assembly::MachineConfig& machine) const override { validate_own(machine); }
  std::vector<std::string> stat_groups() const override { return {"residency", name_}; }
  std::vector<std::string> energy_structures() const override { return {"cta_switching"}; }
  void register_stats(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;
  void add_laws(assembly::ConservationLaws& laws, const std::string& sm) const override { add_own_laws(laws, sm); }
  void add_waits(assembly::Waits& waits) const override;
  std::string idle(const assembly::RunFacts& facts) const override;
  /// Tables for all warps that can be resident.
  void prepare(assembly::MachineConfig& machine) const override;

 protected:
  /// What every such scheme takes.
  static assembly::Takings switching_takings();
  /// And those that move registers.
  static assembly::Takings moving_takings();
  /// Puts the engine and its status monitor into the parts.
  models::SwitchEngine& add_engine(const assembly::BuildContext& context, assembly::SmParts& parts);
  /// Divides the storage into places of one CTA each.
  struct PlacedFile {
    models::MovableFile& file;
    models::CtaPlaceWindows& places;
  };
  PlacedFile divide_file(const assembly::BuildContext& context, assembly::SmParts& parts) const;
  /// One more initiator before the L1; returns the statistic with its requests, without the SM's path.
  static std::string add_l1_client(assembly::SmParts& parts, protocol::MemoryInitiatorSocket& socket);
  /// What the blocks that move registers need of the machine.
  void check_machine(const assembly::MachineConfig& machine) const;
  [[noreturn]] void refuse(const std::string& what, const std::string& found, const std::string& expected) const;
  void register_residency(support::StatGroup& group) const;
  virtual void register_own(support::StatGroup& group, const std::vector<support::StatGroup>& modules) = 0;
  virtual void add_own_laws(assembly::ConservationLaws&, const std::string& /*sm*/) const {}
  virtual void add_own_waits(assembly::Waits&) const {}
  virtual void declare_own(support::OptionSet&) {}
  virtual void validate_own(const assembly::MachineConfig&) const {}

  models::CtaSwitchingConfig switching_;
  std::vector<models::SwitchEngine*> engines_;

 private:
  std::string name_, help_, machine_;
};

/// Unified memory: registers, shared memory and the L1 divide one memory at every launch; CTAs as in the baseline.
class UnifiedMemory : public assembly::Scheme {
 public:
  UnifiedMemory();
  std::string name() const override { return "um"; }
  std::string help() const override;
  std::optional<assembly::Published> published() const override {
    return assembly::Published{paper, unified_machine, {}};
  }
  void declare(support::OptionSet& options) override { memory_.declare(options); }
  void validate(const assembly::MachineConfig& machine) const override;
  void add_parts(const assembly::BuildContext& context, assembly::SmParts& parts) override;
  std::optional<assembly::Takings> takings() const override { return assembly::Takings{{assembly::Place::residency}}; }

 private:
  models::UnifiedMemoryConfig memory_;
};

/// Virtual Thread (Yoon et al., ISCA 2016): registers of pending CTAs stay in the register file. `um_bytes`: of a
/// unified memory; 0: there is none.
class VirtualThread : public SwitchingScheme {
 public:
  VirtualThread(std::string name, std::string help, unsigned um_bytes);
  void add_parts(const assembly::BuildContext& context, assembly::SmParts& parts) override;
  std::optional<assembly::Takings> takings() const override { return switching_takings(); }

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
  void add_parts(const assembly::BuildContext& context, assembly::SmParts& parts) override;
  std::optional<assembly::Takings> takings() const override { return moving_takings(); }

 protected:
  void declare_own(support::OptionSet& options) override { spill_.declare(options); }
  void validate_own(const assembly::MachineConfig& machine) const override;
  void add_own_laws(assembly::ConservationLaws& laws, const std::string& sm) const override;
  void add_own_waits(assembly::Waits& waits) const override;
  void register_own(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;

 private:
  models::RegisterSpillConfig spill_;
  std::string l1_requests_;
};

/// VT+RegMutex, FineReg's comparator: warps keep a base set of registers and acquire the others from a pool.
class VtRegMutex : public SwitchingScheme {
 public:
  VtRegMutex();
  void add_parts(const assembly::BuildContext& context, assembly::SmParts& parts) override;
  std::optional<assembly::Takings> takings() const override;

 protected:
  void declare_own(support::OptionSet& options) override;
  void validate_own(const assembly::MachineConfig& machine) const override;
  void add_own_laws(assembly::ConservationLaws& laws, const std::string& sm) const override;
  void add_own_waits(assembly::Waits& waits) const override;
  void register_own(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;

 private:
  unsigned pool_registers_ = 576;
};

/// FineReg (MICRO 2018): live registers of pending CTAs move to a file of their own, or to a part of a unified memory.
class FineReg : public SwitchingScheme {
 public:
  FineReg(std::string name, std::string help, unsigned um_bytes);
  void add_parts(const assembly::BuildContext& context, assembly::SmParts& parts) override;
  std::optional<assembly::Takings> takings() const override { return moving_takings(); }
  void prepare(assembly::MachineConfig& machine) const override;
  std::vector<std::pair<std::string, std::string>> written_files() const override;

 protected:
  void declare_own(support::OptionSet& options) override;
  void validate_own(const assembly::MachineConfig& machine) const override;
  void add_own_laws(assembly::ConservationLaws& laws, const std::string& sm) const override;
  void add_own_waits(assembly::Waits& waits) const override;
  void register_own(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;

 private:
  models::RmuShape shape_on(const assembly::MachineConfig& machine) const;

  unsigned active_registers_ = 1024, pending_registers_ = 1024;
  models::RmuConfig management_;
  models::UnifiedMemoryConfig unified_;
  std::string l1_requests_;
};

}  // namespace regatta::schemes
