// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/support/stats.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::support {

/// What the counters of statistics groups count in intervals.
class CounterIncrements {
 public:
  struct Counter {
    const StatGroup* group;
    const Stat* stat;
    std::string within_sm;        ///< the module's path within its SM: "l1" of "sm12.l1"; empty if it is not an SM's
    bool is_maximum;              ///< "..._max": given as it is
    std::uint64_t before;         ///< when the interval began
    std::uint64_t increment = 0;  ///< in the interval that ended last; of a maximum, its value then
  };
  /// The first interval begins. The groups must outlive this.
  explicit CounterIncrements(const std::vector<StatGroup>& groups);

  /// An interval ends and the next one begins.
  void next();
  const std::vector<Counter>& all() const { return counters_; }

 private:
  std::vector<Counter> counters_;
};

}  // namespace regatta::support
