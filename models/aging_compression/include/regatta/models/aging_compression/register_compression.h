// SPDX-License-Identifier: Apache-2.0
//
// RC: register compression and switch-off (Valero et al., aging-aware register file, section 5.1). A result that is a
// base and two deltas goes to the compression table, and its row is switched off; any other goes to its row.
#pragma once

#include <regatta/models/aging_compression/compressed_rows.h>
#include <regatta/models/aging_compression/compression_table.h>
#include <regatta/models/aging_compression/compression_unit.h>
#include <regatta/support/cycle_scheduler.h>

#include <vector>

namespace regatta::models::aging {

/// A compression unit, two decompression units and a table per slice of the file.
///
/// A write of all lanes goes through the compression unit while its sub-wavefronts are written to the slice, if the row
/// is on. Compressible: the table has it from the cycle in which its port is free, and the row is switched off. Not so:
/// the table's entry, if any, is cleared, and a row that is off is woken; the sub-wavefronts that had come by then are
/// written again. A write of some lanes only passes the unit by, and must find the register uncompressed: MoveInserter.
/// A read looks into table and slice at once; of a compressed register the slice is read for the first sub-wavefront
/// only, whose entry cancels the rest.
class RegisterCompression : public CompressedRows {
 public:
  RegisterCompression(const sc_core::sc_module_name& name, const CompressionConfig& config, RowPower& power,
                      sc_core::sc_time clock_period);

  Stored write(const protocol::WarpAccess& access, Row row, const std::uint32_t* values, std::uint32_t* cells,
               protocol::Cycle done) override;
  bool read(const protocol::WarpAccess& access, Row row, const std::uint32_t* cells, std::uint32_t* values) override;
  bool needs_row(Row row) const override { return !compressed(row); }
  bool compressed(Row row) const override { return table_of(row).valid(entry_of(row)); }

  /// Writes by what they are; those of some lanes only, and of moves, are `other` and no pattern.
  std::uint64_t pattern_writes(Pattern p) const { return patterns_[static_cast<unsigned>(p)]; }
  std::uint64_t table_reads() const { return table_reads_; }
  std::uint64_t table_writes() const { return table_writes_; }
  std::uint64_t refreshes() const;

  void register_stats(support::StatGroup& group) override;

 protected:
  /// A fault in a test: the entry of the row is gone.
  void lose_entry(Row row) { table_of(row).invalidate(entry_of(row)); }

 private:
  void forget(Row row) override;
  void launch_started(std::uint32_t rows) override;
  CompressionTable& table_of(Row row) { return tables_[row.value() / entries_]; }
  const CompressionTable& table_of(Row row) const { return tables_[row.value() / entries_]; }
  std::uint32_t entry_of(Row row) const { return row.value() % entries_; }
  Stored store(const protocol::WarpAccess& access, Row row, const std::uint32_t* values, std::uint32_t* cells,
               unsigned beats_before);

  support::CycleScheduler& clock_;
  std::uint32_t entries_;
  std::vector<CompressionTable> tables_;
  CompressionUnit unit_;  ///< its state ends with a register: one serves all slices
  std::array<std::uint64_t, pattern_count> patterns_{};
  std::uint64_t table_reads_ = 0, table_writes_ = 0;
};

}  // namespace regatta::models::aging
