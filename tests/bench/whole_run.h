// SPDX-License-Identifier: Apache-2.0
//
// How fast whole runs are. Kernels at full size on gtx980 with one SM, each (a) replayed, (b) simulated with the value
// checker, (c) simulated without, (d) simulated with it under RegLess and (e) under WIR, whose blocks stand in the way
// of every operand and instruction. Rates are over the time of all rounds of a, b, c, d, e, a, b, ..., so that whatever
// else the machine does hits all of them alike; the best would be of whoever was alone on it for once. Times are
// regatta-sim's own ("host").
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace regatta::bench {

enum Mode : unsigned { replayed, checked, unchecked, regless, wir, mode_count };

struct WholeRun {
  std::string kernel;
  std::uint64_t warp_instructions = 0;
  std::uint64_t cycles = 0;
  std::array<double, mode_count> rate{};  ///< warp instructions per second, over all rounds
  double peak_rss_mib = 0;                ///< of the checked simulation
  double ratio() const { return rate[checked] / rate[replayed]; }
  /// Of a scheme to the baseline, both checked.
  double over_checked(Mode scheme) const { return rate[scheme] / rate[checked]; }
};

WholeRun measure_whole_run(const std::string& kernel, unsigned rounds);
void print(const std::vector<WholeRun>& all);
nlohmann::ordered_json document(const std::vector<WholeRun>& all);

}  // namespace regatta::bench
