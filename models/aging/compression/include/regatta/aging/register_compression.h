// SPDX-License-Identifier: Apache-2.0
//
// RC: register compression and switch-off (Valero et al., aging-aware register file, section 5.1). A result that is a
// base and two deltas goes to the compression table, and its row is switched off; any other goes to its row.
#pragma once

#include <regatta/aging/compressed_rows.h>
#include <regatta/aging/compression_table.h>
#include <regatta/aging/compression_units.h>
#include <regatta/support/clock_domain.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace regatta::models::aging {

/// A compression unit, a decompression unit, and a table per slice of the file, as modules inside.
///
/// A write of all lanes goes through the compression unit while its sub-wavefronts are written to the slice, if the row
/// is on. Compressible: the table has it from the cycle in which its port is free, and the row is switched off. Not so:
/// the table's entry, if any, is cleared, and a row that is off is woken; the sub-wavefronts that had come by then are
/// written again. A write of some lanes only passes the unit by, and must find the register uncompressed: MoveInserter.
/// A read looks into table and slice at once; of a compressed register the slice is read for the first sub-wavefront
/// only, whose entry cancels the rest.
///
/// If a unit or a table answers late, the access waits for it: the codec returns `later`, and calls
/// RowCodecClient::codec_ready() when it can go on.
class RegisterCompression : public CompressedRows,
                            public protocol::LookupClient<CompressionVerdict>,
                            public protocol::LookupClient<TableAnswer>,
                            public protocol::LookupClient<protocol::WarpValue> {
 public:
  protocol::LookupInitiator<CompressionRequest, CompressionVerdict> compression;
  protocol::LookupInitiator<DecompressionRequest, protocol::WarpValue> decompression;

  RegisterCompression(const sc_core::sc_module_name& name, const FileCompression& config, support::ClockDomain& clock);

  /// Connects every lookup: `connect(name, initiator, target)`.
  template <class F>
  void connect_lookups(F&& connect) {
    connect("compression", compression, unit_.results);
    connect("decompression", decompression, decompressor_.entries);
    for (std::size_t s = 0; s < tables_.size(); ++s) {
      connect(("table" + std::to_string(s)).c_str(), tables_[s]->port, tables_[s]->table.reads);
    }
  }
  /// The same without anything between.
  void connect_lookups() {
    connect_lookups([](const char*, auto& from, auto& to) { from.bind(to); });
  }

  /// Twins of the units (null: none), and the compression unit's state for the report of a difference.
  void set_twins(CompressionTwin* compression_twin, DecompressionTwin* decompression_twin) {
    unit_.set_twin(compression_twin);
    decompressor_.set_twin(decompression_twin);
  }
  std::string describe_compression_unit() const { return unit_.describe_state(); }

  Stored write(const protocol::WarpAccess& access, Row row, const std::uint32_t* values, std::uint32_t* cells,
               protocol::Cycle done) override;
  Read read(const protocol::WarpAccess& access, Row row, const std::uint32_t* cells, std::uint32_t* values) override;
  void set_client(RowCodecClient& client) override { client_ = &client; }
  bool needs_row(Row row) const override { return !compressed(row); }
  bool compressed(Row row) const override { return table_of(row).valid(entry_of(row)); }
  // Late answers.
  void answered(std::uint32_t tag, const CompressionVerdict& verdict) override;
  void answered(std::uint32_t tag, const TableAnswer& answer) override;
  void answered(std::uint32_t tag, const protocol::WarpValue& value) override;

  /// Writes by what they are; those of some lanes only, and of moves, are `other` and no pattern.
  std::uint64_t pattern_writes(Pattern p) const { return patterns_[static_cast<unsigned>(p)]; }
  std::uint64_t table_reads() const;
  std::uint64_t table_writes() const;
  std::uint64_t refreshes() const;

  void register_stats(support::StatGroup& group) override;

 protected:
  /// A fault in a test: the entry of the row is gone.
  void lose_entry(Row row) { tables_[row.value() / entries_]->table.invalidate(entry_of(row)); }

 private:
  /// A table, and what its reads are asked through.
  struct Slice {
    Slice(const std::string& name, const FileCompression& config, std::uint32_t entries, support::ClockDomain& clock,
          protocol::LookupClient<TableAnswer>& client)
        : table(name.c_str(), entries, config.retention, config.refresh_period, clock), port(name, client) {}
    CompressionTable table;
    protocol::LookupInitiator<TableQuery, TableAnswer> port;
  };
  /// An access that waits for answers, with those that it has.
  struct Waiting {
    const protocol::WarpAccess* access = nullptr;
    bool has_verdict = false, has_entry = false, has_value = false;
    CompressionVerdict verdict;
    TableAnswer entry;
    protocol::WarpValue value;
  };
  void forget(Row row) override;
  void launch_started(std::uint32_t rows) override;
  TableWrites& table_of(Row row) { return tables_[row.value() / entries_]->table; }
  const TableWrites& table_of(Row row) const { return tables_[row.value() / entries_]->table; }
  std::uint32_t entry_of(Row row) const { return row.value() % entries_; }
  Stored store(const protocol::WarpAccess& access, Row row, const std::uint32_t* values, std::uint32_t* cells,
               unsigned beats_before);
  /// The record of an access that waits; null if it does not.
  Waiting* waiting(const protocol::WarpAccess& access);
  /// A tag for a request of the access.
  std::uint32_t tag_for(const protocol::WarpAccess& access);
  /// The reply was not an answer: the access is tried again after the answer, or in the next cycle.
  void wait(const protocol::WarpAccess& access, std::uint32_t tag, protocol::LookupReply reply);
  /// Who waits for the answer `tag`, of which it has none yet.
  Waiting& asking(std::uint32_t tag, bool Waiting::*has);
  void done_waiting(const protocol::WarpAccess& access);
  void ready(const Waiting& waiting);
  void try_again();

  const support::ClockDomain& clock_;
  std::uint32_t entries_;
  CompressionUnit unit_;
  DecompressionUnit decompressor_;
  std::vector<std::unique_ptr<Slice>> tables_;
  RowCodecClient* client_ = nullptr;
  std::map<std::uint32_t, Waiting> waiting_;                     ///< by tag
  std::map<const protocol::WarpAccess*, std::uint32_t> tag_of_;  ///< of accesses that wait
  std::vector<const protocol::WarpAccess*> refused_;             ///< tried again in the next cycle
  std::uint32_t next_tag_ = 0;
  support::CycleClient again_;
  std::array<std::uint64_t, pattern_count> patterns_{};
};

}  // namespace regatta::models::aging
