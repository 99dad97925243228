// SPDX-License-Identifier: Apache-2.0
//
// What the aging-aware register file (Valero et al.) and its competitors put beside the power states of a gated file:
// other windows, compression, a record of the wear of its cells.
#pragma once

#include <regatta/aging/compressed_rows.h>
#include <regatta/aging/move_inserter.h>
#include <regatta/aging/nbti.h>
#include <regatta/aging/register_compression.h>
#include <regatta/aging/warped_compression.h>
#include <regatta/aging/wear_recorder.h>
#include <regatta/base/output_file.h>
#include <regatta/greener/scheme_gated.h>

#include "slice_energy.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace regatta::schemes {

struct AgingConfig {
  std::string windows = "fixed";  ///< which rows a warp has
  std::string compression = "none";
  bool wear = false;      ///< the time that every bit spends at 0, at 1 and off is recorded
  std::string rows_file;  ///< CSV by row; empty: none
  std::string bits_file;  ///< CSV by bit position
  models::aging::CompressionConfig compressor;
  models::NbtiConfig nbti;
  SliceEnergyConfig energy;

  void declare(support::OptionSet& options);
  void validate() const;
};

/// Every published technique is a setting of the axes of a gated file, so they compose by configuration: `--scheme rar
/// --gated.unused_rows_off always`.
class AgingAxis : public GatedAxis {
 public:
  explicit AgingAxis(AgingConfig config = {}) : config_(std::move(config)) {}

  void declare(support::OptionSet& options) override { config_.declare(options); }
  void validate(const assembly::MachineConfig& machine) const override;
  std::vector<std::pair<std::string, std::string>> written_files() const override;
  std::string reads_values() const override {
    if (config_.compression != "none") return "compresses registers by their values (gated.compression)";
    return config_.wear ? "records how long each bit of the values is 0 and 1 (wear.enabled)" : "";
  }
  bool has_windows() const override { return config_.windows != "fixed"; }
  std::string needs_file() const override;
  std::unique_ptr<models::WindowPolicy> window_policy(unsigned slices) const override;
  std::vector<unsigned> segments(unsigned lanes) const override;
  const models::RowCodec* add_parts(const GatedParts& sm) override;
  std::string stat_group() const override { return "aging"; }
  void register_stats(support::StatGroup& group) const override;
  void add_waits(assembly::Waits& waits) const override;
  /// The CSV files.
  void report() const override;

 protected:
  /// A test puts a faulty one in its place.
  virtual std::unique_ptr<models::aging::CompressedRows> compressed_rows(const assembly::BuildContext& context) const;
  virtual std::unique_ptr<models::aging::MoveInserter> move_inserter(models::aging::CompressedRows& rows) const;

 private:
  /// What one SM has of it, which owns the parts.
  struct Handles {
    models::SleepTransistorController* transistors = nullptr;
    models::GatedRegisterFile* file = nullptr;
    models::WearRecorder* wear = nullptr;                       ///< null: not recorded
    models::aging::CompressedRows* compression = nullptr;       ///< null: there is none
    const models::aging::RegisterCompression* delta = nullptr;  ///< if it is RC's
    const models::aging::WarpedCompression* warped = nullptr;   ///< if it is Warped-Compression's
    const models::aging::MoveInserter* moves = nullptr;
  };
  models::aging::FileCompression compression_config(const assembly::BuildContext& context) const;
  void add_compression(const GatedParts& sm, Handles& handles) const;
  /// Refuses twins of the compression units that the program lacks, or without the units.
  void validate_twins(unsigned lanes) const;
  void add_twins(const GatedParts& sm, models::aging::RegisterCompression& rows) const;
  void add_wear(const GatedParts& sm, Handles& handles);
  void register_wear_stats(support::StatGroup& group) const;
  void register_energy_stats(support::StatGroup& group) const;
  SliceEnergy energy_of(const Handles& sm) const;

  AgingConfig config_;
  std::unique_ptr<base::OutputFile> rows_file_, bits_file_;
  unsigned slices_ = 1;  ///< of an SM's file
  double row_lanes_ = 32;
  double cycle_ns_ = 1;
  double sleep_leakage_ = 0, off_leakage_ = 0;  ///< SleepTransistorConfig
  std::vector<Handles> sms_;                    ///< of each SM
};

}  // namespace regatta::schemes
