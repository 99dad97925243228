// SPDX-License-Identifier: Apache-2.0
//
// Launches that repeat an earlier one. A kernel's result depends on its parameters and on the memory that it accesses:
// where both are as they were before, what it left then is put back in place of a run. Programs that time a kernel
// launch it hundreds of times.
#pragma once

#include <regatta/emulator/emulator.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace regatta::emulator {

/// What a launch leaves apart from memory.
struct LaunchOutcome {
  RunCounts counts;
  std::string printed;
  bool repeatable = true;  ///< it depends on nothing but the key and the buffers that it accessed
};

class LaunchMemo {
 public:
  /// `memory` must outlive the memo, which keeps at most `most_saved_bytes` of contents.
  explicit LaunchMemo(DeviceMemory& memory, std::uint64_t most_saved_bytes = std::uint64_t{512} << 20)
      : memory_(memory), most_saved_(most_saved_bytes) {}

  /// Does `launch`, or puts back what it left when it ran with the same inputs. `key` holds all that the launch depends
  /// on apart from memory: kernel, dimensions, parameters, constants. An exception of `launch` passes through.
  LaunchOutcome run(const std::string& key, const std::function<LaunchOutcome()>& launch);

  /// Launches that were not run.
  std::uint64_t repeated() const { return repeated_; }

 private:
  /// A buffer that a launch accessed.
  struct Range {
    std::uint64_t base = 0, bytes = 0;
    ContentDigest before, after;
    std::vector<std::uint8_t> data, written;  ///< what it left, if that is something else than what it found
  };
  struct Record {
    std::vector<Range> ranges;
    LaunchOutcome outcome;
  };
  /// What is known of the launches with one key.
  struct Known {
    bool has_run = false;
    std::uint64_t warp_instructions = 0;
    std::uint64_t misses = 0;         ///< since the last hit
    std::set<std::uint64_t> touched;  ///< bases of all buffers that they accessed
    std::deque<Record> records;       ///< the latest last
  };

  bool is_worth_it(const Known& known) const;
  bool matches(const Record& record);
  void put_back(const Record& record);
  /// Runs the launch, and finds out which buffers it accesses.
  LaunchOutcome watch(const std::function<LaunchOutcome()>& launch, std::set<std::uint64_t>& touched);
  void keep(Known& known, const std::map<std::uint64_t, ContentDigest>& before, const std::set<std::uint64_t>& touched,
            const LaunchOutcome& outcome);

  DeviceMemory& memory_;
  std::uint64_t most_saved_;
  std::uint64_t saved_ = 0, repeated_ = 0;
  std::map<std::array<std::uint64_t, 2>, Known> known_;  ///< by the digest of the key
};

}  // namespace regatta::emulator
