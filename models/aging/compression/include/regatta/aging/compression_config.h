// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/cosim/twin.h>
#include <regatta/support/config.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::models::aging {

/// Knobs compression.* of register compression (RC) and of Warped-Compression (WC); section numbers are those of the
/// aging-aware register file.
struct CompressionConfig {
  unsigned retention = 119048;  ///< cycles that a table entry keeps its charge (5.1.3)
  unsigned refresh_period = 0;  ///< cycles between the refreshes of two entries; 0: retention / entries (5.1.3: 465)
  std::string wake = "write";   ///< when a row that is off is woken for a value that may have to be stored in it
  bool loads = true;            ///< results of memory instructions pass the compression unit too
  cosim::TwinOptions twin;      ///< of compression and decompression unit of RC

  void declare(support::OptionSet& options);
};

/// The compression of a file: the knobs, and the file.
struct FileCompression : CompressionConfig {
  unsigned slices = 1;     ///< of the file, a table and a compression unit each
  std::uint32_t rows = 0;  ///< of the file

  /// Refuses a refresh that comes too late for the cells.
  void validate() const;
  std::uint32_t entries() const { return rows / slices; }
};

/// Where the segments of a row end, in bits, when Warped-Compression keeps it (section 6.1): the base, deltas of a
/// byte, the rest of deltas of two bytes, the rest. For SleepTransistors::segments.
std::vector<unsigned> warped_segments(unsigned lanes);

}  // namespace regatta::models::aging
