// SPDX-License-Identifier: Apache-2.0
//
// The compression axis of the gated schemes: which codec stands before the rows, and what it needs at issue.
#include <regatta/models/aging_compression/move_inserter.h>
#include <regatta/models/aging_compression/register_compression.h>
#include <regatta/models/aging_compression/warped_compression.h>

#include "scheme_gated.h"

namespace regatta::assembly {

using models::aging::CompressedRows;
using models::aging::CompressionConfig;
using models::aging::MoveInserter;

CompressionConfig GatedScheme::compression_config(const BuildContext& c) const {
  CompressionConfig config = compression_;
  config.slices = c.machine.sm.sub_cores;
  config.rows = c.machine.register_file.registers;
  return config;
}

std::unique_ptr<CompressedRows> GatedScheme::compressed_rows(const BuildContext& c, protocol::RowPower& power) const {
  const CompressionConfig config = compression_config(c);
  if (axes_.compression == "wc")
    return std::make_unique<models::aging::WarpedCompression>("compression", config, power);
  config.validate();
  return std::make_unique<models::aging::RegisterCompression>("compression", config, power, c.clock_period);
}

std::unique_ptr<MoveInserter> GatedScheme::move_inserter(CompressedRows& rows) const {
  return std::make_unique<MoveInserter>("move_inserter", rows);
}

void GatedScheme::add_compression(const Sm& sm, Handles& handles) {
  if (axes_.compression == "none") return;
  std::unique_ptr<CompressedRows> rows = compressed_rows(sm.context, sm.transistors);
  std::unique_ptr<MoveInserter> moves = move_inserter(*rows);
  handles.compression = rows.get();
  handles.moves = moves.get();
  // Of a register in the table only the first sub-wavefront is read from the row.
  sm.file.set_codec(*rows, 16.0 / sm.context.machine.sm.lanes);
  sm.file.add_listener(*rows);
  sm.parts.gates.push_back(std::move(moves));
  sm.parts.modules.push_back(std::move(rows));
}

}  // namespace regatta::assembly
