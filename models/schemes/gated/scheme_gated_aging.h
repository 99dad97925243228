// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/models/aging_compression/compressed_rows.h>
#include <regatta/models/aging_compression/move_inserter.h>
#include <regatta/models/aging_compression/register_compression.h>
#include <regatta/models/aging_compression/warped_compression.h>
#include <regatta/models/wear/nbti.h>
#include <regatta/models/wear/wear_recorder.h>

#include "slice_energy.h"

#include <string>

namespace regatta::schemes {

/// What the gated schemes record of aging (Valero et al., aging-aware register file, section 6), and what register
/// compression is like where there is some.
struct GatedAgingConfig {
  bool wear = false;      ///< the time that every bit spends at 0, at 1 and off is recorded
  std::string rows_file;  ///< CSV by row; empty: none
  std::string bits_file;  ///< CSV by bit position
  models::aging::CompressionConfig compression;
  models::NbtiConfig nbti;
  SliceEnergyConfig energy;

  void declare(support::OptionSet& options);
  void validate() const;
};

/// What one SM has of it; the SM owns the parts.
struct GatedAging {
  models::WearRecorder* wear = nullptr;                       ///< null: not recorded
  models::aging::CompressedRows* compression = nullptr;       ///< null: there is none
  const models::aging::RegisterCompression* delta = nullptr;  ///< if it is RC's
  const models::aging::WarpedCompression* warped = nullptr;   ///< if it is Warped-Compression's
  const models::aging::MoveInserter* moves = nullptr;
};

}  // namespace regatta::schemes
