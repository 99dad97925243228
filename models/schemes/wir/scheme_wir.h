// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/scheme.h>
#include <regatta/models/wir/wir_config.h>

#include <memory>
#include <vector>

namespace regatta::models::wir {
class AllocationStage;
class PhysicalRegisterFile;
class ReuseUnit;
}  // namespace regatta::models::wir

namespace regatta::schemes {

/// `--scheme wir`: warp instruction reuse with warp register reuse (WIR).
class WirScheme : public assembly::Scheme {
 public:
  std::string name() const override { return "wir"; }
  std::string help() const override {
    return "WIR: registers are renamed, warp instructions reuse the results of earlier ones";
  }
  void declare(support::OptionSet& options) override { config_.declare(options); }
  void validate(const assembly::MachineConfig& machine) const override;
  assembly::SmParts build(const assembly::BuildContext& context) override;
  void register_stats(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;
  void add_laws(assembly::ConservationLaws& laws, const std::string& sm) const override;

 protected:
  /// The two stages that decide. A test puts a faulty one in their place.
  virtual std::unique_ptr<models::wir::AllocationStage> allocation_stage(models::wir::PhysicalRegisterFile& file) const;
  virtual std::unique_ptr<models::wir::ReuseUnit> reuse_unit(models::wir::PhysicalRegisterFile& file) const;

 private:
  models::wir::WirConfig config_;
  std::vector<models::wir::PhysicalRegisterFile*> files_;  ///< of the SMs, which own them
};

}  // namespace regatta::schemes
