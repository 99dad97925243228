// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/assembly/scheme.h>
#include <regatta/models/gated_register_file/gated_register_file.h>
#include <regatta/models/sleep_transistors/sleep_transistors.h>

#include "scheme_gated_aging.h"
#include "scheme_gated_power.h"

#include <regatta/base/output_file.h>

#include <memory>
#include <string>
#include <vector>

namespace regatta::schemes {

/// What stands on each axis of a file whose rows are switched, by name; knobs gated.*.
struct GatedConfig {
  std::string windows = "fixed";         ///< which rows a warp has
  std::string unused_rows_off = "none";  ///< which rows of no warp are off
  std::string compression = "none";

  void declare(support::OptionSet& options);
};

/// Register files whose rows sleep transistors switch: one scheme with independent axes, of which each published
/// technique is a setting under a name of its own. So they compose by configuration: `--scheme rar
/// --gated.unused_rows_off always`. Clients vote on the rows (models/contracts/row_power); none knows of the others.
class GatedScheme : public assembly::Scheme {
 public:
  GatedScheme(std::string name, std::string help, GatedConfig axes, models::SleepTransistorsConfig transistors = {},
              GatedPowerConfig power = {}, bool wear = false)
      : name_(std::move(name)),
        help_(std::move(help)),
        axes_(std::move(axes)),
        transistors_(std::move(transistors)),
        power_(std::move(power)) {
    aging_.wear = wear;
  }

  std::string name() const override { return name_; }
  std::string help() const override { return help_; }
  void declare(support::OptionSet& options) override;
  void validate(const assembly::MachineConfig& machine) const override;
  std::vector<std::pair<std::string, std::string>> written_files() const override;
  assembly::SmParts build(const assembly::BuildContext& context) override;
  std::vector<std::string> stat_groups() const override { return {"power", "aging"}; }
  void register_stats(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override;
  /// The CSV files.
  void report(nlohmann::ordered_json&) const override;

 protected:
  /// The parts of one SM that later parts are bound to; the SM owns them.
  struct Sm {
    const assembly::BuildContext& context;
    assembly::SmParts& parts;
    models::SleepTransistors& transistors;
    models::GatedRegisterFile& file;
  };
  /// A test puts a faulty one in its place.
  virtual std::unique_ptr<models::WindowPolicy> window_policy(unsigned slices) const;
  virtual std::unique_ptr<models::aging::CompressedRows> compressed_rows(const assembly::BuildContext& context,
                                                                         models::RowPower& power) const;
  virtual std::unique_ptr<models::aging::MoveInserter> move_inserter(models::aging::CompressedRows& rows) const;

 private:
  struct Handles {
    models::SleepTransistors* transistors = nullptr;
    models::GatedRegisterFile* file = nullptr;
    models::PowerGate* gate = nullptr;  ///< null: registers stay as they are
    GatedAging aging;
  };
  models::aging::CompressionConfig compression_config(const assembly::BuildContext& context) const;
  void add_compression(const Sm& sm, Handles& handles) const;
  /// Refuses twins of the compression units that the program lacks, or without the units.
  void validate_twins(unsigned lanes) const;
  void add_twins(const Sm& sm, models::aging::RegisterCompression& rows) const;
  void add_wear(const Sm& sm, Handles& handles, const std::vector<unsigned>& segments);
  void register_power_stats(support::StatGroup& group);
  void register_aging_stats(support::StatGroup& group) const;
  void register_wear_stats(support::StatGroup& group) const;
  void register_energy_stats(support::StatGroup& group) const;
  SliceEnergy energy_of(const Handles& sm) const;
  void add_power_states(const Sm& sm, Handles& handles) const;
  std::string name_, help_;
  GatedConfig axes_;
  models::SleepTransistorsConfig transistors_;
  GatedPowerConfig power_;
  GatedAgingConfig aging_;
  std::unique_ptr<base::OutputFile> rows_file_, bits_file_;
  unsigned slices_ = 1;  ///< of an SM's file
  double row_lanes_ = 32;
  double cycle_ns_ = 1;
  std::vector<Handles> sms_;  ///< of each SM, which owns them
};

}  // namespace regatta::schemes
