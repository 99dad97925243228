// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/base/output_file.h>
#include <regatta/support/counter_increments.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::support {

/// Counters over time as CSV: a row per interval with the increments in it, a column per counter, named as in the
/// statistics ("sm0.pipeline.warp_instructions"), and for counters of SMs a column with the sum over all SMs
/// ("total.pipeline.warp_instructions"). Counters that hold a maximum ("..._max") are given as they are; their total is
/// the largest.
class Sampler {
 public:
  /// The groups must outlive the sampler.
  Sampler(const std::string& path, const std::vector<StatGroup>& groups);

  /// Writes a row with the increments since the previous row, up to the end of cycle `cycle` in launch `launch`.
  void row(std::uint64_t cycle, std::uint32_t launch);
  std::uint64_t last_cycle() const { return last_cycle_; }
  /// Gives the file its final name.
  void finish() { file_.commit(); }

 private:
  static constexpr std::size_t none = SIZE_MAX;
  struct Total {
    std::string name;
    std::uint64_t value = 0;
  };

  base::OutputFile file_;
  CounterIncrements counters_;
  std::vector<std::size_t> total_of_;  ///< by counter: index into totals_, or none
  std::vector<Total> totals_;
  std::string text_;
  std::uint64_t last_cycle_ = 0;
};

}  // namespace regatta::support
