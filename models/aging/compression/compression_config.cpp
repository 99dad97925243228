// SPDX-License-Identifier: Apache-2.0
#include <regatta/aging/compression_config.h>

namespace regatta::models::aging {

void CompressionConfig::declare(support::OptionSet& o) {
  o.add("compression.retention", retention, "cycles",
        "cycles that an entry of the compression table keeps its charge (aging paper, 5.1.3)", 1);
  o.add("compression.refresh_period", refresh_period, "cycles",
        "cycles between the refreshes of two entries of the compression table; 0: retention / entries");
  o.add("compression.wake", wake,
        "when a row that is off wakes for a write: when its value turns out to be incompressible, or always at issue",
        {"write", "issue"});
  o.add("compression.loads", loads, "results of memory instructions also pass the compression unit");
  twin.declare(o, "compression", "compression and decompression unit of RC");
}

void FileCompression::validate() const {
  const std::uint64_t round = std::uint64_t{refresh_period} * entries();
  if (round > retention) {
    throw support::ConfigError("configuration: compression.refresh_period = " + std::to_string(refresh_period) +
                               " refreshes the " + std::to_string(entries()) + " entries of a table every " +
                               std::to_string(round) +
                               " cycles, expected at most compression.retention = " + std::to_string(retention));
  }
  if (retention < entries()) {
    throw support::ConfigError("configuration: compression.retention = " + std::to_string(retention) +
                               " cycles are fewer than a table's " + std::to_string(entries()) +
                               " entries, one of which is refreshed in a cycle");
  }
}

std::vector<unsigned> warped_segments(unsigned lanes) {
  const unsigned deltas = lanes - 1;
  return {32, 32 + 8 * deltas, 32 + 16 * deltas, 32 * lanes};
}

}  // namespace regatta::models::aging
