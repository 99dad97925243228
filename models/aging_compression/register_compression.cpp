// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/aging_compression/register_compression.h>

#include <algorithm>

namespace regatta::models::aging {

using protocol::Cycle;
using protocol::WarpAccess;

RegisterCompression::RegisterCompression(const sc_core::sc_module_name& name, const CompressionConfig& config,
                                         RowPower& power, sc_core::sc_time clock_period)
    : CompressedRows(name, config, power),
      clock_(support::CycleScheduler::of(clock_period)),
      entries_((config.rows + config.slices - 1) / config.slices),
      tables_(config.slices, CompressionTable(entries_, config.retention, config.refresh_period)) {}

void RegisterCompression::launch_started(std::uint32_t) {
  for (CompressionTable& t : tables_) t.reset();
}

void RegisterCompression::forget(Row row) { table_of(row).invalidate(entry_of(row)); }

std::uint64_t RegisterCompression::refreshes() const {
  return tables_.size() * tables_.front().refreshes(clock_.now());
}

RegisterCompression::Stored RegisterCompression::write(const WarpAccess& access, Row row, const std::uint32_t* values,
                                                       std::uint32_t* cells, Cycle) {
  ++counters_.writes;
  if (!passes_unit(access)) {
    ++patterns_[static_cast<unsigned>(Pattern::other)];
    if (access.lanes != all_lanes()) ++counters_.divergent_writes;
    if (access.instruction != nullptr && access.instruction->injected) ++counters_.moves;
    return store(access, row, values, cells, 0);
  }
  const bool compressible = compress(unit_, values, warp_size());
  counters_.compression_beats += unit_.beats_worked();
  if (!compressible) {
    ++patterns_[static_cast<unsigned>(Pattern::other)];
    return store(access, row, values, cells, unit_.beats_worked());
  }
  ++patterns_[static_cast<unsigned>(unit_.code().pattern())];
  (asked(row) != 0 ? counters_.slice_writes : counters_.cancelled_writes) += beats();
  const std::uint64_t now = clock_.now();
  const std::uint64_t at = table_of(row).write(entry_of(row), unit_.code(), now);
  ++table_writes_;
  ask(row, 0);
  return Stored{false, static_cast<unsigned>(at - now)};
}

RegisterCompression::Stored RegisterCompression::store(const WarpAccess& access, Row row, const std::uint32_t* values,
                                                       std::uint32_t* cells, unsigned beats_before) {
  unsigned extra = 0;
  CompressionTable& table = table_of(row);
  if (table.valid(entry_of(row))) {
    const std::uint64_t now = clock_.now();
    extra = static_cast<unsigned>(table.clear(entry_of(row), now) - now);
    ++table_writes_;
  }
  counters_.slice_writes += beats();
  if (ask(row, all_segments)) {
    // What wakes holds nothing; the sub-wavefronts that came while it was off are written again.
    std::fill_n(cells, warp_size(), 0);
    extra += beats_before;
  }
  merge(cells, values, access.lanes, warp_size());
  return Stored{true, extra};
}

bool RegisterCompression::read(const WarpAccess&, Row row, const std::uint32_t*, std::uint32_t* values) {
  ++counters_.reads;
  ++table_reads_;
  const DeltaCode* code = table_of(row).find(entry_of(row), clock_.now());
  if (code == nullptr) {
    ++counters_.decompression_beats;  // the unit is switched off when the first entry is seen not to be valid
    counters_.slice_reads += beats();
    return false;
  }
  counters_.decompression_beats += beats();
  counters_.slice_reads += 1;
  counters_.cancelled_reads += beats() - 1;
  decompress(*code, 0, warp_size(), values);
  return true;
}

void RegisterCompression::register_stats(support::StatGroup& g) {
  CompressedRows::register_stats(g);
  for (unsigned p = 0; p < pattern_count; ++p) {
    g.counter(std::string("writes_") + to_string(static_cast<Pattern>(p)), patterns_[p], "warp registers",
              std::string("written, of pattern ") + to_string(static_cast<Pattern>(p)));
  }
  g.counter("table_reads", table_reads_, "accesses", "of compression tables by reads of registers");
  g.counter("table_writes", table_writes_, "accesses", "of compression tables: entries made or cleared");
  g.derived(
      "refreshes", [this] { return static_cast<double>(refreshes()); }, "accesses",
      "of compression tables to keep entries charged");
  g.derived(
      "refresh_conflicts",
      [this] {
        std::uint64_t all = 0;
        for (const CompressionTable& t : tables_) all += t.refresh_conflicts();
        return static_cast<double>(all);
      },
      "accesses", "that waited a cycle for a refresh");
}

}  // namespace regatta::models::aging
