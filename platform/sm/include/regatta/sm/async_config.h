// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/support/config.h>

namespace regatta::sm {

/// Asynchronous copies of an SM. NVIDIA publishes none of these numbers: they are ours.
struct AsyncConfig {
  unsigned copies = 64;       ///< cp.async that it can have under way, in warp instructions
  unsigned bulk_queue = 16;   ///< bulk copies that wait for the engine or are under way
  unsigned bulk_sectors = 4;  ///< 32-byte sectors that the engine asks for per cycle
  unsigned bulk_setup = 32;   ///< cycles that it takes for a descriptor before its first sector

  /// Declares async.*.
  void declare(support::OptionSet& options);
};

}  // namespace regatta::sm
