// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/support/config.h>

#include <string>

namespace regatta::sm {

/// An SM's instruction or constant cache: set-associative, LRU, read-only. Its misses use the load-store unit's path to
/// memory, ahead of data.
struct ReadOnlyCacheConfig {
  bool enabled = false;  ///< false: every access hits
  unsigned size_bytes = 4096;
  unsigned ways = 4;
  unsigned line_bytes = 128;
  unsigned mshrs = 4;    ///< lines that it can fetch at a time
  unsigned latency = 1;  ///< cycles that an access adds to a fetch; none for the warp's last line

  /// `module`: "icache" or "constant_cache"; `what` for the help.
  void declare(support::OptionSet& options, const std::string& module, const std::string& what);
  /// `memory_line`: bytes of a line of the L1 and the L2.
  void validate(const std::string& module, unsigned memory_line) const;
};

}  // namespace regatta::sm
