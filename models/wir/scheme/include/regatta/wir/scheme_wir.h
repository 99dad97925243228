// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/scheme.h>
#include <regatta/wir/wir_config.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regatta::models::wir {
class AllocationStage;
class InFlightTable;
class PhysicalRegisterFile;
class RepeatMeter;
class ReuseFront;
class ReuseUnit;
class Wir;
}  // namespace regatta::models::wir

namespace regatta::schemes {

/// `--scheme wir`: warp instruction reuse with warp register reuse (WIR).
class WirScheme : public assembly::Scheme {
 public:
  std::string name() const override { return "wir"; }
  std::string help() const override {
    return "WIR: registers are renamed, warp instructions reuse the results of earlier ones";
  }
  std::optional<assembly::Published> published() const override {
    return assembly::Published{"HPCA 2018", "gtx480", {}};
  }
  void declare(support::OptionSet& options) override { config_.declare(options); }
  void validate(const assembly::MachineConfig& machine) const override;
  std::string reads_values() const override { return "reuses the results of instructions with equal values"; }
  std::vector<std::pair<std::string, std::string>> written_files() const override;
  void add_parts(const assembly::BuildContext& context, assembly::SmParts& parts) override;
  std::optional<assembly::Takings> takings() const override;
  void register_stats(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;
  void add_laws(assembly::ConservationLaws& laws, const std::string& sm) const override;
  void add_waits(assembly::Waits& waits) const override;
  std::string idle(const assembly::RunFacts& facts) const override;

 protected:
  /// The two stages that decide. A test puts a faulty one in their place.
  virtual std::unique_ptr<models::wir::AllocationStage> allocation_stage(const sc_core::sc_module_name& name,
                                                                         const models::wir::WirConfig& config,
                                                                         const assembly::BuildContext& context,
                                                                         models::wir::InFlightTable& in_flight) const;
  virtual std::unique_ptr<models::wir::ReuseUnit> reuse_unit(const sc_core::sc_module_name& name,
                                                             const models::wir::WirMachine& config,
                                                             const assembly::BuildContext& context,
                                                             models::wir::InFlightTable& in_flight) const;
  /// A block between the reuse stage and the reuse buffer; null: none.
  virtual std::unique_ptr<models::wir::ReuseFront> reuse_front(const assembly::BuildContext& context) const;
  const models::wir::WirConfig& config() const { return config_; }
  /// The blocks of the SM built last.
  models::wir::Wir& blocks() const { return *sms_.back().wir; }

 private:
  /// Of an SM, which owns them.
  struct Blocks {
    models::wir::Wir* wir;
    models::wir::PhysicalRegisterFile* file;
    models::wir::RepeatMeter* repeats;  ///< null without wir.repeats
    // The stages have left the hierarchy's hands for the SM's.
    models::wir::ReuseUnit* reuse;
    models::wir::AllocationStage* allocation;
    const std::uint64_t* instructions;
  };
  models::wir::WirConfig config_;
  std::vector<Blocks> sms_;
};

}  // namespace regatta::schemes
