// SPDX-License-Identifier: Apache-2.0
//
// Programs as a user or a script calls them: arguments in; status, standard output and standard error out.
#pragma once

#include <regatta/test/patience.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::test {

struct ProcessResult {
  int status = -1;  ///< exit status; -1 when a signal ended it
  int signal = 0;   ///< the signal that ended it
  std::string out;
  std::string err;
};

struct ProcessOptions {
  std::string directory;  ///< working directory; empty: the caller's
  /// Sent once the program has a handler for it and `signal_delay_ms` have passed; 0: none.
  int signal = 0;
  unsigned signal_delay_ms = 0;
  /// Sent this long after the start, handler or not; 0: none.
  int kill_signal = 0;
  std::uint64_t kill_after_us = 0;
  std::uint64_t file_bytes = 0;               ///< that a file may have at most; 0: no limit
  std::uint64_t memory_bytes = 0;             ///< of addresses that it may have at most; 0: no limit
  unsigned timeout_seconds = 100 * patience;  ///< after which the program is killed (signal 9)
};

/// Runs a program without a shell and without standard input, and waits for its end.
/// Throws std::runtime_error when it cannot be started, and says why.
ProcessResult run_process(const std::vector<std::string>& command, const ProcessOptions& options = {});

}  // namespace regatta::test
