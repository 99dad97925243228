// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/support/config.h>

#include <string>

namespace regatta::sm {

/// An SM's instruction or constant cache: set-associative, LRU, read-only. Its misses leave by the load-store unit's
/// way to memory, before data.
struct ReadOnlyCacheConfig {
  bool enabled = false;  ///< false: every access hits
  unsigned size_bytes = 4096;
  unsigned ways = 4;
  unsigned line_bytes = 128;
  unsigned mshrs = 4;    ///< lines it can be fetching
  unsigned latency = 1;  ///< cycles that an access adds to a fetch; none for the line that the warp used last

  /// `module`: "icache" or "constant_cache"; `what` for the help.
  void declare(support::OptionSet& options, const std::string& module, const std::string& what);
  /// `memory_line`: bytes of a line of the L1 and the L2.
  void validate(const std::string& module, unsigned memory_line) const;
};

}  // namespace regatta::sm
